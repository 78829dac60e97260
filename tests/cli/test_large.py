import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from rnlmf import MiniBatchRNLMF, load
from rnlmf.cli import large
from rnlmf.cli.app import app
from rnlmf.metrics import relative_rmse

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
