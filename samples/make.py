"""Makes the sample files: a weather station, four weeks with errors, and one more.

``python samples/make.py`` writes them beside itself, always the same.
"""

import csv
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
HEADER = ("time", "station_id", "zip", "temperature", "humidity", "dew_point", "pressure", "radiation")
HEADER += ("wind", "soil_temperature", "visitors", "rating", "remark")


def weather(hours, first_hour, rng):
    """Quantities that hang together: the hour of the day and a slow change of the weather."""
    hour = first_hour + np.arange(hours)
    day, front = 2 * np.pi * hour / 24, np.sin(2 * np.pi * hour / 150)
    sun = np.clip(np.sin(day - np.pi / 2), 0, None) * (1.0 - 0.35 * front)
    temperature = 13 + 5 * sun + 2.5 * np.sin(day - 2.2) + 4 * front
    humidity = np.clip(78 - 3.1 * (temperature - 13) + 9 * front, 5, 100)
    dew_point = temperature - (100 - humidity) / 5
    pressure = 1013 - 9 * front + 1.2 * np.cos(2 * day)
    radiation = 820 * sun + 3
    wind = 3 + 1.8 * sun + 2.2 * front**2
    soil = 12 + 2 * np.sin(day - 3.4) + 3 * front
    visitors = np.rint(140 + 150 * sun + 8 * (temperature - 13))
    clean = np.column_stack(
        [temperature, humidity, dew_point, pressure, radiation, wind, soil, visitors]
    )
    return clean + rng.normal(size=clean.shape) * [0.1, 0.5, 0.1, 0.1, 4, 0.05, 0.05, 1.0]


def spoiled(values, rng):
    """With errors as they happen: spikes, gaps, a code, a word; the cells as text."""
    decimals = (1, 1, 1, 1, 0, 1, 1, 0)
    spread = values.std(axis=0)
    spikes = rng.random(values.shape) < 0.012
    values = (
        values
        + np.where(spikes, rng.choice([-1, 1], values.shape) * rng.uniform(4, 9, values.shape), 0)
        * spread
    )
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
    cells = spoiled(weather(hours, first_hour, rng), rng)
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
