import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import rnlmf

HEAVY = ("numpy", "scipy", "sklearn", "pandas", "pyarrow", "matplotlib", "plotly", "numba", "PIL")


def test_help_names_every_command_and_has_examples(run):
    result = run("--help")
    assert result.exit_code == 0
    for command in ("denoise", "detect", "apply", "cluster", "info", "demo"):
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
    assert (
        result.stderr.strip() == "error: nothing.csv: there is no such file or folder; check the name."
    )


def test_without_the_extra_it_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from rnlmf.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "pip install 'rnlmf[cli]'" in result.stderr


@pytest.mark.parametrize("name", ["x" * 300 + ".csv", "loop.csv", "sub/in.csv"])
def test_paths_that_cannot_be_followed_take_one_line(run, table, name):
    os.symlink("loop.csv", "loop.csv")
    Path("sub").write_text("a file")
    for words in (("info", name), ("denoise", name, "-o", "o.csv"), ("denoise", table, "-o", name)):
        result = run(*words)
        assert result.exit_code == 3, result.output
        assert result.stderr.startswith("error:")
        assert result.stderr.count("\n") == 1


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("setting", ["init={}", "kernel_scale=1e-300"])
def test_settings_that_cannot_work_are_wrong_usage(run, table, setting):
    alone = ("--set", "opinions=dictionary")
    result = run("denoise", table, "-o", "o.csv", "--set", setting, *alone)
    assert result.exit_code in (2, 3), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_what_is_printed_cannot_steer_the_terminal(run):
    Path("in.csv").write_text("a\x1b[31mb,c\n1.5,2.5\n2.5,9.5\n9.5,3.5\n")
    result = run("info", "in.csv")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    assert "a\\x1b[31mb" in result.output


def test_json_has_no_nan(run):
    np.save("in.npy", np.full((3, 2), np.nan))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = run("info", "in.npy", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout, parse_constant=pytest.fail)["least_value"] is None


def test_ctrl_c_while_a_command_is_imported(monkeypatch):
    from rnlmf import cli

    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("rnlmf.cli.app.app", interrupt)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 130
