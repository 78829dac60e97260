import subprocess
import sys

import pytest

import rnlmf

HEAVY = ("numpy", "scipy", "sklearn", "pandas", "pyarrow", "matplotlib", "plotly", "numba", "PIL")


def test_help_names_every_command_and_has_examples(run):
    result = run("--help")
    assert result.exit_code == 0
    for command in ("denoise", "apply", "cluster", "info", "demo"):
        assert command in result.stdout
        help_text = run(command, "--help").stdout
        assert f"rnlmf {command}" in help_text
        assert "Example" in help_text


def test_version(run):
    assert run("--version").stdout.strip() == f"rnlmf {rnlmf.__version__}"


def test_help_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from rnlmf.cli.app import app\n"
        "assert CliRunner().invoke(app, ['denoise', '--help']).exit_code == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"


def test_importing_the_package_imports_nothing_heavy():
    code = f"import rnlmf, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"


def test_public_names_are_listed_once_and_found():
    assert sorted(rnlmf._HOME) == sorted(rnlmf.__all__)
    for name in rnlmf.__all__:
        assert getattr(rnlmf, name) is not None
        assert name in dir(rnlmf)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rnlmf.nothing


def test_runs_as_a_module():
    words = [sys.executable, "-m", "rnlmf", "info", "nothing.csv"]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert result.returncode == 3
    assert result.stderr.strip() == "error: nothing.csv: there is no such file or folder."


def test_without_the_extra_it_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from rnlmf.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "pip install 'rnlmf[cli]'" in result.stderr
