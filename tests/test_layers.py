"""What may know of what, and names that stand once."""

import ast
from collections import defaultdict
from pathlib import Path

import rnlmf

SOURCE = Path(rnlmf.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


def _imports(file):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, name.name) for name in node.names)
        elif isinstance(node, ast.Import):
            yield from ((name.name, "") for name in node.names)


def test_private_names_of_scikit_learn_are_in_one_module():
    users = {
        file.relative_to(SOURCE).as_posix()
        for file in FILES
        for module, name in _imports(file)
        if module.partition(".")[0] == "sklearn"
        and any(part.startswith("_") for part in (*module.split("."), name))
    }
    assert users == {"validation.py"}


def test_every_room_is_in_the_guide_for_contributors():
    guide = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
    rooms = {f"{file.parent.name}/" for file in SOURCE.glob("*/__init__.py")}
    rooms |= {file.name for file in SOURCE.glob("*.py") if not file.name.startswith("__")}
    assert {room for room in rooms if room not in guide} == set()


def test_no_file_is_too_long_to_be_read_at_once():
    lengths = {file.name: len(file.read_text().splitlines()) for file in FILES}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_no_class_stands_twice():
    places = defaultdict(list)
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(file.relative_to(SOURCE).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_import_is_hidden_in_a_function_for_a_cycle():
    """The estimators can be imported in any order, each from the top of its file."""
    hidden = [
        (file.name, inner.module)
        for file in (SOURCE / "estimators").glob("*.py")
        for function in ast.walk(ast.parse(file.read_text()))
        if isinstance(function, ast.FunctionDef)
        for inner in ast.walk(function)
        if isinstance(inner, ast.ImportFrom) and str(inner.module).startswith("rnlmf.")
    ]
    assert hidden == []
