"""From a table to a clean one: a look at its columns, the repair, and a list of what was changed."""

from rnlmf.cleaning.changes import Changes
from rnlmf.cleaning.frame import Cleaned, Report, clean
from rnlmf.cleaning.overview import Column, ColumnChoice, Overview, overview_of
from rnlmf.cleaning.repair import Repaired, RepairOptions, repair_table, repaired_by
from rnlmf.cleaning.table import CleanTable, clean_table
from rnlmf.cleaning.words import in_sentences

__all__ = [
    "Changes",
    "CleanTable",
    "Cleaned",
    "Column",
    "ColumnChoice",
    "Overview",
    "RepairOptions",
    "Repaired",
    "Report",
    "clean",
    "clean_table",
    "in_sentences",
    "overview_of",
    "repair_table",
    "repaired_by",
]
