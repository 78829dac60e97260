import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from rnlmf import RNLMF, MiniBatchRNLMF, load
from rnlmf.cli import large
from rnlmf.cli.app import app
from rnlmf.metrics import relative_rmse
from rnlmf.sources.parquet import ParquetSource

SMALL = ["--set", "n_components=20", "--set", "kernel_scale=0.5", "--set", "noise_weight=scale"]


@pytest.fixture
def file(tmp_path, curved, monkeypatch):
    monkeypatch.setattr(large, "LARGE_FILE", 1)
    noisy = np.concatenate(10 * [curved[1]])
    columns = {f"x{j}": noisy[:, j] for j in range(noisy.shape[1])}
    table = pa.table({"name": [str(i) for i in range(len(noisy))], **columns})
    pq.write_table(table, tmp_path / "big.parquet", row_group_size=300)
    return tmp_path / "big.parquet"


def test_a_large_file_is_treated_by_row_group(file, tmp_path, curved):
    out, saved = tmp_path / "clean.parquet", tmp_path / "model.safetensors"
    result = CliRunner().invoke(
        app, ["denoise", str(file), "-o", str(out), "--model", str(saved), *SMALL]
    )
    assert result.exit_code == 0, result.output
    found = pq.read_table(out)
    assert found.column("name").to_pylist() == [str(i) for i in range(2000)]
    assert pq.read_metadata(out).num_row_groups == 7
    values = np.column_stack([found.column(f"x{j}").to_numpy() for j in range(12)])
    clean, noisy = (np.concatenate(10 * [X]) for X in curved)
    assert relative_rmse(clean, values) < 0.6 * relative_rmse(clean, noisy)
    assert isinstance(load(saved), MiniBatchRNLMF)


def test_what_it_cannot_do_is_said_first(file, tmp_path):
    out = tmp_path / "clean.parquet"
    result = CliRunner().invoke(
        app, ["denoise", str(file), "-o", str(out), "--changes", str(tmp_path / "changes.csv")]
    )
    assert result.exit_code == 2
    assert not out.exists()


@pytest.fixture
def parts(tmp_path, curved):
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(3):
        columns = {f"x{j}": column for j, column in enumerate(curved[1].T)}
        table = pa.table({"name": [f"{number} {i}" for i in range(200)], **columns})
        pq.write_table(table, folder / f"part-{number}.parquet", row_group_size=90)
    return folder


def treated(*arguments):
    return CliRunner().invoke(app, ["denoise", *map(str, arguments), *SMALL])


def check_parts(out, curved):
    assert sorted(file.name for file in out.iterdir()) == [f"part-{i}.parquet" for i in range(3)]
    clean, noisy = curved
    for number in range(3):
        found = pq.read_table(out / f"part-{number}.parquet")
        assert found.column("name").to_pylist() == [f"{number} {i}" for i in range(200)]
        values = np.column_stack([found.column(f"x{j}").to_numpy() for j in range(12)])
        assert relative_rmse(clean, values) < 0.7 * relative_rmse(clean, noisy)


@pytest.mark.parametrize("name", ["parts", "parts/part-*.parquet"])
def test_files_of_a_folder_or_pattern_go_to_a_folder(parts, tmp_path, curved, name):
    out = tmp_path / "clean"
    result = treated(tmp_path / name, "-o", out)
    assert result.exit_code == 0, result.output
    assert "600 rows of 12 columns" in result.stderr
    assert "cleaning" in result.stderr
    check_parts(out, curved)


def test_several_files_do_not_go_to_one(parts, tmp_path):
    result = treated(tmp_path / "parts" / "part-*.parquet", "-o", tmp_path / "clean.parquet")
    assert result.exit_code == 3
    assert "name a folder" in result.stderr
    assert not (tmp_path / "clean.parquet").exists()


def test_a_pattern_without_files(tmp_path):
    result = treated(tmp_path / "part-*.parquet", "-o", tmp_path / "clean")
    assert result.exit_code == 3
    assert "matches no file" in result.stderr


def test_a_scheduler_that_is_not_there(parts, tmp_path):
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        result = treated(parts, "-o", tmp_path / "clean", "--scheduler", "tcp://127.0.0.1:1")
    assert result.exit_code == 2
    assert "no scheduler" in result.stderr
    assert not (tmp_path / "clean").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_files_on_a_cluster(parts, tmp_path, curved):
    distributed = pytest.importorskip("distributed")
    out, saved = tmp_path / "clean", tmp_path / "model.safetensors"
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local:
        address = local.scheduler_address
        result = treated(parts, "-o", out, "--scheduler", address, "--model", saved)
    assert result.exit_code == 0, result.output
    check_parts(out, curved)
    assert type(load(saved)) is RNLMF


def test_two_files_of_one_name_do_not_go_to_one_folder(parts, tmp_path):
    (tmp_path / "more").mkdir()
    pq.write_table(pq.read_table(parts / "part-1.parquet"), tmp_path / "more" / "part-1.parquet")
    result = treated(tmp_path / "*" / "part-*.parquet", "-o", tmp_path / "clean")
    assert result.exit_code == 3
    assert "several files 'part-1.parquet'" in result.stderr
    assert not (tmp_path / "clean").exists()


def test_workers_write_what_would_be_written_here(parts, tmp_path, curved, monkeypatch):
    pytest.importorskip("distributed")
    from local_cluster import Future, Here

    class Cluster(Here):
        def scatter(self, value, broadcast):
            assert broadcast
            return Future(value)

    model = RNLMF(10, opinions="dictionary", kernel_scale=0.5, noise_weight="scale", random_state=0)
    model.fit(curved[1])
    files = sorted(parts.iterdir())
    rows = ParquetSource(files, [f"x{j}" for j in range(12)])
    altered, told = [], []
    for client, name in ((None, "here"), (Cluster(), "there")):
        (tmp_path / name).mkdir()
        pairs = [(file, tmp_path / name / file.name) for file in files]
        report = lambda stage, share: told.append(share)  # noqa: E731
        altered.append(large._treat_all(model, pairs, rows, client, report))
    assert altered[0] == altered[1] > 0
    assert all(0.0 <= share <= 1.0 for share in told)
    for file in files:
        here, there = (pq.read_table(tmp_path / name / file.name) for name in ("here", "there"))
        assert here.equals(there)
