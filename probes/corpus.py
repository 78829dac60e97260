"""A small file of every format that can be read, made anew each time from one seed."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import numpy as np

ROWS = 40


def numbers() -> np.ndarray:
    """Columns that belong together, with a few errors."""
    rng = np.random.default_rng(0)
    t = np.linspace(0, 6, ROWS)
    X = np.column_stack([10 + 3 * np.sin(t + k) for k in range(5)]) + 0.01 * rng.normal(size=(ROWS, 5))
    X[7, 2] += 40
    X[21, 0] -= 30
    return X


def make(folder: Path) -> dict[str, Path]:
    """Write the files; by format."""
    import openpyxl
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet
    import scipy.io
    from PIL import Image

    X = numbers()
    names = [f"q{k}" for k in range(X.shape[1])]
    lines = [",".join(["day", *names])]
    lines += [
        ",".join([f"2024-01-{i % 28 + 1:02d}", *(f"{v:.3f}" for v in row)]) for i, row in enumerate(X)
    ]
    text = "\n".join(lines) + "\n"
    pixels = np.clip(20 * X, 0, 255).astype(np.uint8)
    pages = [Image.fromarray(np.tile(row, (4, 1))) for row in pixels[:12]]
    table = pa.table(
        {"day": [line.partition(",")[0] for line in lines[1:]], **dict(zip(names, X.T, strict=True))}
    )
    files = {
        kind: folder / name
        for kind, name in {
            "csv": "t.csv",
            "tsv": "t.tsv",
            "jsonl": "t.jsonl",
            "xlsx": "t.xlsx",
            "parquet": "t.parquet",
            "feather": "t.feather",
            "npy": "t.npy",
            "npz": "t.npz",
            "mat": "t.mat",
            "amc": "t.amc",
            "tiff": "t.tiff",
            "images": "frames",
            "gz": "t.csv.gz",
            "zip": "t.csv.zip",
        }.items()
    }
    files["csv"].write_text(text)
    quoted = [
        line.replace("2024", '"20""24').replace("\t", '"\t', 1)
        for line in text.replace(",", "\t").splitlines()
    ]
    files["tsv"].write_text("\n".join(quoted) + "\n")
    rows = [dict(zip(names, map(float, row), strict=True)) for row in X.round(3)]
    files["jsonl"].write_text("".join(json.dumps(row) + "\n" for row in rows))
    book = openpyxl.Workbook()
    for row in [names, *X.tolist()]:
        book.active.append(row)
    book.save(files["xlsx"])
    pyarrow.parquet.write_table(table, files["parquet"])
    pyarrow.feather.write_feather(table, files["feather"])
    np.save(files["npy"], X)
    np.savez_compressed(files["npz"], X=X, y=np.arange(ROWS))
    scipy.io.savemat(files["mat"], {"X": X, "names": np.array(names, dtype=object)})
    frames = [
        f"{i + 1}\nroot {' '.join(f'{v:.4f}' for v in row[:3])}\nhead {row[3]:.4f} {row[4]:.4f}\n"
        for i, row in enumerate(X)
    ]
    files["amc"].write_text(":FULLY-SPECIFIED\n:DEGREES\n" + "".join(frames))
    pages[0].save(
        files["tiff"], save_all=True, append_images=pages[1:], compression="tiff_adobe_deflate"
    )
    files["images"].mkdir()
    for i, page in enumerate(pages):
        page.save(files["images"] / f"{i}.png")
    files["gz"].write_bytes(gzip.compress(text.encode(), mtime=0))
    with zipfile.ZipFile(files["zip"], "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("t.csv"), text)
    return files
