"""Makes the sample files: a weather station, four weeks with errors, and one more.

``python samples/make.py`` writes them beside itself, always the same.
"""

import csv
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from rnlmf.datasets.examples import WEATHER_COLUMNS, add_spikes, make_weather

FOLDER = Path(__file__).parent
HEADER = ("time", "station_id", "zip", *WEATHER_COLUMNS, "rating", "remark")


def spoiled(values, rng):
    """With errors as they happen: spikes, gaps, a code, a word; the cells as text."""
    decimals = (1, 1, 1, 1, 0, 1, 1, 0)
    values = add_spikes(values, rng=rng)
    values[:, 7] = np.clip(values[:, 7], 0, None)
    cells = [[f"{v:.{d}f}" for v, d in zip(row, decimals, strict=True)] for row in values]
    for row in rng.choice(len(cells), 6, replace=False):
        cells[row][6] = "-999"
    for row in rng.choice(len(cells), 5, replace=False):
        cells[row][int(rng.integers(0, 6))] = ""
    cells[100][1] = "err"
    return cells


def write(name, hours, first_hour, seed):
    """One file."""
    rng = np.random.default_rng(seed)
    cells = spoiled(make_weather(hours, first_hour, rng=rng), rng)
    start = datetime(2024, 5, 6) + timedelta(hours=first_hour)
    with open(FOLDER / name, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for number, row in enumerate(cells):
            moment = (start + timedelta(hours=number)).isoformat(sep=" ", timespec="minutes")
            remark = rng.choice(["", "", "", "", "cleaned, calibrated", "ok"])
            writer.writerow([moment, 40817, "01067", *row, rng.integers(1, 6), remark])


if __name__ == "__main__":
    write("weather.csv", 672, 0, 1)
    write("next_week.csv", 168, 672, 2)
