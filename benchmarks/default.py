"""What no parameter costs: a default fit beside one fit, robust PCA and others, and new rows.

Times are of the processor (all threads together), so that others on the machine hardly count; the
error beside them is relative RMSE in per cent. The single fit gets the values that the default one has
chosen. Robust PCA, dictionary learning and imputation get a usual parameter, not the best one.
"""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import MiniBatchDictionaryLearning
from sklearn.impute import KNNImputer

from benchmarks.cases import data_present
from rnlmf import RNLMF, RobustPCA, datasets
from rnlmf.metrics import relative_rmse

Array = Any
FEATURES, ROWS = 20, (2_000, 20_000, 200_000)
# Motion capture's features and atoms, as for the latency of one row.
ONE_ROW_FEATURES, ONE_ROW_ATOMS, ONE_ROWS = 62, 62, 200


def curved_table(n: int, m: int = FEATURES, seed: int = 0) -> tuple[Array, Array]:
    """A surface of three dimensions in a table, and the same with 5% of gross errors."""
    rng, maps = np.random.default_rng(seed), np.random.default_rng(1).standard_normal((3, m))
    latent = rng.uniform(-1, 1, (n, 3))
    X = np.tanh(latent @ maps) + 0.5 * np.sin(2 * latent @ maps[:, ::-1])
    X += 0.02 * rng.standard_normal((n, m))
    errors = rng.choice([-1, 1], (n, m)) * rng.uniform(2, 6, (n, m)) * X.std(axis=0)
    return X, np.where(rng.random((n, m)) < 0.05, X + errors, X)


def real_cases() -> dict[str, Callable[[], tuple[Array, Array]]]:
    """Truth and noisy data, as far as the data are there."""

    def motion() -> tuple[Array, Array]:
        X = datasets.load_cmu_mocap(1, 9).data
        return X, datasets.corrupt_entries(X, 0.1, random_state=0)

    def salted(X: Array) -> tuple[Array, Array]:
        return X, datasets.salt_and_pepper(X, random_state=0)

    found: dict[str, Callable[[], tuple[Array, Array]]] = {
        "digits, salt and pepper": lambda: salted(load_digits().data / 16.0),
        "5,000 x 20, errors 5%": lambda: curved_table(5_000),
    }
    if data_present():
        found |= {
            "mocap 01_09, errors 10%": motion,
            "COIL-20, salt and pepper": lambda: salted(datasets.load_coil20().data),
            "Yale B, salt and pepper": lambda: salted(datasets.load_extended_yale_b().data),
        }
    return found


def processor_seconds(job: Callable[[], Any]) -> tuple[float, Any]:
    """Of one run, and what it returns."""
    begin = time.process_time()
    result = job()
    return time.process_time() - begin, result


def robust_pca(X: Array) -> Array:
    try:
        from pyrpca import rpca_pcp_ialm
    except ImportError:
        return RobustPCA(tol=1e-4).fit_denoise(X)
    mean = X.mean(axis=0)
    weight = 1.5 / np.sqrt(max(X.shape))
    return rpca_pcp_ialm(X - mean, weight, verbose=False)[0] + mean


def linear_dictionary(X: Array) -> Array:
    mean = X.mean(axis=0)
    model = MiniBatchDictionaryLearning(min(X.shape[1], 64), random_state=0, max_iter=20)
    return model.fit_transform(X - mean) @ model.components_ + mean


def imputed(X: Array) -> Array:
    """By similar rows, where a value is far from its column's median."""
    center = np.median(X, axis=0)
    far = np.abs(X - center) > 3 * np.maximum(X.std(axis=0), 1e-12)
    return KNNImputer().fit_transform(np.where(far & ~far.all(axis=0), np.nan, X))


OTHERS = {
    "robust PCA": robust_pca,
    "dictionary learning": linear_dictionary,
    "KNNImputer": imputed,
}


def against_others() -> list[dict[str, Any]]:
    """Default fit over the single one, and over what one would use instead."""
    rows = []
    for name, load in real_cases().items():
        X, noisy = (np.asarray(data, dtype=np.float64) for data in load())
        model = RNLMF(random_state=0)
        default, repaired = processor_seconds(lambda: model.fit_denoise(noisy))  # noqa: B023
        one = RNLMF(
            model.n_components_,
            kernel_scale=model.kernel_scale_,
            noise_weight=model.noise_weight_,
            feature_scale="robust" if model.feature_scale_ is not None else None,
            random_state=0,
        )
        single, _ = processor_seconds(lambda: one.fit_denoise(noisy))  # noqa: B023
        row = {
            "data": name,
            "processor seconds": default,
            "error": 100 * relative_rmse(X, repaired),
            "default / single fit": default / single,
        }
        for other, job in OTHERS.items():
            took, found = processor_seconds(lambda: job(noisy))  # noqa: B023
            row |= {
                f"default / {other}": default / took,
                f"error of {other}": 100 * relative_rmse(X, found),
            }
        rows.append(row)
    return rows


def against_rows() -> list[dict[str, Any]]:
    """Default fit of tables of more and more rows."""
    rows: list[dict[str, Any]] = []
    for n in ROWS:
        X, noisy = curved_table(n)
        took, found = processor_seconds(lambda: RNLMF(random_state=0).fit_denoise(noisy))  # noqa: B023
        rows.append(
            {
                "n": n,
                "m": FEATURES,
                "processor seconds": took,
                "time / one before": took / rows[-1]["processor seconds"] if rows else None,
                "error": 100 * relative_rmse(X, found),
            }
        )
    return rows


def new_rows() -> list[dict[str, Any]]:
    """One new row at a time, and many at once, by the dictionary alone and with all opinions."""
    rows = []
    X, noisy = curved_table(3_000 + ONE_ROWS, ONE_ROW_FEATURES)
    new = noisy[-ONE_ROWS:]
    for opinions in ("dictionary", "auto"):
        model = RNLMF(ONE_ROW_ATOMS, opinions=opinions, random_state=0).fit(noisy[:-ONE_ROWS])
        model.denoise(new[:1])
        times = [processor_seconds(lambda: model.denoise(row[None]))[0] for row in new]  # noqa: B023
        bulk, found = processor_seconds(lambda: model.denoise(noisy))  # noqa: B023
        rows.append(
            {
                "opinions": opinions,
                "milliseconds of one row, median": 1e3 * float(np.median(times)),
                "the slowest of twenty": 1e3 * float(np.quantile(times, 0.95)),
                "rows a second, in bulk": len(noisy) / bulk,
                "error": 100 * relative_rmse(X, found),
            }
        )
    return rows


FIRST_CALL = """
import time, numpy as np
begin = time.perf_counter()
from rnlmf import RNLMF
imported = time.perf_counter()
X = np.random.default_rng(0).standard_normal((200, 5))
calls = []
for _ in range(2):
    start = time.perf_counter()
    RNLMF(random_state=0).fit_denoise(X)
    calls.append(time.perf_counter() - start)
print(imported - begin, *calls)
"""


def first_call() -> list[dict[str, Any]]:
    """Import, first and second call in a process of its own; what is compiled is cached by then."""
    printed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIRST_CALL], check=True, capture_output=True, text=True
    ).stdout
    imported, first, second = map(float, printed.split())
    return [{"import, seconds": imported, "first call": first, "second call": second}]


def run() -> dict[str, list[dict[str, Any]]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Compiled, and in the cache.
        RNLMF(random_state=0).fit_denoise(curved_table(300)[1])
        return {
            "beside one fit, and others": against_others(),
            "with the number of rows": against_rows(),
            "new rows in a fitted model": new_rows(),
            "first call after import": first_call(),
        }
