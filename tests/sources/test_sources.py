"""One set of tests for every kind of rows that are not in memory."""

import logging
import pickle
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import make_blobs

from helpers import resident_bytes
from rnlmf import RNLMF, MiniBatchRNLMF, RNLMFClustering
from rnlmf.engine import source as engine_source
from rnlmf.estimators import large as estimators_large
from rnlmf.fitting import large
from rnlmf.io import FileError
from rnlmf.metrics import clustering_error, relative_rmse
from rnlmf.sources import arrays, row_source

SETTINGS = {"opinions": "dictionary", "kernel_scale": 0.5, "noise_weight": "scale", "random_state": 0}
KINDS = ["map", "npy", "parquet", "parts", "zarr"]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(engine_source, "PIECE_BYTES", 8 * 12 * 50)


@pytest.fixture
def store(tmp_path):
    """A matrix in a file of some kind, as it is passed to an estimator."""

    def store(X, kind):
        path = tmp_path / "rows"
        if kind in ("map", "npy"):
            np.save(path.with_suffix(".npy"), X)
            if kind == "npy":
                return path.with_suffix(".npy")
            return row_source(np.load(path.with_suffix(".npy"), mmap_mode="r"), large_map=0)
        if kind == "zarr":
            zarr = pytest.importorskip("zarr")
            array = zarr.create_array(
                path.with_suffix(".zarr"), shape=X.shape, chunks=(70, 5), dtype=X.dtype
            )
            array[:] = X
            return array
        columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
        columns["name"] = [f"row {i}" for i in range(len(X))]
        table = pa.table(columns)
        if kind == "parquet":
            pq.write_table(table, path.with_suffix(".parquet"), row_group_size=37)
            return str(path.with_suffix(".parquet"))
        pq.write_table(table[:90], tmp_path / "part-0.parquet", row_group_size=64)
        pq.write_table(table[90:], tmp_path / "part-1.parquet", row_group_size=64)
        return str(tmp_path / "part-*.parquet")

    return store


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_of_the_array(store, kind, rng):
    X = rng.standard_normal((200, 12))
    source = row_source(store(X, kind))
    assert source.shape == X.shape
    np.testing.assert_array_equal(source[:], X)
    for rows in (slice(30, 111), slice(0, 0), slice(None, None, 7), slice(190, 400)):
        np.testing.assert_array_equal(source[rows], X[rows])
    some = rng.permutation(200)[:33]
    np.testing.assert_array_equal(source[some], X[some])
    np.testing.assert_array_equal(source.part(slice(20, 120))[slice(10, 80)], X[30:100])
    np.testing.assert_allclose(source.mapped(np.exp)[50:60], np.exp(X[50:60]))
    np.testing.assert_allclose(source.total(lambda block: block.sum(axis=0)), X.sum(axis=0))
    covered = np.concatenate([np.arange(piece.start, piece.stop) for piece in source.pieces()])
    np.testing.assert_array_equal(covered, np.arange(200))
    again = pickle.loads(pickle.dumps(source)) if kind != "zarr" else source
    np.testing.assert_array_equal(again[5:9], X[5:9])


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_is_the_one_in_memory(store, kind, curved, tmp_path):
    noisy = curved[1]
    X = store(noisy, kind)
    here = RNLMF(20, **SETTINGS).fit(noisy)
    there = RNLMF(20, **SETTINGS).fit(X)
    np.testing.assert_allclose(there.components_, here.components_, rtol=1e-7, atol=1e-7)
    expected = here.denoise(noisy)
    np.testing.assert_allclose(there.denoise(X), expected, atol=1e-7)
    out = np.empty_like(noisy)
    assert there.denoise(X, out=out) is out
    np.testing.assert_allclose(out, expected, atol=1e-7)
    there.denoise(X, out=tmp_path / "out.npy")
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), expected, atol=1e-7)
    np.testing.assert_allclose(there.transform(X), here.transform(noisy), atol=1e-6)


