"""The commands. Only what a command needs is imported, when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnlmf.cli import options as o
from rnlmf.cli import settings as s
from rnlmf.cli.console import EXIT_CODES, Terminal, command
from rnlmf.cli.reproduce import reproduce

app = typer.Typer(
    name="rnlmf",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from rnlmf import __version__

        typer.echo(f"rnlmf {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Remove gross errors from data that lie on curved, low-dimensional structure.

    [bold]Examples[/bold]

    Clean a table, and see what was done:

      rnlmf denoise noisy.csv -o clean.csv --changes changes.csv --report report.html

    Keep the model, and treat tomorrow's data the same way:

      rnlmf denoise monday.csv -o clean.csv --model model.safetensors
      rnlmf apply model.safetensors tuesday.csv -o clean-tuesday.csv

    See it work on data that come with it:

      rnlmf demo
    """


@app.command(epilog=EXIT_CODES)
@command
def denoise(
    input: o.Input,
    output: o.Output = None,
    changes: o.ChangesOut = None,
    report: o.Report = None,
    model: o.ModelOut = None,
    dry_run: o.DryRun = False,
    include: o.Include = None,
    skip: o.Skip = None,
    missing: o.Missing = None,
    guess: o.Guess = False,
    limits: o.Limits = None,
    noise: o.Noise = o.NoiseKind.ENTRIES,
    sequence: o.Sequence = o.SequenceKind.AUTO,
    fast: o.Fast = False,
    scale: o.Scale = None,
    settings: o.Assignments = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
    key: o.Key = None,
    transpose: o.Transpose = False,
    image_shape: o.ImageShape = None,
    scheduler: o.Scheduler = None,
    overwrite: o.Overwrite = False,
    full_precision: o.FullPrecision = False,
    strict: o.Strict = False,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Learn the structure of a data set and remove what does not fit it.

    Identifiers, dates, codes, ratings and text are left alone.

    [bold]Examples[/bold]

      rnlmf denoise noisy.csv -o clean.csv --changes changes.csv --report report.html
      rnlmf denoise noisy.csv --dry-run --missing -200 --limits humidity=0:100
      rnlmf denoise frames/ -o clean-frames/
      rnlmf denoise walk.amc -o walk-clean.amc --model walk.safetensors
      rnlmf denoise sensors.parquet -o clean.parquet --skip station --noise samples
      rnlmf denoise data.mat -o data-clean.mat --key fea --transpose
      rnlmf denoise 'part-*.parquet' -o clean/ --scheduler tcp://head:8786
    """
    from rnlmf.cli.denoise import denoise_file

    writing = s.Writing.of(
        output,
        dry_run,
        model=model,
        report=report,
        changes=changes,
        overwrite=overwrite,
        full_precision=full_precision,
        strict=strict,
    )
    denoise_file(
        input,
        s.Reading.of(delimiter, decimal, encoding, key, transpose, image_shape),
        s.choice(include, skip, missing, guess, limits, sequence),
        s.Fitting(noise.value, scale, tuple(settings or ()), seed, jobs, fast),
        writing,
        Terminal(quiet, as_json, words_aside=writing.to_standard_output),
        scheduler,
    )


@app.command(epilog=EXIT_CODES)
@command
def detect(
    input: o.Input,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.csv",
            help="List the wrong cells: row, column, value, probability, kind.",
        ),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(
            "--scores",
            metavar="FILE.csv",
            help="Write for every cell how probable it is that it is wrong.",
        ),
    ] = None,
    report: o.Report = None,
    include: o.Include = None,
    skip: o.Skip = None,
    missing: o.Missing = None,
    guess: o.Guess = False,
    limits: o.Limits = None,
    noise: o.Noise = o.NoiseKind.ENTRIES,
    sequence: o.Sequence = o.SequenceKind.AUTO,
    fast: o.Fast = False,
    scale: o.Scale = None,
    settings: o.Assignments = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
    key: o.Key = None,
    transpose: o.Transpose = False,
    image_shape: o.ImageShape = None,
    overwrite: o.Overwrite = False,
    strict: o.Strict = False,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Say which cells are wrong, and change nothing.

    [bold]Examples[/bold]

      rnlmf detect noisy.csv
      rnlmf detect noisy.csv -o wrong.csv --scores scores.csv
    """
    from rnlmf.cli.denoise import detect_file

    detect_file(
        input,
        s.Reading.of(delimiter, decimal, encoding, key, transpose, image_shape),
        s.choice(include, skip, missing, guess, limits, sequence),
        s.Fitting(noise.value, scale, tuple(settings or ()), seed, jobs, fast),
        s.Writing(
            output,
            report=report,
            scores=scores,
            overwrite=overwrite,
            strict=strict,
            detecting=True,
        ),
        Terminal(quiet, as_json),
    )


@app.command(epilog=EXIT_CODES)
@command
def apply(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Saved by --model.", show_default=False)
    ],
    input: o.Input,
    output: o.Output = None,
    changes: o.ChangesOut = None,
    report: o.Report = None,
    dry_run: o.DryRun = False,
    missing: o.Missing = None,
    guess: o.Guess = False,
    limits: o.Limits = None,
    jobs: o.Jobs = None,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
    key: o.Key = None,
    transpose: o.Transpose = False,
    image_shape: o.ImageShape = None,
    overwrite: o.Overwrite = False,
    full_precision: o.FullPrecision = False,
    strict: o.Strict = False,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Clean new samples with a saved model, each on its own.

    The columns of a table are found by their names, in any order; others are left alone.

    [bold]Example[/bold]

      rnlmf apply model.safetensors tuesday.csv -o clean-tuesday.csv
    """
    from rnlmf.cli.denoise import apply_model

    writing = s.Writing.of(
        output,
        dry_run,
        report=report,
        changes=changes,
        overwrite=overwrite,
        full_precision=full_precision,
        strict=strict,
    )
    apply_model(
        model,
        input,
        s.Reading.of(delimiter, decimal, encoding, key, transpose, image_shape),
        s.choice(missing=missing, guess=guess, limits=limits),
        jobs,
        writing,
        Terminal(quiet, as_json, words_aside=writing.to_standard_output),
    )


@app.command(epilog=EXIT_CODES)
@command
def cluster(
    input: o.Input,
    n_clusters: Annotated[
        int | None,
        typer.Option(
            "--clusters", "-k", metavar="K", min=1, help="How many; found by itself if not given."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Write the clusters: .csv, .tsv or .parquet (a table gets a column more), or .npy.",
        ),
    ] = None,
    report: o.Report = None,
    scale: o.Scale = None,
    settings: o.Assignments = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    include: o.Include = None,
    skip: o.Skip = None,
    missing: o.Missing = None,
    guess: o.Guess = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
    key: o.Key = None,
    transpose: o.Transpose = False,
    image_shape: o.ImageShape = None,
    overwrite: o.Overwrite = False,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Find groups of samples, in spite of gross errors.

    [bold]Examples[/bold]

      rnlmf cluster noisy.csv -k 3 -o clusters.csv
      rnlmf cluster faces/ --report report.html
    """
    from rnlmf.cli.cluster import cluster_file

    cluster_file(
        input,
        n_clusters,
        output,
        report,
        s.Reading.of(delimiter, decimal, encoding, key, transpose, image_shape),
        s.choice(include, skip, missing, guess),
        s.Fitting("entries", scale, tuple(settings or ()), seed, jobs),
        overwrite,
        Terminal(quiet, as_json),
    )


@app.command(epilog=EXIT_CODES)
@command
def info(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Data or a model.", show_default=False)],
    include: o.Include = None,
    skip: o.Skip = None,
    missing: o.Missing = None,
    guess: o.Guess = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
    key: o.Key = None,
    transpose: o.Transpose = False,
    image_shape: o.ImageShape = None,
    as_json: o.AsJson = False,
) -> None:
    """Say what is in a data file or a saved model, and what would be done with it.

    [bold]Examples[/bold]

      rnlmf info noisy.csv
      rnlmf info model.safetensors --json
    """
    from rnlmf.cli.info import describe

    reading = s.Reading.of(delimiter, decimal, encoding, key, transpose, image_shape)
    describe(file, reading, s.choice(include, skip, missing, guess), Terminal(False, as_json))


@app.command(epilog=EXIT_CODES)
@command
def demo(
    folder: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to put picture and pages.")
    ] = Path("rnlmf-demo"),
) -> None:
    """Remove errors from a table, a motion and digits; writes a picture and two pages.

    [bold]Example[/bold]

      rnlmf demo
    """
    from rnlmf.cli.demo import main

    main(folder)


app.command(epilog=EXIT_CODES)(command(reproduce))
