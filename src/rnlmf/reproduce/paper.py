"""The values that the paper prints."""

from __future__ import annotations

import csv
import functools
from importlib import resources

Key = tuple[str, str, str, str, str]


@functools.cache
def paper_values() -> dict[Key, tuple[float, float | None]]:
    """Value and deviation, by table, data, condition, metric ("training rmse" and so on) and method."""
    text = resources.files("rnlmf.reproduce").joinpath("paper_values.csv").read_text()
    values = {}
    for row in csv.DictReader(text.splitlines()):
        metric = f"{row['part']} {row['metric']}".strip()
        key = (row["table"], row["data"], row["condition"], metric, row["method"])
        deviation = float(row["deviation"]) if row["deviation"] else None
        values[key] = (float(row["value"]), deviation)
    return values


# Table 3 of the paper: growth of time and space.
COMPLEXITIES = {
    "RPCA": ("m²n", "mn"),
    "LRR": ("mn² + rn²", "mn + n²"),
    "NLRR": ("m²n + rmn", "mn + rn"),
    "SSC": ("mn²", "mn + n²"),
    "RDL": ("d²n + dmn", "mn + dn"),
    "RNLMF": ("d²n + dmn", "mn + dn"),
}
