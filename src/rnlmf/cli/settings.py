"""What the options ask for, checked before any work is done."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rnlmf.cli.options import SequenceKind

if TYPE_CHECKING:
    from rnlmf.cleaning import ColumnChoice
    from rnlmf.io import Dataset


@dataclass(frozen=True)
class Reading:
    """How to read a file."""

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    key: str | None = None
    transpose: bool = False
    image_shape: tuple[int, ...] | None = None

    @classmethod
    def of(
        cls,
        delimiter: str | None,
        decimal: str | None,
        encoding: str | None,
        key: str | None,
        transpose: bool,
        image_shape: str | None,
    ) -> Reading:
        """From the options as they are given."""
        if delimiter is not None:
            delimiter = delimiter.replace("\\t", "\t")
            if len(delimiter) != 1:
                raise typer.BadParameter(
                    "must be one character, such as ';'.", param_hint="--delimiter"
                )
        if decimal not in (None, ".", ","):
            raise typer.BadParameter("must be '.' or ','.", param_hint="--decimal")
        shape = None
        if image_shape is not None:
            try:
                shape = tuple(int(part) for part in image_shape.lower().split("x"))
            except ValueError:
                shape = ()
            if len(shape) not in (2, 3) or min(shape) < 1:
                raise typer.BadParameter(
                    "must be HxW or HxWxC, such as 20x20.", param_hint="--image-shape"
                )
        return cls(delimiter, decimal, encoding, key, transpose, shape)


def choice(
    include: list[str] | None = None,
    skip: list[str] | None = None,
    missing: list[str] | None = None,
    guess: bool = False,
    limits: list[str] | None = None,
    sequence: SequenceKind = SequenceKind.AUTO,
) -> ColumnChoice:
    """What the options say of the columns."""
    from rnlmf.cleaning import ColumnChoice

    return ColumnChoice(
        tuple(include or ()),
        tuple(skip or ()),
        tuple(missing or ()),
        guess,
        dict(_limit(given) for given in limits or ()),
        sequence.value,
    )


def _limit(given: str) -> tuple[str, tuple[float, float]]:
    column, _, bounds = given.rpartition("=")
    low, colon, high = bounds.partition(":")
    try:
        pair = float(low or "-inf"), float(high or "inf")
    except ValueError:
        pair = (1.0, 0.0)
    if not (column and colon and pair[0] <= pair[1]):
        raise typer.BadParameter(
            f"{given!r} is not COLUMN=LOW:HIGH, such as humidity=0:100.", param_hint="--limits"
        )
    return column, pair


@dataclass(frozen=True)
class Fitting:
    """How to fit."""

    noise: str
    scale: bool | None
    settings: tuple[str, ...]
    seed: int
    jobs: int | None
    fast: bool = False

    def scales(self, dataset: Dataset) -> bool | None:
        """Whether features are brought to one scale; None: as the estimator does by itself."""
        from rnlmf.cleaning.repair import usual_scale

        table = self.scale is None and dataset.kind == "table"
        return usual_scale(dataset.values) if table else self.scale


@dataclass(frozen=True)
class Writing:
    """What to write, and how."""

    output: Path | None
    model: Path | None = None
    report: Path | None = None
    changes: Path | None = None
    scores: Path | None = None
    overwrite: bool = False
    full_precision: bool = False
    strict: bool = False
    detecting: bool = False

    @classmethod
    def of(cls, output: Path | None, dry_run: bool, **others: Any) -> Writing:
        """From the options; OUT must be given unless nothing shall be written there."""
        if output is None and not dry_run:
            raise typer.BadParameter(
                "say where to write, or pass --dry-run to write no file.", param_hint="-o / --output"
            )
        return cls(None if dry_run else output, **others)

    @property
    def writes_data(self) -> bool:
        """Whether clean data are written, or only told of."""
        return self.output is not None and not self.detecting

    @property
    def to_standard_output(self) -> bool:
        """Whether the data go where the words would."""
        return str(self.output) == "-"

    @property
    def files(self) -> dict[str, Path]:
        """What is written besides OUT, by option."""
        named = {
            "--model": self.model,
            "--report": self.report,
            "--changes": self.changes,
            "--scores": self.scores,
        }
        return {name: path for name, path in named.items() if path is not None}

    def paths(self) -> dict[str, str]:
        """All that is written, by what it is."""
        written = {name.removeprefix("--"): str(path) for name, path in self.files.items()}
        return written if self.output is None else {"output": str(self.output), **written}

    def check(self, source: Path) -> None:
        """Refuse, before any work is done, what could not be written."""
        from rnlmf.io import FileError, check_new, check_target
        from rnlmf.io.dataset import check_parent

        seen = {os.path.realpath(source): "IN"}
        if self.output is not None:
            check_target(self.output, source, overwrite=self.overwrite)
            seen[os.path.realpath(self.output)] = "OUT"
        endings = {"--report": (".html", ".htm"), "--changes": (".csv",), "--scores": (".csv",)}
        for name, path in self.files.items():
            if path.suffix.lower() not in endings.get(name, (path.suffix.lower(),)):
                raise typer.BadParameter(
                    f"{path} does not end in {endings[name][0]}; name it so.", param_hint=name
                )
            check_parent(path)
            other = seen.setdefault(os.path.realpath(path), name)
            if other != name:
                raise FileError(path, f"is both {other} and {name}; give one another name.")
            check_new(path, source, overwrite=self.overwrite)


def parameters(settings: tuple[str, ...], allowed: list[str]) -> dict[str, Any]:
    """``NAME=VALUE`` pairs as parameters of an estimator."""
    chosen = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or name not in allowed:
            raise typer.BadParameter(
                f"{setting!r} is no setting; pass NAME=VALUE with one of {', '.join(allowed)}.",
                param_hint="--set",
            )
        try:
            chosen[name] = json.loads(value)
        except json.JSONDecodeError:
            chosen[name] = {"None": None, "True": True, "False": False}.get(value, value)
    return chosen
