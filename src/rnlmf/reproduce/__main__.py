"""``python -m rnlmf.reproduce [NAME...]``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnlmf.reproduce import EXPERIMENTS, run


def command(
    names: Annotated[
        list[str] | None, typer.Argument(help=f"Which, of {', '.join(EXPERIMENTS)}; all if none.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few seeds and rows: minutes.")] = False,
    mode: Annotated[str, typer.Option(help="paper, auto or both.")] = "both",
    seeds: Annotated[int | None, typer.Option(help="Number of seeds.")] = None,
    methods: Annotated[list[str] | None, typer.Option(help="Only this; may be repeated.")] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Processes; one for every core if not given.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("rnlmf-results"),
    cache: Annotated[Path | None, typer.Option(help="Folder of the cells.")] = None,
    compute: Annotated[bool, typer.Option(help="Or only write what the cache has.")] = True,
) -> None:
    """Compute the paper's tables and figures, beside the paper's values.

    A run that was stopped goes on where it was.
    """
    try:
        page = run(
            names or (),
            quick=quick,
            mode=mode,
            seeds=seeds,
            methods=methods or None,
            jobs=jobs,
            out=out,
            cache=cache,
            compute=compute,
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    typer.echo(f"Results: {page}")


if __name__ == "__main__":
    typer.run(command)
