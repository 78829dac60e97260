"""Code that the documentation shows but does not run."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rnlmf import RNLMF, RNLMFClustering
from rnlmf.cli.app import app
from rnlmf.kernels import KERNELS
from rnlmf.metrics import relative_rmse
from rnlmf.penalties import CODE_PENALTIES, NOISE_PENALTIES

ROOT = Path(__file__).parents[1]
# So that the commands take no time.
SMALL = ["--set", "n_components=10", "--set", "max_iter=10"]


@pytest.fixture
def extended():
    """What the page on extending defines, registered for the length of a test."""
    page = (ROOT / "docs/extend.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    names = {}
    for code in blocks[:2]:
        exec(code, names)
    yield names
    for family, name in (
        (KERNELS, "cauchy"),
        (CODE_PENALTIES, "positive"),
        (NOISE_PENALTIES, "positive"),
    ):
        del family[name]


def test_the_penalty_of_the_page_on_extending_is_one(extended, rng):
    penalty = extended["Positive"]()
    M, t = rng.normal(size=(20, 4)), 0.3
    best = penalty.prox(M, t)

    def objective(Z):
        return 0.5 * ((Z - M) ** 2).sum(axis=1) + t * penalty.row_values(Z)

    for _ in range(50):
        other = np.maximum(best + 0.1 * rng.normal(size=M.shape), 0.0)
        assert np.all(objective(best) <= objective(other) + 1e-12)
    np.testing.assert_allclose(penalty.value(3.0 * best), 3.0**penalty.degree * penalty.value(best))


@pytest.mark.parametrize("solver", ["auto", "paper"])
@pytest.mark.parametrize("parameters", [{"kernel": "cauchy"}, {"noise_penalty": "positive"}])
def test_the_classes_of_the_page_on_extending_remove_noise(extended, parameters, solver, curved):
    clean = curved[0]
    specks = np.where(np.random.default_rng(2).random(clean.shape) < 0.1, clean + 2.0, clean)
    model = RNLMF(
        30,
        kernel_scale=1.0,
        noise_weight="scale",
        max_iter=60,
        solver=solver,
        random_state=0,
        **parameters,
    )
    cleaned = model.fit_denoise(specks)
    assert relative_rmse(clean, cleaned) < 0.8 * relative_rmse(clean, specks)
    if "noise_penalty" in parameters:
        assert np.all(model.noise(specks) >= 0.0)


def test_readme_names_what_exists():
    text = (ROOT / "README.md").read_text()
    for path in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / path).exists(), path
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    assert set(re.findall(r"`?make ([a-z-]+)", text)) <= set(targets)


def test_commands_of_the_readme_run_as_they_stand(tmp_path, monkeypatch):
    commands = [
        line.partition("#")[0].split()[1:]
        for line in (ROOT / "README.md").read_text().splitlines()
        if line.startswith("rnlmf ")
    ]
    assert len(commands) > 3
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    monkeypatch.chdir(tmp_path)
    for words in commands:
        result = CliRunner().invoke(
            app, [*words, *(SMALL if words[0] in ("denoise", "detect") else [])]
        )
        assert result.exit_code == 0, result.output


def test_samples_are_what_their_script_makes(tmp_path):
    shutil.copy(ROOT / "samples" / "make.py", tmp_path)
    subprocess.run([sys.executable, tmp_path / "make.py"], check=True)
    for name in ("weather.csv", "next_week.csv"):
        assert (tmp_path / name).read_bytes() == (ROOT / "samples" / name).read_bytes()


QUICK = RNLMF(4, noise_weight="scale", max_iter=5)


@pytest.mark.parametrize("model", [QUICK, RNLMFClustering(2, estimator=QUICK)])
def test_notebooks_show_parameters_and_results(model, curved):
    assert "n_components" in model._repr_html_()
    shown = model.fit(curved[1][:50])._repr_html_()
    assert type(model).__name__ in shown
    assert "Fitted" in shown
