"""``python -m rnlmf`` is the command line."""

from rnlmf.cli import main

main()
