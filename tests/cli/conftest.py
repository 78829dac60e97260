import csv
from datetime import date, timedelta

import numpy as np
import pytest
from typer.testing import CliRunner

from rnlmf.cli.app import app
from rnlmf.datasets import corrupt_entries


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The command line, in a folder of its own: ``run("denoise", "in.csv", ...)``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words):
        return CliRunner().invoke(app, [str(word) for word in words])

    return run


@pytest.fixture(scope="session")
def seasons():
    """A clean table of eight quantities over a year or so, in units of their own."""
    rng = np.random.default_rng(0)
    phase, level = np.arange(240) / 240 * 4 * np.pi, rng.uniform(0, 1, 240)
    waves = [f(k * phase) for k in (1, 2) for f in (np.sin, np.cos)]
    mixing = np.column_stack([*waves, level]) @ rng.normal(size=(5, 8))
    return mixing * 10.0 ** np.linspace(-1, 3, 8) + 50.0


@pytest.fixture
def table(tmp_path, seasons):
    """The same as a noisy .csv with dates and names."""
    spread = seasons.std(axis=0)
    noisy = corrupt_entries(seasons / spread, 0.05, magnitude=5.0, random_state=0) * spread
    with open(tmp_path / "noisy.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["date", *(f"q{i}" for i in range(8)), "remark"])
        for day, row in enumerate(noisy):
            numbers = [f"{value:.3f}" for value in row]
            writer.writerow([date(2024, 1, 1) + timedelta(day), *numbers, "fine, really"])
    return tmp_path / "noisy.csv"
