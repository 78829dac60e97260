"""What runs from the shell: ``rnlmf --help``."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the console script."""
    try:
        from rnlmf.cli.app import app

        app()
    except ImportError as missing:
        sys.exit(f"The command line needs {missing.name}: pip install 'rnlmf[cli]'")
    except KeyboardInterrupt:
        # Before a command could say it: while it was imported.
        sys.exit(130)
