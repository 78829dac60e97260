"""Every nasty file: what is read, kept and changed, cell by cell."""

import csv
import io

import pytest
from typer.testing import CliRunner

from nasty_files import nasty_files
from rnlmf.cli.app import app

FILES = nasty_files()


def spans(text, delimiter):
    """Records of a text, each a list of where its cells are; empty lines are none."""
    records, cells, start, inside = [], [], 0, False
    for place, letter in enumerate(text):
        if letter == '"':
            inside = not inside
        elif inside:
            continue
        elif letter == delimiter:
            cells.append((start, place))
            start = place + 1
        elif letter in "\r\n":
            if cells or place > start:
                records.append([*cells, (start, place)])
            cells, start = [], place + 1
    if cells or start < len(text):
        records.append([*cells, (start, len(text))])
    return records


def table(file, content):
    """Names and rows of cells without quotes, and where they are."""
    text = content.decode(file.encoding)
    lines = text.splitlines(keepends=True)
    offset = sum(map(len, lines[: file.skipped_lines]))
    end = len(text) - sum(map(len, lines[len(lines) - file.below :]))
    records = spans(text[offset:end], file.delimiter)
    places = [[(a + offset, b + offset) for a, b in record] for record in records]
    cells = [[text[a:b].strip().strip('"').strip() for a, b in record] for record in places]
    if file.header:
        names = [name.lstrip("#") for name in cells[file.named]]
        return text, names, cells[file.head :], places[file.head :]
    return text, [f"x{i}" for i in range(len(cells[0]))], cells, places


def run(file, tmp_path, *options):
    source, target, changes = (tmp_path / name for name in ("in.csv", "out.csv", "changes.csv"))
    source.write_bytes(file.content)
    words = ["denoise", source, "-o", target, "--changes", changes, *file.options, *options]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    with open(changes, newline="") as listed:
        return result, target.read_bytes(), list(csv.DictReader(listed))


def test_there_are_many():
    assert len(FILES) >= 30


@pytest.mark.parametrize("name", FILES)
def test_cell_by_cell(name, tmp_path, judge):
    file = FILES[name]
    result, content, changes = run(file, tmp_path)
    _, names, before, _ = table(file, file.content)
    _, same_names, after, _ = table(file, content)
    assert names == same_names
    changed = {
        (row, names[column])
        for row, cells in enumerate(before)
        for column, cell in enumerate(cells)
        if cell != after[row][column]
    }
    assert changed == file.wrong
    listed = {(int(change["row"]) - 1, change["column"].partition(" (column")[0]) for change in changes}
    assert listed == file.wrong
    assert file.notes in " ".join(result.stderr.split())


@pytest.mark.parametrize("name", FILES)
def test_the_list_backwards_gives_the_input_byte_by_byte(name, tmp_path, judge):
    file = FILES[name]
    _, content, changes = run(file, tmp_path)
    text, names, _, places = table(file, content)
    for change in reversed(changes):
        name, _, number = change["column"].partition(" (column ")
        column = int(number[:-1]) - 1 if number else names.index(name)
        start, end = places[int(change["row"]) - 1][column]
        cell = text[start:end]
        assert change["after"] in cell
        text = text[:start] + cell.replace(change["after"], change["before"]) + text[end:]
    assert text.encode(file.encoding) == file.content


@pytest.mark.parametrize("name", [name for name, file in FILES.items() if file.kept])
def test_nothing_changes_in_what_is_kept_whatever_the_model_says(name, tmp_path, judge):
    judge.everything = True
    file = FILES[name]
    _, content, changes = run(file, tmp_path)
    _, names, before, _ = table(file, file.content)
    _, _, after, _ = table(file, content)
    for column in file.kept:
        position = names.index(column)
        assert [row[position] for row in after] == [row[position] for row in before]
    assert not file.kept & {change["column"] for change in changes}
    assert {"q1", "q2"} <= {change["column"] for change in changes}


def test_a_rating_stays_on_its_scale_and_a_count_whole(tmp_path, judge):
    judge.everything = True
    file = FILES["stars_asked"]
    _, content, _ = run(file, tmp_path)
    _, names, after, _ = table(file, content)
    assert {row[names.index("stars")] for row in after} <= set("12345")
    (tmp_path / "counts").mkdir()
    file = FILES["counts"]
    _, content, _ = run(file, tmp_path / "counts")
    assert all(cell.isdigit() for row in table(file, content)[2] for cell in row)


def test_kinds_of_changes(tmp_path, judge):
    for name, kind in {"gaps": "filled", "codes_asked": "code", "words": "repaired"}.items():
        (tmp_path / name).mkdir()
        _, _, changes = run(FILES[name], tmp_path / name)
        kinds = {change["kind"] for change in changes}
        assert kinds == {"repaired", kind}
        for change in changes:
            assert (change["probability"] == "") == (change["kind"] in ("filled", "code"))
            assert change["kind"] != "repaired" or float(change["probability"]) > 0.5


@pytest.mark.parametrize("name", ["nothing_wrong", "everything", "decimal_comma"])
def test_the_model_itself(name, tmp_path):
    file = FILES[name]
    _, content, _ = run(file, tmp_path, "--set", "n_components=12")
    before, after = table(file, file.content)[2], table(file, content)[2]
    names = table(file, content)[1]
    changed = {
        (i, names[j])
        for i, row in enumerate(before)
        for j, cell in enumerate(row)
        if cell != after[i][j]
    }
    assert changed == file.wrong


def test_the_same_file_packed(tmp_path, judge):
    import gzip
    import zipfile

    content = FILES["semicolons"].content
    with gzip.open(tmp_path / "in.csv.gz", "wb") as packed:
        packed.write(content)
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr("inside.csv", content)
    (tmp_path / "in.csv").write_bytes(content)
    outputs = []
    for source, target in {"in.csv": "a.csv", "in.csv.gz": "b.csv.gz", "in.zip": "c.csv.zip"}.items():
        words = ["denoise", str(tmp_path / source), "-o", str(tmp_path / target)]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
    outputs = [
        (tmp_path / "a.csv").read_bytes(),
        gzip.decompress((tmp_path / "b.csv.gz").read_bytes()),
        zipfile.ZipFile(io.BytesIO((tmp_path / "c.csv.zip").read_bytes())).read("c.csv"),
    ]
    assert outputs[0] == outputs[1] == outputs[2] != content
