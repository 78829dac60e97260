"""Options that several commands share."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rnlmf.cleaning import ColumnChoice
    from rnlmf.io import Dataset

READING, COLUMNS, FITTING, WRITING = "Reading", "Columns", "Fitting", "Writing"


class NoiseKind(StrEnum):
    """What is wrong with the data."""

    ENTRIES = "entries"
    SAMPLES = "samples"
    DENSE = "dense"


class SequenceKind(StrEnum):
    """Whether rows follow one another in time."""

    AUTO = "auto"
    YES = "yes"
    NO = "no"


Input = Annotated[
    Path,
    typer.Argument(
        metavar="IN",
        help=".csv, .tsv, .jsonl, .xlsx, .parquet, .feather, .npy, .npz, .mat, .amc, multi-page .tiff, "
        "any of them in .gz or .zip, a folder of images, or - for standard input.",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Where to write; the same or another format. A name without suffix is a folder of images, "
        "- is standard output.",
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
ChangesOut = Annotated[
    Path | None,
    typer.Option(
        "--changes",
        metavar="FILE.csv",
        help="List every change: row, column, before, after, probability, kind.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Write report and list of changes, but no OUT.")
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="End with exit code 4 if the result promises little."),
]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace files that are there.", rich_help_panel=WRITING),
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
        help="Leave a column alone; may be repeated, and have * for any letters.",
        rich_help_panel=COLUMNS,
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        metavar="COLUMN",
        help="Clean a column that would be left alone; may be repeated, and have * for any letters.",
        rich_help_panel=COLUMNS,
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="CODE",
        help="What stands for a missing value, such as -200 or COLUMN=-200; may be repeated.",
        rich_help_panel=COLUMNS,
    ),
]
Guess = Annotated[
    bool,
    typer.Option(
        "--guess",
        help="Take values for missing that look like a code for it.",
        rich_help_panel=COLUMNS,
    ),
]
Limits = Annotated[
    list[str] | None,
    typer.Option(
        "--limits",
        metavar="COLUMN=LOW:HIGH",
        help="Possible values of a column; may be repeated, and one side left out.",
        rich_help_panel=COLUMNS,
    ),
]
Noise = Annotated[
    NoiseKind,
    typer.Option(
        help="Wrong are single entries, whole samples, or everything a little.",
        rich_help_panel=FITTING,
    ),
]
Sequence = Annotated[
    SequenceKind,
    typer.Option(
        help="Whether the rows follow one another in time; auto: if there are times, or in .amc.",
        rich_help_panel=FITTING,
    ),
]
Fast = Annotated[
    bool,
    typer.Option("--fast", help="Learn from some of the rows only.", rich_help_panel=FITTING),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        help="Of delimited text; found out if not given.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal", help="Decimal mark of text; found out if not given.", rich_help_panel=READING
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="Of text, such as cp1252; found out if not given.",
        rich_help_panel=READING,
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="NAME",
        help="Which array of an .npz or .mat file, or sheet of an .xlsx file.",
        rich_help_panel=READING,
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

    def scales(self, dataset: Dataset) -> bool:
        """Whether features are brought to one scale: those of tables have units of their own."""
        return dataset.kind == "table" if self.scale is None else self.scale


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

    @classmethod
    def of(cls, output: Path | None, dry_run: bool, **others: Any) -> Writing:
        """From the options; OUT must be given unless nothing shall be written there."""
        if output is None and not dry_run:
            raise typer.BadParameter(
                "say where to write, or pass --dry-run to write no file.", param_hint="-o / --output"
            )
        return cls(None if dry_run else output, **others)

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
                f"{setting!r} is not NAME=VALUE with one of {', '.join(allowed)}.", param_hint="--set"
            )
        try:
            chosen[name] = json.loads(value)
        except json.JSONDecodeError:
            chosen[name] = {"None": None, "True": True, "False": False}.get(value, value)
    return chosen
