"""Files as people have them. ``python tests/nasty_files.py FOLDER`` writes them all to look at."""

import sys
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np

ROWS = 120
# Cells of the measured columns that are far off; everything else is right.
WRONG = {(10, "q0"), (33, "q2"), (77, "q4")}


@dataclass
class Nasty:
    """A file and what must happen to it.

    `wrong` are the cells that change, and no others; `kept` are columns in which nothing may change
    even if a model would change everything. `head` rows stand above the data, of which `named` has
    the names, and `below` lines below it.
    """

    content: bytes
    wrong: set = field(default_factory=lambda: set(WRONG))
    kept: set = field(default_factory=set)
    options: tuple = ()
    delimiter: str = ","
    encoding: str = "utf-8"
    skipped_lines: int = 0
    header: bool = True
    head: int = 1
    named: int = 0
    notes: str = ""
    below: int = 0


def measured(rows=ROWS, wrong=WRONG):
    """Six columns that belong together, as text with two decimals."""
    t = np.linspace(0, 9, rows)
    values = {f"q{k}": 20 + 10 * np.sin(t + k) for k in range(6)}
    for row, name in wrong:
        values[name][row] += 400
    return {name: [f"{value:.2f}" for value in column] for name, column in values.items()}


def text(columns, delimiter=",", newline="\n", header=True):
    """The columns as delimited text."""
    rows = list(zip(*columns.values(), strict=True))
    lines = [delimiter.join(map(str, row)) for row in ([tuple(columns)] if header else []) + rows]
    return newline.join(lines) + newline


def quoted(cells):
    return [f'"{cell}"' for cell in cells]


def _rng():
    return np.random.default_rng(7)


def _extra_columns():
    """Columns that are not measured, and must not change."""
    rng = _rng()
    days = [date(2024, 1, 1) + timedelta(int(d)) for d in rng.permutation(ROWS)]
    start = datetime(2024, 1, 1)
    moments = [start + timedelta(minutes=7 * i, seconds=int(rng.integers(60))) for i in range(ROWS)]
    epochs = [1_704_067_200 + 420 * i + int(rng.integers(300)) for i in range(ROWS)]
    return {
        "customer": rng.permutation(ROWS) + 40_017,
        "customer_id": rng.integers(1, 40, ROWS),
        "orderNr": rng.integers(100, 999, ROWS),
        "zip_with_zeros": [f"{code:05d}" for code in rng.integers(500, 99_999, ROWS)],
        "zip": rng.choice([10115, 80331, 50667, 20095], ROWS),
        "plz": rng.integers(10_000, 99_999, ROWS),
        "day": [f"{d:%Y%m%d}" for d in days],
        "stamp": [f"{m:%Y%m%d%H%M%S}" for m in moments],
        "short_day": [f"{d:%y%m%d}" for d in days],
        "month": [f"{d:%Y%m}" for d in days],
        "iso": [d.isoformat() for d in days],
        "german_date": [f"{d:%d.%m.%Y}" for d in days],
        "built": rng.integers(1920, 2024, ROWS),
        "unix": epochs,
        "unix_ms": [1000 * e + int(rng.integers(1000)) for e in epochs],
        "unix_fraction": [f"{e}.25" for e in epochs],
        "stars": rng.integers(1, 6, ROWS),
        "half_stars": [f"{s / 2:.1f}" for s in rng.integers(1, 11, ROWS)],
        "nps": rng.integers(0, 11, ROWS),
        "member": rng.integers(0, 2, ROWS),
        "department": rng.choice([101, 205, 310, 999], ROWS),
        "grade": rng.choice(["1.0", "1.3", "1.7", "2.0"], ROWS),
        "phone": [f"+4930{n}" for n in rng.integers(100_000, 999_999, ROWS)],
        "ean": [4_000_000_000_000 + int(n) for n in rng.integers(1, 10**9, ROWS)],
        "float_id": [f"{n}.0" for n in rng.permutation(ROWS) + 70_001],
        "row": range(1, ROWS + 1),
        "time": [f"{0.04 * i:.2f}" for i in range(ROWS)],
        "meter": np.cumsum(rng.integers(1, 50, ROWS)),
        "constant": [7.5] * ROWS,
        "empty": [""] * ROWS,
        "rain": [f"{r:.1f}" if rng.random() < 0.05 else "0" for r in rng.exponential(3, ROWS)],
        "flag": rng.choice(["TRUE", "FALSE"], ROWS),
        "house": [f"{n}{'' if n % 3 else 'a'}" for n in rng.integers(1, 90, ROWS)],
        "weight": [f"{n:.1f} kg" for n in rng.normal(70, 5, ROWS)],
        "share": [f"{n}%" for n in rng.integers(1, 90, ROWS)],
        "version": rng.choice(["1.2.3", "1.3.0", "2.0.1"], ROWS),
        "remark": rng.choice(["fine", "so, so", 'say ""so""'], ROWS),
        "kundennummer": rng.integers(1, 500, ROWS),
        "serial_number": rng.integers(1, 500, ROWS),
        "userid": rng.integers(1, 500, ROWS),
        "account": rng.choice([10_268, 44_120, 98_640, 71_003, 20_221], ROWS),
        "mobile": rng.integers(1_510_000_000, 1_799_999_999, ROWS),
        "hash": [int.from_bytes(rng.bytes(12), "big") for _ in range(ROWS)],
        "signed_hash": [int.from_bytes(rng.bytes(8), "big", signed=True) for _ in range(ROWS)],
        "day_month": [f"{d:%d.%m}" for d in days],
        "american": [f"{d:%-m/%-d/%Y}" for d in days],
        "mixed_dates": [f"{d:%d.%m.%Y}" if i % 2 else d.isoformat() for i, d in enumerate(days)],
        "clock": [f"{m:%H:%M}" for m in moments],
        "signed_at_the_end": [f"{abs(v):.2f}{'-' if v < 0 else ''}" for v in rng.normal(0, 90, ROWS)],
        "fraction": [f"{n} 1/2" for n in rng.integers(1, 90, ROWS)],
    }


