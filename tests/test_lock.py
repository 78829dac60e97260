"""The versions that `make` installs: of all that pyproject.toml asks for, and from no place by name."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
# Extras that are not locked, because they bring PyTorch.
FREE = ("torch", "bench")


def wanted():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = project["dependencies"] + [
        line for extra, some in extras.items() if extra not in FREE for line in some
    ]
    return sorted({line for line in lines if not line.startswith("rnlmf[")})


def locked():
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return [Requirement(line) for line in lines if line]


@pytest.mark.parametrize("line", wanted())
def test_what_is_asked_for_is_locked_in_a_version_that_will_do(line):
    asked = Requirement(line)
    found = [r for r in locked() if canonicalize_name(r.name) == canonicalize_name(asked.name)]
    assert found
    for requirement in found:
        (pin,) = requirement.specifier
        assert pin.operator == "=="
        assert asked.specifier.contains(pin.version)


def test_the_lock_names_no_place():
    text = (ROOT / "requirements.lock").read_text()
    assert "://" not in text
    assert "--" not in text
