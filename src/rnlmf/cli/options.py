"""Options that several commands share."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rnlmf.io import Dataset

READING, FITTING, WRITING = "Reading", "Fitting", "Writing"

Input = Annotated[
    Path,
    typer.Argument(
        metavar="IN",
        help=".csv, .tsv, .parquet, .npy, .npz, .mat, .amc, multi-page .tiff, or a folder of images.",
        show_default=False,
    ),
]
Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Where to write; the same or another format. A name without suffix is a folder of images.",
        show_default=False,
    ),
]
ModelOut = Annotated[
    Path | None,
    typer.Option("--model", metavar="FILE", help="Save the model here, for [bold]rnlmf apply[/bold]."),
]
Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE.html", help="Write a page that shows what was done."),
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Allow OUT to be the input, or a folder with files.",
        rich_help_panel=WRITING,
    ),
]
FullPrecision = Annotated[
    bool,
    typer.Option(
        "--full-precision",
        help="Do not round repaired values to whole numbers or to the column's decimals.",
        rich_help_panel=WRITING,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors (and JSON).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Skip = Annotated[
    list[str] | None,
    typer.Option(
        "--skip",
        metavar="COLUMN",
        help="Leave a column alone; may be repeated.",
        rich_help_panel=READING,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        help="Of delimited text; comma for .csv, tab for .tsv.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Decimal = Annotated[
    str, typer.Option("--decimal", help="Decimal mark of delimited text.", rich_help_panel=READING)
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key", metavar="NAME", help="Which array of an .npz or .mat file.", rich_help_panel=READING
    ),
]
Transpose = Annotated[
    bool,
    typer.Option("--transpose", help="Samples are the columns of the array.", rich_help_panel=READING),
]
ImageShape = Annotated[
    str | None,
    typer.Option(
        "--image-shape",
        metavar="HxW",
        help="Samples are flat images of this size.",
        rich_help_panel=READING,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        min=-1,
        help="Threads; -1 is all cores, and so is the default unless BLAS is told otherwise.",
        rich_help_panel=FITTING,
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Of everything random.", rich_help_panel=FITTING)]
Scale = Annotated[
    bool | None,
    typer.Option(
        "--scale/--no-scale",
        help="Bring features to one scale first. On for tables, whose columns have their own units.",
        rich_help_panel=FITTING,
        show_default=False,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any parameter of the estimator, such as kernel_scale=0.5; may be repeated.",
        rich_help_panel=FITTING,
    ),
]


@dataclass(frozen=True)
class Reading:
    """How to read a file."""

    skip: tuple[str, ...] = ()
    delimiter: str | None = None
    decimal: str = "."
    key: str | None = None
    transpose: bool = False
    image_shape: tuple[int, ...] | None = None

    @classmethod
    def of(
        cls,
        skip: list[str] | None,
        delimiter: str | None,
        decimal: str,
        key: str | None,
        transpose: bool,
        image_shape: str | None,
    ) -> Reading:
        """From the options as they are given."""
        if delimiter is not None:
            delimiter = delimiter.replace("\\t", "\t")
            if len(delimiter) != 1:
                raise typer.BadParameter("must be one character.", param_hint="--delimiter")
        if decimal not in (".", ","):
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
        return cls(tuple(skip or ()), delimiter, decimal, key, transpose, shape)


@dataclass(frozen=True)
class Fitting:
    """How to fit."""

    noise: str
    scale: bool | None
    settings: tuple[str, ...]
    seed: int
    jobs: int | None

    def feature_scale(self, dataset: Dataset) -> str | None:
        """Whether features are brought to one scale: those of tables have units of their own."""
        if self.scale is None:
            return "robust" if dataset.kind == "table" else "auto"
        return "robust" if self.scale else None


@dataclass(frozen=True)
class Writing:
    """What to write, and how."""

    output: Path
    model: Path | None
    report: Path | None
    overwrite: bool
    full_precision: bool

    def check(self, source: Path) -> None:
        """Refuse, before any work is done, what could not be written."""
        from rnlmf.io import FileError, check_target
        from rnlmf.io.dataset import check_parent

        check_target(self.output, source, overwrite=self.overwrite)
        if self.report is not None and self.report.suffix.lower() not in (".html", ".htm"):
            raise typer.BadParameter(f"{self.report} does not end in .html.", param_hint="--report")
        named = {"--model": self.model, "--report": self.report}
        seen = {os.path.realpath(source): "IN", os.path.realpath(self.output): "OUT"}
        for name, path in named.items():
            if path is None:
                continue
            check_parent(path)
            other = seen.setdefault(os.path.realpath(path), name)
            if other != name:
                raise FileError(path, f"is both {other} and {name}.")


def parameters(settings: tuple[str, ...], allowed: list[str]) -> dict[str, Any]:
    """``NAME=VALUE`` pairs as parameters of an estimator."""
    chosen = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or name not in allowed:
            raise typer.BadParameter(
                f"{setting!r} is not NAME=VALUE with one of {', '.join(allowed)}.", param_hint="--set"
            )
        try:
            chosen[name] = json.loads(value)
        except json.JSONDecodeError:
            chosen[name] = {"None": None, "True": True, "False": False}.get(value, value)
    return chosen
