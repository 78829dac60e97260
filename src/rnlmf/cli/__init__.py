"""What runs from the shell: ``rnlmf --help``."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the console script."""
    try:
        from rnlmf.cli.app import app
    except ImportError as missing:
        sys.exit(f"The command line needs {missing.name}: pip install 'rnlmf[cli]'")
    app()
