import json
import struct
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import rnlmf
from rnlmf import (
    RNLMF,
    RNLMFClustering,
    RNLMFOutlierDetector,
    load,
    save,
)
from rnlmf.datasets import corrupt_entries
from rnlmf.estimators import persistence
from rnlmf.estimators.model_classes import CLASSES
from rnlmf.io import FileError
from rnlmf.kernels import RBF, Polynomial

ALONE = {"opinions": "dictionary", "random_state": 0}
SETTINGS = {
    "default": RNLMF(10, random_state=0),
    "polynomial": RNLMF(10, kernel=Polynomial(degree=3), max_iter=20, **ALONE),
    "noise everywhere": RNLMF(10, kernel_scale=1.0, noise_weight=1e-9, random_state=0),
    "own width": RNLMF(10, kernel=RBF(sigma=2.0), noise_penalty="l21", random_state=0),
    "nuclear": RNLMF(10, code_penalty="nuclear", max_iter=20, **ALONE),
    "lasso": RNLMF(10, code_penalty="l1", noise_penalty="l2", random_state=0, max_iter=20),
    "dictionary": RNLMF(10, dictionary_penalty="l2", dictionary_weight=0.1, **ALONE),
}


def short(model):
    """The estimator with few iterations."""
    limits = [name for name in model.get_params() if name.endswith("max_iter")]
    return model.set_params(**dict.fromkeys(limits, 3))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture(scope="module")
def content(curved, tmp_path_factory):
    """Of the file of a model."""
    file = tmp_path_factory.mktemp("models") / "model.safetensors"
    save(RNLMF(5, max_iter=5, **ALONE).fit(curved[1]), file)
    return file.read_bytes()


@pytest.mark.parametrize("model", SETTINGS.values(), ids=SETTINGS.keys())
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_loaded_model_does_the_same(model, dtype, curved, file):
    noisy = curved[1].astype(dtype)
    model.fit(noisy)
    save(model, file)
    again = load(file)
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    for old, new in zip(model.split(noisy[:50]), again.split(noisy[:50]), strict=True):
        np.testing.assert_array_equal(new, old)
    np.testing.assert_array_equal(again.components_, model.components_)
    assert again.fit(noisy).n_iter_ == model.n_iter_


@pytest.mark.parametrize(
    "name", [name for name in rnlmf.__all__ if isinstance(getattr(rnlmf, name), type)]
)
def test_every_estimator_can_be_saved(name, file, curved):
    kind = getattr(rnlmf, name)
    if not hasattr(kind, "fit"):
        pytest.skip("not an estimator")
    model = short(kind(RNLMF()) if kind is RNLMFOutlierDetector else kind()).fit(curved[1][:40])
    save(model, file)
    again = load(file)
    check_is_fitted(again)
    assert set(vars(again)) == set(vars(model))


def test_feature_names_and_remarks_are_in_the_header(file, curved):
    frame = pd.DataFrame(curved[1], columns=[f"c{i}" for i in range(12)])
    model = RNLMF(5, callback=print, max_iter=2, **ALONE)
    model.callback = None
    save(model.fit(frame), file, about={"source": "x.csv"})
    header = persistence.read_header(file)
    assert header["feature_names"] == list(frame.columns)
    assert header["n_features"] == 12
    assert header["about"] == {"source": "x.csv"}
    assert header["parameters"]["n_components"] == 5
    assert header["rnlmf"] == rnlmf.__version__
    assert list(load(file).denoise(frame).columns) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        load(file).denoise(frame.rename(columns={"c0": "other"}))


def test_live_objects_are_left_out(file, curved):
    live = {"random_state": np.random.RandomState(0), "callback": lambda info: None}
    model = RNLMF(5, opinions="dictionary", max_iter=5, **live)
    save(model.fit(curved[1]), file)
    again = load(file)
    assert again.callback is None
    assert again.random_state is None


def test_what_is_not_fitted_or_foreign_is_refused(file, curved):
    class Mine(RBF):
        pass

    with pytest.raises(NotFittedError):
        save(RNLMF(), file)
    with pytest.raises(ValueError, match="Mine cannot be found again by its name"):
        save(RNLMF(5, kernel=Mine(), max_iter=2, **ALONE).fit(curved[1]), file)
    assert not file.exists()


