"""Docstrings of public names agree with the signatures, by the checks of numpydoc."""

import dataclasses
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import rnlmf

validate = pytest.importorskip("numpydoc.validate").validate

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
# Parameters that are not documented, that do not exist, or that come in another order; no summary;
# sections that numpydoc does not know, or in another order than its own.
# Its one parameter is that of all kernels, which says so.
ELSEWHERE = {"rnlmf.kernels.Linear"}
CHECKS = {"PR01", "PR02", "PR03", "SS01", "GL06", "GL07"}


def public_names():
    """What the reference lists, and the public methods of its classes."""
    for name in re.findall(r"^   ([a-zA-Z_][\w.]*)$", PAGE.read_text(), re.M):
        full = f"rnlmf.{name}"
        yield full
        module, _, attribute = full.rpartition(".")
        value = getattr(importlib.import_module(module), attribute)
        if inspect.isclass(value):
            # Those of its own bases too: methods of an estimator need not stand in one file.
            for method, function in inspect.getmembers(value, inspect.isfunction):
                if not method.startswith("_") and function.__module__.startswith("rnlmf"):
                    yield f"{function.__module__}.{function.__qualname__}"


def lists_parameters(name):
    """A class with a constructor of its own does; a sentence may say all there is of a function."""
    module, _, attribute = name.rpartition(".")
    try:
        value = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError:
        return False
    own = inspect.isclass(value) and "__init__" in vars(value)
    return own and name not in ELSEWHERE and not dataclasses.is_dataclass(value)


@pytest.mark.parametrize("name", sorted(set(public_names())))
def test_docstring_agrees_with_the_signature(name):
    found = validate(name)
    wanted = CHECKS
    if "Parameters\n" not in found["docstring"] and not lists_parameters(name):
        wanted = CHECKS - {"PR01"}
    assert [error for error in found["errors"] if error[0] in wanted] == []


@pytest.mark.parametrize("name", sorted(set(public_names())))
def test_functions_and_methods_are_typed(name):
    value = pkgutil.resolve_name(name)
    # Constructors only store their parameters, which have checks of their own.
    if inspect.isfunction(value):
        signature = inspect.signature(value)
        given = [p.annotation for p in signature.parameters.values() if p.name != "self"]
        assert inspect.Parameter.empty not in (*given, signature.return_annotation)


def test_the_reference_lists_every_public_name():
    listed = {name for name in public_names() if name.count(".") == 1}
    assert {f"rnlmf.{name}" for name in rnlmf.__all__} <= listed
