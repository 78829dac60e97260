import pytest

from rnlmf import RNLMF
from rnlmf.fitting.settings import LearnerSettings, SolverOptions


def settings_of(**parameters):
    return LearnerSettings.of(RNLMF(**parameters).get_params(deep=False))


@pytest.mark.parametrize(
    ("kernel", "code_penalty", "possible"),
    [
        ("rbf", "l2", True),
        ("rbf", "l1", False),
        ("polynomial", "l2", False),
        ("linear", "nuclear", False),
    ],
)
def test_a_single_pass_needs_the_gaussian_kernel_and_squares(kernel, code_penalty, possible):
    names = {"kernel": kernel, "code_penalty": code_penalty}
    assert settings_of(**names).method() == ("single-pass" if possible else "paper")
    assert settings_of(**names, solver="paper").method() == "paper"
    if possible:
        assert settings_of(**names, solver="single-pass").method() == "single-pass"
    else:
        with pytest.raises(ValueError, match="solver='single-pass' needs"):
            settings_of(**names, solver="single-pass").method()


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "newton"},
        {"momentum": "zero"},
        {"momentum": 1.0},
        {"momentum": -0.1},
        {"step_damping": 0.9},
        {"curvature_shift": -1e-3},
        {"dictionary_step": "other"},
    ],
    ids=str,
)
def test_options_of_the_solver_have_a_range(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=f"{name}=.* of the solver is out of range"):
        SolverOptions(**wrong).validate()


def test_options_at_the_ends_of_their_range_will_do():
    SolverOptions("paper", 0.0, 1.0, 0.0, "newton").validate()
    SolverOptions().validate()


def test_noise_that_adapts_is_known_by_its_name():
    assert settings_of(noise_penalty="adaptive").adaptive
    assert not settings_of(noise_penalty="l1").adaptive
    with pytest.raises(ValueError, match="not a sum over samples"):
        settings_of(noise_penalty=settings_of(code_penalty="nuclear").code_penalty)


def test_defaults_are_those_of_the_estimator():
    assert LearnerSettings().adaptive is settings_of().adaptive
    assert LearnerSettings().dictionary_penalty is settings_of().dictionary_penalty


@pytest.mark.parametrize("method", ["single-pass", "paper"])
def test_what_is_taken_by_default_may_be_given_too(method):
    taken = settings_of(solver=method).options()
    given = SolverOptions(method, taken.momentum, taken.step_damping, taken.curvature_shift)
    given.validate()
    assert settings_of(solver=given).options() == taken
