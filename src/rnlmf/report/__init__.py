"""What was found in the data: in figures, in words, and as a page to look at."""

from rnlmf.report.findings import Findings, find

__all__ = ["Findings", "find"]
