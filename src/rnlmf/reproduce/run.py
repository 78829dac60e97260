"""The whole of a run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from joblib import cpu_count

from rnlmf.reproduce import report, spec
from rnlmf.reproduce.cells import Cache
from rnlmf.reproduce.results import Results
from rnlmf.reproduce.runner import Store, complete, duration
from rnlmf.reproduce.tracks import MODES, make_tracks

PathLike = str | os.PathLike[str]


def run(
    names: Iterable[str] = (),
    *,
    quick: bool = False,
    mode: str = "both",
    seeds: int | None = None,
    methods: Iterable[str] | None = None,
    jobs: int | None = None,
    out: PathLike = "rnlmf-results",
    cache: PathLike | None = None,
    compute: bool = True,
    progress: bool = True,
) -> Path:
    """Compute the paper's tables and figures, and write them beside the paper's values.

    Every fit is kept in the `cache` as soon as it is done: a run that is stopped, or killed, goes on
    where it was. Rows whose data are absent are left empty; the synthetic part needs no data.

    Parameters
    ----------
    names : iterable of str
        Of :data:`EXPERIMENTS`, "table4" or "figure1"; none means all of them.
    quick : bool
        Few seeds and fewer rows, in minutes instead of hours.
    mode : {"paper", "auto", "both"}
        "paper": parameters are chosen from grids on the error, as the paper does. "auto": the library's
        own settings, which see no truth.
    seeds : int or None
        Instead of the 20 of a full run, or the few of a quick one. Slow methods get fewer; the tables
        say how many.
    methods : iterable of str or None
        Only these; None means all.
    jobs : int or None
        Processes. None: one for every core.
    out : path
        Folder for the results.
    cache : path or None
        Folder for the cells. None: ``.cells`` in `out`.
    compute : bool
        False writes what the cache has, and computes nothing.
    progress : bool
        Whether to show what goes on.

    Returns
    -------
    Path
        The page with all results, ``index.md`` in `out`.
    """
    if mode not in (*MODES, "both"):
        raise ValueError(f"mode={mode!r} must be 'paper', 'auto' or 'both'.")
    if seeds is not None and seeds < 1:
        raise ValueError(f"seeds={seeds} must be at least 1.")
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs={jobs} must be at least 1.")
    started = time.perf_counter()
    experiments = spec.named(names)
    size = "quick" if quick else "full"
    tracks = make_tracks(experiments, MODES if mode == "both" else (mode,), size, seeds)
    if methods is not None:
        methods = set(methods)
        unknown = methods - {method for experiment in experiments for method in experiment.methods}
        if unknown:
            raise ValueError(f"methods: these experiments have no {', '.join(sorted(unknown))}.")
        tracks = [track for track in tracks if track.method in methods]
    folder = Path(out)
    store = Store(Cache(folder / ".cells" if cache is None else cache))
    if compute:
        complete(tracks, store, jobs, progress)
    settings = {
        "run": f"{size}, mode {mode}, "
        + ("the usual seeds" if seeds is None else f"at most {seeds} seeds, fewer for slow methods"),
        "experiments": ", ".join(experiment.name for experiment in experiments),
        "time of this run": f"{duration(time.perf_counter() - started)} with {jobs or cpu_count()} "
        "processes (cells of earlier runs are not computed again)",
    }
    open_tracks = [track for track in tracks if track.wanted(store.lookup)]
    if open_tracks:
        settings["not finished"] = (
            f"{len(open_tracks)} of {len(tracks)} entries lack some or all of their seeds; "
            "the claims below count what there is"
        )
    return report.write(Results(tracks, store), experiments, folder, settings)