@pytest.mark.parametrize("length", [0, 5, 100, 0.5, -1])
def test_a_file_that_was_cut_off(file, content, length):
    file.write_bytes(content[: length if isinstance(length, int) else int(length * len(content))])
    with pytest.raises(FileError, match="not a model file, or cut off"):
        load(file)


def test_foreign_files(file, tmp_path):
    with pytest.raises(FileError, match="no such model file"):
        load(file)
    file.write_bytes(b"\x80\x04\x95 this could be a pickle")
    with pytest.raises(FileError, match="not a model file"):
        load(file)
    save_file({"weight": np.zeros(3)}, file)
    with pytest.raises(FileError, match="not a model of rnlmf"):
        load(file)


def edited(file, change):
    """Rewrite the header of a model file."""
    content = file.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    outer = json.loads(content[8 : 8 + length])
    inner = json.loads(outer["__metadata__"]["rnlmf"])
    change(inner)
    # As files of older versions are: without a checksum, which would tell.
    inner.pop("sha256")
    outer["__metadata__"]["rnlmf"] = json.dumps(inner)
    new = json.dumps(outer).encode()
    file.write_bytes(struct.pack("<Q", len(new)) + new + content[8 + length :])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header: header.update(format=99, rnlmf="9.0"), "saved by rnlmf 9.0, which is newer"),
        (lambda header: header.update(format=float("inf")), "not a model of rnlmf"),
        (lambda header: header["state"].update(object="os.system"), "no class 'os.system'"),
        (lambda header: header["state"]["fields"]["_model"]["fields"].pop("atoms"), "damaged"),
        (lambda header: header.update(n_features=3), "disagree"),
        (lambda header: header.pop("state"), "damaged"),
    ],
)
def test_tampered_headers(file, content, change, message):
    file.write_bytes(content)
    edited(file, change)
    with pytest.raises(FileError, match=message):
        load(file)


def _part(*keys):
    """A change of the field of that name of the state, to the last of the keys."""

    def change(header):
        *places, last, value = keys
        fields = header["state"]["fields"]
        for place in places:
            fields = fields[place]["fields"]
        fields[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_part("denoise", 5), "cannot have 'denoise'"),
        (_part("__class__", 5), "cannot have '__class__'"),
        (_part("max_iter", 10**18), "beyond"),
        (_part("_model", "max_iter", 10**18), "beyond"),
        (_part("_model", "units", "width", 0.0), "not positive"),
        (_part("_model", "units", "width", float("nan")), "not a number"),
        (_part("_model", "tol", "small"), "tol of FittedModel is a str"),
        (_part("_model", "atoms", 5), "atoms of FittedModel is a int"),
        (_part("_model", "atoms", {"tensor": "objective_"}), "damaged"),
        (_part("kernel_scale", -1.0), "kernel_scale"),
        (lambda header: header.update(about={"altered": "much"}), "not that of a model"),
        (lambda header: header.update(feature_names=["a"]), "disagree"),
        (lambda header: header.pop("class"), "damaged"),
    ],
)
def test_what_a_file_cannot_be_is_not_believed(file, content, change, message):
    file.write_bytes(content)
    edited(file, change)
    with pytest.raises(FileError, match=message):
        load(file)


def test_brackets_without_end_are_refused(file):
    nested = '{"list":[' * 400 + "]}" * 400
    for deep in ('{"format":1,"state":%s}' % nested, "[" * 100_000 + "]" * 100_000):  # noqa: UP031
        save_file({"weight": np.zeros(3)}, file, metadata={"rnlmf": deep})
        with pytest.raises(FileError):
            load(file)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(file, curved, value):
    model = RNLMF(5, random_state=0, max_iter=5).fit(curved[1])
    model.components_[0, 0] = value
    save(model, file)
    with pytest.raises(FileError, match="components_ is not finite"):
        load(file)


