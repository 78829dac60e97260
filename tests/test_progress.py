import io

import numpy as np
import pytest

from rnlmf import RNLMF
from rnlmf import progress as module
from rnlmf.progress import Lines, progress


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(module, "LINE_SECONDS", 0.0)


@pytest.mark.usefixtures("at_once")
def test_lines_tell_every_stage_and_every_step():
    said = []
    report = Lines(said.append)
    report("judging", None)
    for share in np.linspace(0.0, 1.0, 101):
        report("fitting", float(share))
    assert said[:3] == ["judging\n", "fitting: 0%\n", "fitting: 10%\n"]
    assert len(said) in (11, 12)


def test_lines_are_not_too_many():
    said = []
    report = Lines(said.append)
    for share in np.linspace(0.0, 1.0, 101):
        report("fitting", float(share))
    assert said == ["fitting: 0%\n"]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("opinions", ["auto", "dictionary"])
def test_a_fit_tells_how_far_it_is(curved, capsys, opinions):
    _, noisy = curved
    RNLMF(5, opinions=opinions, max_iter=20, random_state=0, verbose=True).fit(noisy)
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert ("judging cells" in lines) == (opinions == "auto")
    for stage in ("choosing parameters", "fitting"):
        shares = [int(line.split(": ")[1][:-1]) for line in lines if line.startswith(stage)]
        assert len(shares) > 2
        assert shares == sorted(shares)
        assert 0 <= min(shares) <= max(shares) <= 100


def test_it_is_silent_unless_it_is_wanted(curved, capsys):
    RNLMF(5, opinions="dictionary", max_iter=3, random_state=0).fit(curved[1])
    assert capsys.readouterr().err == ""


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_in_a_terminal(monkeypatch):
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress(1) as report:
        report("judging", None)
        report("choosing parameters", 0.42)
    assert "choosing parameters" in screen.getvalue()
    assert "42%" in screen.getvalue()
