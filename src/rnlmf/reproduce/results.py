"""Results of a run: one value per line, and their means over the seeds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnlmf.reproduce.cells import Cell
from rnlmf.reproduce.choice import Point
from rnlmf.reproduce.experiment import Experiment, Row
from rnlmf.reproduce.paper import paper_values
from rnlmf.reproduce.runner import Store
from rnlmf.reproduce.tracks import Track
from rnlmf.typing import Array


@dataclass(frozen=True)
class Summary:
    """What a track gave: means and deviations over its seeds, by metric."""

    mean: dict[str, float]
    deviation: dict[str, float]
    seeds: int
    parameters: Point
    seconds: float


class Results:
    """Results of all tracks."""

    def __init__(self, tracks: Iterable[Track], store: Store):
        self.tracks = list(tracks)
        self.store = store
        self._summaries = {}
        for track in self.tracks:
            summary = self._summarise(track)
            if summary is not None:
                key = (track.experiment.name, track.row, track.method, track.mode)
                self._summaries[key] = summary

    def get(self, experiment: Experiment, row: Row, method: str, mode: str = "paper") -> Summary | None:
        """What a method gave on a row."""
        return self._summaries.get((experiment.name, row, method, mode))

    def means(self, experiment: Experiment, row: Row, metric: str, mode: str) -> dict[str, float]:
        """A metric of all methods that were run on a row."""
        found = {method: self.get(experiment, row, method, mode) for method in experiment.methods}
        return {method: one.mean[metric] for method, one in found.items() if one is not None}

    def has(self, experiment: Experiment, mode: str = "paper") -> bool:
        """Whether there is anything of an experiment."""
        return any(key[0] == experiment.name and key[3] == mode for key in self._summaries)

    def codes(self) -> set[str]:
        """Fingerprints of the code that the results come from."""
        return {
            self.store.known[cell].code
            for track in self.tracks
            for cell in self._done(track)
            if cell in self.store.known
        }

    def records(self) -> list[dict[str, Any]]:
        """One record per value."""
        found = []
        for track in self.tracks:
            for cell in self._done(track):
                outcome = self.store.lookup(cell)
                assert outcome is not None
                common = {
                    "experiment": track.experiment.name,
                    **dict(track.row.labels),
                    "method": track.method,
                    "mode": track.mode,
                    "seed": cell.seed,
                    "parameters": json.dumps(dict(cell.parameters)),
                }
                for metric, value in outcome.metrics.items():
                    found.append(
                        {
                            **common,
                            "metric": metric,
                            "value": value,
                            "paper": paper_value(track.experiment, track.row, track.method, metric),
                            "seconds": outcome.seconds,
                            "code": outcome.code,
                        }
                    )
        return found

    def arrays(self, experiment: Experiment) -> Iterator[tuple[Row, str, dict[str, Array]]]:
        """Row, method and arrays of all that was done of an experiment."""
        for track in self.tracks:
            if track.experiment is experiment:
                for cell in self._done(track):
                    yield track.row, track.method, self.store.cache.arrays(cell)

    def _done(self, track: Track) -> list[Cell]:
        parameters = track.chosen(self.store.lookup)
        if parameters is None:
            return []
        return [cell for cell in track.final_cells(parameters) if self.store.lookup(cell) is not None]

    def _summarise(self, track: Track) -> Summary | None:
        cells = self._done(track)
        if not cells:
            return None
        outcomes = [self.store.known[cell] for cell in cells]
        values = {
            name: [outcome.metrics[name] for outcome in outcomes if name in outcome.metrics]
            for name in outcomes[0].metrics
        }
        return Summary(
            {name: float(np.mean(numbers)) for name, numbers in values.items()},
            {name: float(np.std(numbers)) for name, numbers in values.items()},
            len(cells),
            cells[0].parameters,
            float(np.mean([outcome.seconds for outcome in outcomes])),
        )


def paper_value(experiment: Experiment, row: Row, method: str, metric: str) -> float | None:
    """What the paper prints, if it prints it."""
    labels = dict(row.labels)
    key = (
        experiment.name,
        str(labels.get("data", "")),
        str(labels.get("condition", "")),
        metric,
        method,
    )
    found = paper_values().get(key)
    return None if found is None else found[0]
