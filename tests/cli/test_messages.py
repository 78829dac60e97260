"""Every message of the command line names the file, the column or row, and what to do."""

import ast
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rnlmf
from rnlmf import RNLMF, save
from rnlmf.estimators import persistence
from rnlmf.io import files

SOURCE = Path(rnlmf.__file__).parent
REMEDY = re.compile(
    r"\b[Pp]ass\b|--[a-z]|\b(write|save|name it|make|[Cc]opy|[Mm]end|fit anew|convert|check|change|"
    r"drop|move|unpack|upgrade|such as|give one)\b"
)
GOOD = "a,b,c\n" + "".join(f"{np.sin(i):.3f},{np.cos(i):.3f},{np.sin(i + 1):.3f}\n" for i in range(40))


def template(node):
    """The text of a message, with braces where something is put in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(template(part) for part in node.values)
    value = node.value if isinstance(node, ast.FormattedValue) else node
    return f"{{{ast.unparse(value)}}}"


# What others have said, and is passed on.
PASSED_ON = {
    "fitting": {"{str(error)}"},
    "reproduce": {"{str(error)}"},
    "packed": {"{error.message}"},
}
# What is put in as a whole.
WHOLE = {"{UNKNOWN}": files.UNKNOWN, "{SAVE_AGAIN}": persistence.SAVE_AGAIN}
# Where something is wrong, which must be said by name or number.
PLACE = re.compile(r"\b(column|line|row|sheet|bone|array|sample)\b")


def said():
    """All calls that say something of files and options, with the text as it stands in the source."""
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            name = getattr(node, "func", None)
            name = getattr(name, "id", getattr(name, "attr", None))
            if name not in ("FileError", "BadParameter"):
                continue
            message = template(node.args[-1])
            for part, whole in WHOLE.items():
                message = message.replace(part, whole)
            if message not in PASSED_ON.get(file.stem, ()):
                yield pytest.param(name, node, message, id=f"{file.stem}-{node.lineno}")


@pytest.mark.parametrize(("kind", "call", "message"), list(said()))
def test_a_message_says_what_is_wrong_where_and_what_to_do(kind, call, message):
    assert REMEDY.search(message) or message.startswith("must be"), message
    assert message.endswith((".", "?", "{}"))
    if kind == "FileError":
        # The file comes first.
        assert len(call.args) == 2
        assert not isinstance(call.args[0], ast.Constant)
    else:
        assert [keyword.arg for keyword in call.keywords] == ["param_hint"]
    if PLACE.search(message):
        assert "{" in message, message


# Files, words of the command, and what the one line must name.
CASES = {
    "nothing there": ({}, "denoise in.csv -o o.csv", ["in.csv", "check the name"]),
    "empty": ({"in.csv": ""}, "denoise in.csv -o o.csv", ["in.csv", "empty"]),
    "cut off": (
        {"in.csv": GOOD + "1.0,2.0\n"},
        "denoise in.csv -o o.csv",
        ["in.csv", "line 42", "cut off", "Mend"],
    ),
    "cut off below a title": (
        {"in.csv": "Station 7\nby hand\n" + GOOD + "1.0,2.0\n"},
        "denoise in.csv -o o.csv",
        ["in.csv", "line 44", "cut off", "Mend"],
    ),
    "cut off below an empty line": ({"in.csv": GOOD + "\n1.0\n"}, "info in.csv", ["line 43", "Mend"]),
    "two tables": (
        {"in.csv": GOOD + "\nand again\n" + GOOD},
        "info in.csv",
        ["in.csv", "line 44", "another file"],
    ),
    "open quotes": ({"in.csv": GOOD + '1.0,"2'}, "detect in.csv", ["in.csv", "line 42", "cut off"]),
    "header only": ({"in.csv": "a,b\n"}, "info in.csv", ["in.csv", "no rows"]),
    "one row": ({"in.csv": "a,b\n1.5,2.5\n"}, "denoise in.csv -o o.csv", ["in.csv", "more rows"]),
    "words only": ({"in.csv": "a,b\nx,y\nz,w\n"}, "info in.csv", ["in.csv", "'a' is text"]),
    "codes only": (
        {"in.csv": "a\n01\n02\n03\n"},
        "denoise in.csv -o o.csv",
        ["in.csv", "'a'", "leading zeros", "--include"],
    ),
    "not text": ({"in.csv": "a,b\n\0\0,1\n"}, "info in.csv", ["in.csv", "byte 4", "--encoding"]),
    "no such encoding": (
        {"in.csv": GOOD},
        "info in.csv --encoding klingon",
        ["in.csv", "'klingon'", "--encoding latin-1"],
    ),
    "no such column to skip": (
        {"in.csv": GOOD},
        "denoise in.csv -o o.csv --skip d",
        ["in.csv", "'d'", "--skip", "a, b, c"],
    ),
    "no such column to include": (
        {"in.csv": GOOD},
        "denoise in.csv -o o.csv --include d",
        ["in.csv", "'d'", "--include"],
    ),
    "text cannot be included": (
        {"in.csv": GOOD.replace("\n", ",w\n").replace("c,w", "c,word")},
        "denoise in.csv -o o.csv --include word",
        ["in.csv", "'word'", "text", "drop --include"],
    ),
    "no such column with limits": (
        {"in.csv": GOOD},
        "denoise in.csv -o o.csv --limits d=0:1",
        ["in.csv", "'d'", "--limits"],
    ),
    "no such column with codes": (
        {"in.csv": GOOD},
        "denoise in.csv -o o.csv --missing d=-1",
        ["in.csv", "'d'", "--missing"],
    ),
    "nothing left": (
        {"in.csv": GOOD},
        "denoise in.csv -o o.csv --limits a=5:6",
        ["in.csv", "'a'", "--skip 'a'"],
    ),
    "limits that are none": (
        {"in.csv": GOOD},
        "denoise in.csv -o o.csv --limits a=5",
        ["--limits", "a=5", "humidity=0:100"],
    ),
    "no output": ({"in.csv": GOOD}, "denoise in.csv", ["--output", "--dry-run"]),
    "over the input": ({"in.csv": GOOD}, "denoise in.csv -o in.csv", ["in.csv", "--overwrite"]),
    "over another file": (
        {"in.csv": GOOD, "o.csv": ""},
        "denoise in.csv -o o.csv",
        ["o.csv", "there already", "--overwrite"],
    ),
    "over a list": (
        {"in.csv": GOOD, "c.csv": ""},
        "denoise in.csv -o o.csv --changes c.csv",
        ["c.csv", "there already", "--overwrite"],
    ),
    "one file twice": (
        {"in.csv": GOOD},
        "denoise in.csv -o o.csv --changes o.csv",
        ["o.csv", "both OUT and --changes"],
    ),
    "a list of another kind": (
        {"in.csv": GOOD},
        "denoise in.csv -o o.csv --changes c.txt",
        ["c.txt", "--changes", ".csv"],
    ),
    "unknown output": ({"in.csv": GOOD}, "denoise in.csv -o o.doc", ["o.doc", ".csv"]),
    "no folder": ({"in.csv": GOOD}, "denoise in.csv -o no/o.csv", ["no/o.csv", "make it first"]),
    "not JSON": ({"in.jsonl": '{"a": 1}\n[2]\n'}, "info in.jsonl", ["in.jsonl", "line 2"]),
    "no archive": ({"in.csv.gz": "no"}, "info in.csv.gz", ["in.csv.gz", "not an archive"]),
    "no model": (
        {"in.csv": GOOD, "m.safetensors": "no"},
        "apply m.safetensors in.csv -o o.csv",
        ["m.safetensors", "rnlmf denoise --model"],
    ),
    "another table than the model's": (
        {"in.csv": GOOD.replace("b", "e", 1)},
        "apply model.safetensors in.csv -o o.csv",
        ["in.csv", "'b'", "model.safetensors", "fit anew"],
    ),
    "an unknown setting": (
        {"in.csv": GOOD},
        "denoise in.csv -o o.csv --set colour=blue",
        ["--set", "'colour=blue'", "kernel_scale"],
    ),
    "infinite": (
        {"in.npy": lambda path: np.save(path, np.where(np.eye(9), np.inf, 1.0))},
        "denoise in.npy -o o.npy",
        ["in.npy", "sample 0", "save NaN there"],
    ),
    "text in an array": (
        {"in.npy": lambda path: np.save(path, np.array([["a", "b"]]))},
        "info in.npy",
        ["in.npy", "not numbers", "pass an array of numbers"],
    ),
    "objects in an array": (
        {"in.npy": lambda path: np.save(path, np.array([{}, None]), allow_pickle=True)},
        "info in.npy",
        ["in.npy", "Python objects", "save numbers"],
    ),
    "several arrays": (
        {"in.npz": lambda path: np.savez(path, a=np.eye(3), b=np.eye(3))},
        "info in.npz",
        ["in.npz", "a", "b", "--key NAME"],
    ),
    "no such array": (
        {"in.npz": lambda path: np.savez(path, a=np.eye(3), b=np.eye(3))},
        "info in.npz --key c",
        ["in.npz", "'c'", "pass --key with one of"],
    ),
    "images of another size": (
        {"in.npy": lambda path: np.save(path, np.eye(9))},
        "info in.npy --image-shape 4x4",
        ["in.npy", "9 features", "4 x 4", "--image-shape"],
    ),
    "no such sheet": (
        {"in.xlsx": lambda path: pd.DataFrame({"a": [1.5, 2.5]}).to_excel(path)},
        "info in.xlsx --key Other",
        ["in.xlsx", "'Other'", "--key with Sheet1"],
    ),
    "two files in one": (
        {"in.zip": lambda path: shutil.make_archive(path.with_suffix(""), "zip", SOURCE / "cli")},
        "info in.zip",
        ["in.zip", "files", "unpack it"],
    ),
    "a wrong setting": (
        {"in.csv": GOOD},
        "denoise in.csv -o o.csv --set kernel_scale=-1",
        ["--set", "kernel_scale"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_line_names_what_is_wrong(case, run, tmp_path):
    files, words, named = CASES[case]
    for name, content in files.items():
        if callable(content):
            content(tmp_path / name)
        else:
            (tmp_path / name).write_text(content)
    if "model.safetensors" in words:
        frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=list("abc"))
        save(RNLMF(4, max_iter=3).fit(frame), "model.safetensors")
    before = sorted(tmp_path.iterdir())
    result = run(*words.split())
    assert result.exit_code in (2, 3), result.output
    said = re.sub(r"[│╭╮╰╯─\s]+", " ", result.stderr)
    for word in named:
        assert word in said, said
    assert sorted(tmp_path.iterdir()) == before
