"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

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
        "any of them in .gz or .zip, a folder of images or of Parquet files, a pattern such as "
        "'part-*.parquet', or - for standard input.",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Where to write; the same or another format. A name without suffix is a folder, "
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
        help="Whether the rows follow one another in time; auto: used where it helps.",
        rich_help_panel=FITTING,
    ),
]
Fast = Annotated[
    bool,
    typer.Option(
        "--fast",
        help="Learn from some of the rows only, if there are many.",
        rich_help_panel=FITTING,
    ),
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
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Learn and clean Parquet files on this Dask cluster, whose workers must see IN and OUT.",
        rich_help_panel=FITTING,
        show_default=False,
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
