"""What was found in the data: in figures, in words, and as a page to look at."""

from rnlmf.report.findings import Findings, findings_of, in_words
from rnlmf.report.page import write_report

__all__ = ["Findings", "findings_of", "in_words", "write_report"]