def _with_column(name, cells):
    cells = quoted(cells) if name == "remark" else cells
    return Nasty(text({name: list(cells), **measured()}).encode(), kept={name})


def _heads():
    """What stands above and below the rows."""
    columns = measured()
    plain = text(columns)
    header, rows = plain.split("\n", 1)
    units = "°C,°C,hPa,%,m/s,"
    dated = {"day": [f"{1 + i % 28}.{1 + i % 12}.2024" for i in range(ROWS)], **columns}
    sums = ",".join(f"{sum(map(float, cells)):.2f}" for cells in columns.values())
    titles = "Report of station 7\nfrom, to\n\n"
    two = f"temperature,,,pressure,,\n{plain}"
    kinds = text({"kind": ["mean", "max", "min"] * (ROWS // 3), **measured(wrong={(ROWS - 1, "q3")})})
    return {
        "no_total": Nasty(kinds.encode(), wrong={(ROWS - 1, "q3")}, kept={"kind"}),
        "units_below_the_names": Nasty(f"{header}\n{units}\n{rows}".encode(), head=2, notes="2 rows"),
        "units_and_dates": Nasty(
            text(dated).replace("\n", f"\n,{units}\n", 1).encode(), head=2, notes="2 rows", kept={"day"}
        ),
        "units_and_line_breaks": Nasty(
            text({'"two\nlines"': ['"a\nb"'] * ROWS, **columns})
            .replace("q5\n", f"q5\n,{units}\n", 1)
            .encode(),
            head=2,
        ),
        "names_in_two_rows": Nasty(two.encode(), head=2, named=1, notes="2 rows of header"),
        "title": Nasty((titles + plain).encode(), skipped_lines=3, notes="a title before the table"),
        "note_below": Nasty(
            f"{plain}\nSource: station 7\nmade by hand, and by N.N.\n".encode(),
            notes="a note below the table",
            below=3,
        ),
        "total_among_numbers": Nasty(
            f"{plain}Total,1,2,3,4,5\n".encode(), notes="row 121 sums up the others"
        ),
        "total_after_names": Nasty(
            (text({"l": [f"n{i}" for i in range(ROWS)], **columns}) + f"Summe:,{sums}\n").encode(),
            notes="row 121 sums up the others",
        ),
    }


def _marked():
    """Numbers that say more than their value, and words that come again."""
    columns = measured()
    shapes = {
        "minus_at_the_end": "{}-",
        "in_brackets": "({})",
        "detection_limit": "<{}",
        "about": "~{}",
        "footnote": "{}*",
        "percent_now_and_then": "{}%",
        "unit_now_and_then": "{} kg",
        "from_to": "{}-99",
        "currency_now_and_then": "$ {}",
    }
    marked = {}
    for name, shape in shapes.items():
        cells = [shape.format(c) if i % 15 == 4 else c for i, c in enumerate(columns["q1"])]
        marked[name] = Nasty(text({**columns, "q1": cells}).encode(), notes="8 numbers have a mark")
    words = ["T" if i % 15 == 4 else c for i, c in enumerate(columns["q1"])]
    coded = {(row, "q1") for row in range(4, ROWS, 15)}
    worded = text({**columns, "q1": words}).encode()
    other = [c.replace(".", ",") if i % 15 == 4 else c for i, c in enumerate(columns["q1"])]
    return marked | {
        "word_that_comes_again": Nasty(worded, notes="T (8 times) may stand for missing values"),
        "word_that_is_told": Nasty(worded, wrong=WRONG | coded, options=("--missing", "T")),
        "word_that_is_guessed": Nasty(worded, wrong=WRONG | coded, options=("--guess",)),
        "other_decimal_mark": Nasty(
            text({**columns, "q1": quoted(other)}).encode(), notes="8 numbers have a mark"
        ),
    }


def _styles():
    """The same table in the ways in which files are written."""
    columns = measured()
    plain = text(columns)
    comma = {name: [c.replace(".", ",") for c in cells] for name, cells in columns.items()}
    large = {name: [f"{float(c) * 1000:,.1f}" for c in cells] for name, cells in columns.items()}
    german = {name: [c.translate({44: ".", 46: ","}) for c in cells] for name, cells in large.items()}
    swiss = {name: [c.replace(",", "'") for c in cells] for name, cells in large.items()}
    umlauts = text({"Größe": ["süß"] * ROWS, **columns})
    lines = plain.splitlines(keepends=True)
    mixed = "".join(
        line.replace("\n", "\r\n") + ("\n" if i % 10 == 0 else "") if i % 3 else line
        for i, line in enumerate(lines)
    )
    notes = {"remark": ['"two\nlines, and ""quotes"""'] * ROWS, **columns}
    return {
        "semicolons": Nasty(text(columns, ";").encode(), delimiter=";", notes="semicolon"),
        "decimal_comma": Nasty(text(comma, ";").encode(), delimiter=";", notes="decimal comma"),
        "decimal_comma_tabs": Nasty(text(comma, "\t").encode(), delimiter="\t", notes="decimal comma"),
        "decimal_comma_quoted": Nasty(
            text({name: quoted(cells) for name, cells in comma.items()}).encode(),
            notes="decimal comma",
        ),
        "bars": Nasty(text(columns, "|").encode(), delimiter="|", notes="bar"),
        "thousands": Nasty(
            text({name: quoted(cells) for name, cells in large.items()}).encode(), notes="thousands"
        ),
        "thousands_german": Nasty(text(german, ";").encode(), delimiter=";", notes="thousands"),
        "thousands_swiss": Nasty(text(swiss).encode(), notes="thousands"),
        "windows_1252": Nasty(umlauts.encode("cp1252"), encoding="cp1252", notes="cp1252"),
        "utf_16": Nasty(umlauts.encode("utf-16"), encoding="utf-16", notes="utf-16"),
        "utf_8": Nasty(umlauts.encode()),
        "byte_order_mark": Nasty(umlauts.encode("utf-8-sig"), encoding="utf-8-sig"),
        "windows_lines": Nasty(text(columns, newline="\r\n").encode()),
        "old_mac_lines": Nasty(text(columns, newline="\r").encode()),
        "mixed_lines_and_empty_ones": Nasty(mixed.encode()),
        "no_last_line_end": Nasty(plain.rstrip("\n").encode()),
        "all_quoted": Nasty(
            text({f'"{name}"': quoted(cells) for name, cells in columns.items()}).encode()
        ),
        "blanks": Nasty(
            text({f" {name} ": [f" {c}  " for c in cells] for name, cells in columns.items()}).encode()
        ),
        "remarks": Nasty(f"# made by hand\n# station 7\n{plain}".encode(), skipped_lines=2),
        "header_after_hash": Nasty(f"# made by hand\n#{plain}".encode(), skipped_lines=1),
        "sep_line": Nasty(f"sep=;\n{text(columns, ';')}".encode(), delimiter=";", skipped_lines=1),
        "no_header": Nasty(
            text(columns, header=False).encode(),
            wrong={(row, f"x{name[1:]}") for row, name in WRONG},
            header=False,
            notes="no header",
        ),
        "trailing_delimiter": Nasty(plain.replace("\n", ",\n").encode(), kept={""}),
        "two_lines_in_a_cell": Nasty(text(notes).encode(), kept={"remark"}),
        "minus_sign": Nasty(
            text({n: [f"\u2212{c}" for c in cells] for n, cells in columns.items()}).encode()
        ),
    }


def _cells():
    """Cells that are no numbers, gaps, and codes."""
    columns = measured()
    codes = {name: list(cells) for name, cells in columns.items()}
    coded = {(row, "q3") for row in range(5, ROWS, 20)}
    for row, name in coded:
        codes[name][row] = "-200"
    gaps = {name: list(cells) for name, cells in columns.items()}
    holes = {(3, "q1"): "", (4, "q1"): "NA", (60, "q5"): "n/a", (99, "q3"): "-", (100, "q0"): " "}
    for (row, name), cell in holes.items():
        gaps[name][row] = cell
    words = {name: list(cells) for name, cells in columns.items()}
    bad = {(8, "q1"): "error", (40, "q5"): "2O.15", (88, "q3"): "inf", (89, "q3"): "1e999"}
    for (row, name), cell in bad.items():
        words[name][row] = cell
    counts = {name: [str(int(100 * float(c))) for c in cells] for name, cells in columns.items()}
    stars = [str(1 + (k // 9) % 5) for k in range(ROWS)]
    stars[20] = "55"
    humid = {name: list(cells) for name, cells in columns.items()}
    humid["q1"][50] = "-0.10"
    two_codes = {name: list(cells) for name, cells in codes.items()}
    two_codes["q3"][11:110:20] = ["-999"] * 5
    other = {(row, "q3") for row in range(11, 110, 20)}
    powers = {n: [f"{float(c) * 1e-7:.3E}" for c in cells] for n, cells in columns.items()}
    return {
        "nothing_wrong": Nasty(text(measured(wrong=set())).encode(), wrong=set()),
        "codes_not_asked": Nasty(text(codes).encode(), notes="--missing -200"),
        "codes_asked": Nasty(text(codes).encode(), wrong=WRONG | coded, options=("--missing", "-200")),
        "codes_of_a_column": Nasty(
            text(codes).encode(), wrong=WRONG | coded, options=("--missing", "q3=-200")
        ),
        "codes_guessed": Nasty(text(codes).encode(), wrong=WRONG | coded, options=("--guess",)),
        "gaps": Nasty(text(gaps).encode(), wrong=WRONG | set(holes)),
        "words": Nasty(text(words).encode(), wrong=WRONG | set(bad)),
        "word_as_code": Nasty(
            text(words).encode(), wrong=WRONG | set(bad), options=("--missing", "error")
        ),
        "counts": Nasty(text(counts).encode()),
        "skipped": Nasty(
            text(columns).encode(), wrong=WRONG - {(10, "q0")}, kept={"q0"}, options=("--skip", "q0")
        ),
        "stars_asked": Nasty(
            text({"stars": stars, **columns}).encode(),
            wrong=WRONG | {(20, "stars")},
            options=("--include", "stars"),
        ),
        "limits": Nasty(
            text(humid).encode(), wrong=WRONG | {(50, "q1")}, options=("--limits", "q1=0:100")
        ),
        "one_code_of_two": Nasty(
            text(two_codes).encode(),
            wrong=WRONG | coded,
            options=("--missing", "-200"),
            notes="--missing -999",
        ),
        "codes_outside_of_limits": Nasty(
            text(two_codes).encode(), wrong=WRONG | coded | other, options=("--limits", "q3=-90:900")
        ),
        "powers_of_ten": Nasty(text(powers).encode()),
        "one_name_for_text_and_numbers": Nasty(
            text({"a": ["w"] * ROWS, **columns}).replace("q0", "a", 1).encode(),
            wrong=WRONG - {(10, "q0")} | {(10, "a")},
        ),
        "one_name_twice": Nasty(
            text(columns).replace("q5", "q1", 1).encode(),
        ),
    }


def nasty_files():
    """All of them, by name."""
    extra = {name: _with_column(name, cells) for name, cells in _extra_columns().items()}
    together = {name: list(cells) for name, cells in _extra_columns().items() if name != "remark"}
    everything = Nasty(text({**together, **measured()}).encode(), kept=set(together))
    return extra | _heads() | _marked() | _styles() | _cells() | {"everything": everything}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for file_name, file in nasty_files().items():
        (folder / f"{file_name}.csv").write_bytes(file.content)