@pytest.mark.parametrize("change", [np.ravel, lambda atoms: np.zeros(atoms.shape, np.int16)])
def test_every_dictionary_must_be_able_to_treat_a_row(file, rng, change):
    """That of a fold is asked about samples that the model has learned from, and by no others."""
    turn = rng.uniform(0.0, 6.0, 150)
    curve = np.column_stack([f(k * turn) for k in (1, 2, 3) for f in (np.cos, np.sin)])
    model = RNLMF(30, random_state=0, max_iter=60).fit(corrupt_entries(curve, 0.1, random_state=0))
    (opinion,) = model._judge.panel.fellows.further
    object.__setattr__(opinion.without[-1], "atoms", change(opinion.without[-1].atoms))
    save(model, file)
    with pytest.raises(FileError, match="is damaged"):
        load(file)


@pytest.mark.parametrize("name", ["center", "unit", "slopes"])
def test_what_judges_rows_in_order_must_be_able_to(file, rng, name):
    """A trial on a few rows, the order of which tells nothing, would not see it."""
    t = np.linspace(0, 6, 40)
    X = np.sin(t[:, None] + np.arange(5)) + 0.01 * rng.normal(size=(40, 5))
    model = RNLMF(5, random_state=0, max_iter=5).fit(X)
    both = model._judge.panel.both
    object.__setattr__(both, name, np.append(getattr(both, name), 1.0))
    save(model, file)
    with pytest.raises(FileError, match="is damaged"):
        load(file)


def test_a_model_makes_the_same_file_each_time(content, file, tmp_path):
    file.write_bytes(content)
    model = load(file)
    contents = set()
    for _ in range(8):
        save(model, file)
        contents.add(file.read_bytes())
    assert len(contents) == 1


def test_a_flipped_bit_is_noticed(file, content, rng):
    start = 8 + struct.unpack("<Q", content[:8])[0]
    for place in rng.integers(start, len(content), 20):
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.integers(8)
        file.write_bytes(damaged)
        with pytest.raises(FileError, match="damaged"):
            load(file)


def test_parameters_that_older_versions_lacked_take_their_defaults(file, content):
    file.write_bytes(content)
    edited(file, lambda header: header["state"]["fields"].pop("solver"))
    assert load(file).solver == RNLMF().solver


def test_files_of_the_first_format_load(curved):
    """The stored file must load forever; it was fitted to the noisy curve of the fixture."""
    path = Path(__file__).parent / "models" / "format1.safetensors"
    clean, noisy = curved
    names = [f"c{i}" for i in range(12)]
    model = load(path)
    # There was a class that scaled the features for another model.
    assert type(model) is RNLMF
    assert (model.n_components, model.feature_scale) == (30, "robust")
    assert len(model.get_feature_names_out()) == 30
    assert persistence.read_header(path)["feature_names"] == names
    denoised = model.denoise(pd.DataFrame(noisy, columns=names))
    assert np.linalg.norm(denoised - clean) < 0.3 * np.linalg.norm(noisy - clean)


def test_fields_that_had_another_name_are_found(curved, file, monkeypatch):
    model = RNLMF(10, neighbor_share=0.25, noise_weight="scale", max_iter=5).fit(curved[1])
    new, then = "neighbor_share", "neighbors"
    for name in (new, f"{new}_"):
        vars(model)[name.replace(new, then)] = vars(model).pop(name)
    monkeypatch.setattr(RNLMF, "get_params", lambda self, deep=True: {})
    save(model, file)
    monkeypatch.undo()
    again = load(file)
    assert (again.neighbor_share, again.neighbor_share_) == (0.25, 0.25)
    assert not hasattr(again, then)


def test_every_class_of_the_format_exists():
    for location in CLASSES.values():
        module, _, name = location.partition(":")
        assert hasattr(import_module(module), name), location


def test_a_loaded_clustering_labels_new_samples(curved, file):
    model = RNLMFClustering(2, estimator=RNLMF(10, neighbor_share=0), random_state=0).fit(
        curved[1][:80]
    )
    save(model, file)
    np.testing.assert_array_equal(load(file).predict(curved[1][80:]), model.predict(curved[1][80:]))


def test_numbers_of_numpy_are_numbers(curved, file):
    model = RNLMF(np.int64(7), tol=np.float64(1e-3), **ALONE).fit(curved[1])
    save(model, file)
    again = load(file)
    assert (again.n_components, again.tol) == (7, 1e-3)
    np.testing.assert_array_equal(again.denoise(curved[1]), model.denoise(curved[1]))