def test_other_columns_of_parquet_are_carried_over(store, curved, tmp_path):
    noisy = curved[1]
    X = store(noisy, "parquet")
    model = RNLMF(20, **SETTINGS).fit(X)
    model.denoise(X, out=tmp_path / "clean.parquet")
    found = pq.read_table(tmp_path / "clean.parquet")
    assert found.column("name").to_pylist() == [f"row {i}" for i in range(len(noisy))]
    values = np.column_stack([found.column(f"x{j}").to_numpy() for j in range(noisy.shape[1])])
    np.testing.assert_allclose(values, model.denoise(X), atol=1e-12)
    assert model.feature_names_in_.tolist() == [f"x{j}" for j in range(12)]


def test_missing_values_and_robust_scales(store, curved, rng):
    gappy = np.where(rng.random(curved[1].shape) < 0.1, np.nan, curved[1])
    settings = {**SETTINGS, "feature_scale": "robust"}
    here, there = RNLMF(20, **settings).fit(gappy), RNLMF(20, **settings).fit(store(gappy, "parquet"))
    np.testing.assert_allclose(there.components_, here.components_, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("place", ["memory", "map", "anew"])
def test_the_state_of_samples_may_be_anywhere(store, curved, place, monkeypatch, caplog):
    clean, noisy = curved
    monkeypatch.setattr(large, "place_of_state", lambda shape, dtype: place)
    with caplog.at_level(logging.INFO, logger="rnlmf"):
        there = RNLMF(20, **SETTINGS).fit(store(noisy, "npy"))
    assert large.WORDS[place] in caplog.text
    here = RNLMF(20, **SETTINGS).fit(noisy)
    if place != "anew":
        np.testing.assert_allclose(there.components_, here.components_, atol=1e-8)
    error = relative_rmse(clean, there.denoise(noisy))
    assert error < 1.1 * relative_rmse(clean, here.denoise(noisy))


def test_the_place_follows_the_size(monkeypatch):
    from collections import namedtuple

    usage = namedtuple("usage", "free")
    monkeypatch.setattr(large.shutil, "disk_usage", lambda folder: usage(10 << 30))
    kind = np.dtype(np.float32)
    assert large.place_of_state((1000, 64), kind) == "memory"
    assert large.place_of_state((10_000_000, 64), kind) == "map"
    assert large.place_of_state((100_000_000, 64), kind) == "anew"


def test_mini_batches_come_from_files(store, curved):
    """The order of rows is another; the error is about that of a fit in memory."""
    clean, noisy = (np.concatenate(10 * [X]) for X in curved)
    errors = [
        relative_rmse(
            clean,
            MiniBatchRNLMF(
                40, kernel_scale=0.5, noise_weight="scale", batch_size=400, random_state=0
            ).fit_denoise(X),
        )
        for X in (store(noisy, "parquet"), noisy)
    ]
    assert errors[0] == pytest.approx(errors[1], rel=0.15)
    assert errors[0] < 0.5 * relative_rmse(clean, noisy)


def test_clusters_are_found_in_files(store, tmp_path):
    X, y = make_blobs(400, n_features=12, centers=4, random_state=0)
    file = store(X, "parquet")
    model = RNLMFClustering(4, n_landmarks=50, random_state=0).fit(file)
    assert clustering_error(y, model.labels_) < 0.05
    assert clustering_error(y, model.predict(file)) < 0.05
    expected = model.estimator_.denoise(X)
    np.testing.assert_allclose(model.denoise(file), expected, atol=1e-9)
    model.denoise(file, out=tmp_path / "clean.npy")
    np.testing.assert_allclose(np.load(tmp_path / "clean.npy"), expected, atol=1e-9)
    with pytest.raises(ValueError, match="landmarks"):
        RNLMFClustering(4, compare_with="samples").fit(file)


def test_rows_from_all_over_a_map_do_not_pile_up(tmp_path, monkeypatch):
    """A page that is touched brings its neighbours along."""
    np.save(tmp_path / "rows.npy", np.arange(20_000.0).reshape(10_000, 2))
    source = row_source(tmp_path / "rows.npy")
    rows, gone = np.arange(0, 10_000, 3), []
    monkeypatch.setattr(arrays, "let_go", lambda pages: gone.append(len(pages)))
    np.testing.assert_array_equal(source[rows], np.load(tmp_path / "rows.npy")[rows])
    assert len(gone) == -(-len(rows) // arrays.TAKEN_ROWS)
    assert sum(gone) >= 10_000 - 3 * len(gone)


def test_of_rows_from_all_over_a_map_few_pages_are_in_memory(tmp_path, monkeypatch):
    np.save(tmp_path / "rows.npy", np.ones((1 << 15, 512), np.float32))
    source = row_source(tmp_path / "rows.npy")
    resident, let_go = [], arrays.let_go

    def watched(pages):
        resident.append(resident_bytes(source.array))
        let_go(pages)

    monkeypatch.setattr(arrays, "let_go", watched)
    source[np.arange(0, 1 << 15, 32)]
    assert max(resident) <= 16 << 20


def test_who_judges_is_said(store, curved, caplog):
    with caplog.at_level("INFO", logger="rnlmf"):
        RNLMF(10, max_iter=2, kernel_scale=0.5, noise_weight="scale").fit(store(curved[1], "npy"))
    assert "by the dictionary alone" in caplog.text


def test_a_small_memory_map_is_an_array(tmp_path, curved):
    """As joblib makes them: whether there are opinions must not depend on it."""
    np.save(tmp_path / "rows.npy", curved[1])
    assert row_source(np.load(tmp_path / "rows.npy", mmap_mode="r")) is None
    assert row_source(curved[1]) is None


def test_large_pieces_are_treated_in_steps(store, curved, monkeypatch):
    model = RNLMF(10, max_iter=5, **SETTINGS).fit(curved[1])
    expected = model.denoise(curved[1])
    steps = []
    denoised = RNLMF._denoised
    monkeypatch.setattr(RNLMF, "_denoised", lambda *args: steps.append(1) or denoised(*args))
    monkeypatch.setattr(engine_source, "PIECE_BYTES", 1 << 20)
    monkeypatch.setattr(estimators_large, "STEP_BYTES", 8 * 12 * 70)
    np.testing.assert_allclose(model.denoise(store(curved[1], "npy")), expected, atol=1e-9)
    assert len(steps) == 3


def test_a_large_result_wants_a_place(store, curved, monkeypatch):
    model = RNLMF(10, max_iter=5, **SETTINGS).fit(curved[1])
    monkeypatch.setattr(estimators_large, "LARGEST_RESULT", 100)
    with pytest.raises(ValueError, match="out="):
        model.denoise(store(curved[1], "npy"))


class TestMistakes:
    def test_no_such_file(self):
        with pytest.raises(FileError, match="no such file"):
            RNLMF().fit("absent.npy")

    def test_a_file_of_another_kind(self, tmp_path):
        (tmp_path / "rows.txt").write_text("1 2 3")
        with pytest.raises(FileError, match="npy"):
            RNLMF().fit(tmp_path / "rows.txt")

    def test_a_damaged_file(self, tmp_path):
        (tmp_path / "rows.parquet").write_text("PAR1")
        with pytest.raises(FileError, match="damaged"):
            RNLMF().fit(tmp_path / "rows.parquet")

    def test_infinity(self, store, curved):
        X = curved[1].copy()
        X[7, 3] = np.inf
        with pytest.raises(ValueError, match="infinity"):
            RNLMF().fit(store(X, "npy"))

    @pytest.mark.parametrize(
        ("shape", "problem"), [((0, 3), "0 sample"), ((1, 3), "1 sample"), ((5, 0), "0 feature")]
    )
    def test_no_rows_or_no_columns(self, tmp_path, shape, problem):
        np.save(tmp_path / "rows.npy", np.zeros(shape))
        with pytest.raises(ValueError, match=problem):
            RNLMF().fit(tmp_path / "rows.npy")

    def test_other_features(self, store, curved):
        model = RNLMF(5, max_iter=5, **SETTINGS).fit(curved[1])
        with pytest.raises(ValueError, match="expecting 12"):
            model.denoise(store(curved[1][:, :5], "npy"))

    def test_a_mask(self, store, curved):
        with pytest.raises(ValueError, match="mask"):
            RNLMF().fit(store(curved[1], "npy"), mask=np.zeros(curved[1].shape, dtype=bool))

    def test_the_order_of_the_paper(self, store, curved):
        with pytest.raises(ValueError, match="single pass"):
            RNLMF(solver="paper", **SETTINGS).fit(store(curved[1], "npy"))

    def test_out_of_another_shape(self, store, curved):
        model = RNLMF(5, max_iter=5, **SETTINGS).fit(curved[1])
        with pytest.raises(ValueError, match="out has shape"):
            model.denoise(store(curved[1], "npy"), out=np.empty((3, 3)))

    def test_nothing_is_half_written(self, store, curved, tmp_path, monkeypatch):
        model = RNLMF(5, max_iter=5, **SETTINGS).fit(curved[1])
        X = store(curved[1], "npy")
        monkeypatch.setattr(model, "_denoised", lambda block: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model.denoise(X, out=tmp_path / "out.parquet")
        assert not (tmp_path / "out.parquet").exists()


def test_what_has_no_rows_of_numbers_is_refused(tmp_path):
    np.save(tmp_path / "words.npy", np.array([["a", "b"]]))
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    (tmp_path / "cut.npy").write_bytes(b"\x93NUMPY")
    np.savez(tmp_path / "several.npz", X=np.zeros((2, 2)))
    (tmp_path / "several.npz").rename(tmp_path / "several.npy")
    np.save(tmp_path / "objects.npy", np.array([[{}, None]]), allow_pickle=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "table.txt").write_text("1 2\n")
    for name, problem in [
        ("words.npy", "no numbers"),
        ("cube.npy", "3 dimensions"),
        ("cut.npy", "is not a NumPy file, or cut off"),
        ("several.npy", "is not a NumPy file"),
        ("objects.npy", "is not a NumPy file"),
        ("empty", "without Parquet files"),
        ("none*.parquet", "matches no file"),
        ("gone.npy", "no such file"),
        ("table.txt", "txt"),
    ]:
        with pytest.raises(ValueError, match=problem):
            row_source(tmp_path / name)


def why_refused(path):
    """What is said of a file that cannot be read; nothing if it can."""
    try:
        source = row_source(path)
        source.read(slice(0, len(source)))
    except ValueError as error:
        # A whole file of something else is no damaged one.
        if not isinstance(error, FileError) and not re.search("dimensions|no numbers", str(error)):
            raise
        return str(error)
    return ""


@pytest.mark.parametrize("kind", ["npy", "parquet", "zarr"])
def test_damaged_rows_are_read_or_refused(tmp_path, store, rng, kind):
    """Whatever a library raises on damaged content becomes an error about the file."""
    given = store(rng.integers(0, 9, (60, 4)).astype(float), kind)
    path = tmp_path / f"rows.{kind}"
    file = path / "zarr.json" if kind == "zarr" else path
    content, refused = file.read_bytes(), 0
    assert len(row_source(given)) == 60
    for trial in range(60):
        damaged = bytearray(content[: rng.integers(1, len(content))] if trial % 2 else content)
        for place in rng.integers(0, min(len(damaged), 400) if trial % 4 else len(damaged), 3):
            damaged[place] = rng.integers(0, 256)
        file.write_bytes(damaged)
        said = why_refused(path)
        assert "\n" not in said
        refused += bool(said)
    assert refused > 10


def test_files_by_folder_pattern_and_list(tmp_path):
    for number in range(3):
        table = pa.table({"a": np.full(4, float(number)), "b": np.arange(4.0)})
        pq.write_table(table, tmp_path / f"part{number}.parquet")
    files = sorted(tmp_path.glob("*.parquet"))
    for given in (tmp_path, tmp_path / "part*.parquet", files, row_source(files)):
        source = row_source(given)
        assert source.shape == (12, 2)
        np.testing.assert_array_equal(source.read(slice(3, 5)), [[0.0, 3.0], [1.0, 0.0]])
    assert row_source(np.zeros((3, 2))) is None
