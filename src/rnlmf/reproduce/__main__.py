"""``python -m rnlmf.reproduce [NAME...]``."""

import typer

from rnlmf.cli.reproduce import reproduce

if __name__ == "__main__":
    typer.run(reproduce)
