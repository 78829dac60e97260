"""``rnlmf reproduce``, and ``python -m rnlmf.reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Which, such as table4 or figure1; all if none.")
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

    [bold]Example[/bold]

      rnlmf reproduce --quick
    """
    from rnlmf.io.dataset import FileError, need

    need("joblib", "reproduce", "This command")
    need("pandas", "reproduce", "This command")
    from rnlmf.reproduce import run

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
    except FileError:
        raise
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="NAMES, --mode or --methods") from error
    typer.echo(f"Results: {page}")
