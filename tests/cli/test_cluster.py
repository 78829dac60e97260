import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from helpers import unpacked
from rnlmf.cli.cluster import in_words
from rnlmf.metrics import clustering_error


@pytest.fixture
def groups(tmp_path, rng):
    """Three groups in columns of different units."""
    truth = rng.permutation(np.repeat([0, 1, 2], 40))
    centers = rng.normal(size=(3, 6)) * 6
    X = centers[truth] + rng.normal(size=(120, 6)) * 0.4
    frame = pd.DataFrame(X * 10.0 ** np.arange(-2, 4), columns=list("abcdef"))
    frame.insert(0, "name", [f"n{i}" for i in range(120)])
    frame.to_csv(tmp_path / "groups.csv", index=False)
    return truth


def test_a_table_gets_a_column_of_clusters(run, groups):
    result = run("cluster", "groups.csv", "-k", "3", "-o", "out.csv", "--report", "r.html")
    assert result.exit_code == 0, result.output
    before, after = pd.read_csv("groups.csv"), pd.read_csv("out.csv")
    pd.testing.assert_frame_equal(after[before.columns], before)
    assert clustering_error(groups, after["cluster"]) < 0.05
    assert "3 clusters, of 40, 40, 40 samples" in result.stdout
    assert "Clusters of groups.csv" in Path("r.html").read_text()


def test_the_report_of_a_scaled_table_is_in_its_units(run, groups):
    result = run("cluster", "groups.csv", "-k", "3", "--report", "r.html")
    assert result.exit_code == 0, result.output
    page = Path("r.html").read_text()
    left = re.search(r"the error left in the cleaned data is about ([\d.e-]+)%", page)
    assert float(left[1]) < 10
    content = json.loads(unpacked(page, "content"))
    atoms = np.array(content["charts"]["atoms"]["data"][0]["z"], dtype=float)
    # In standard deviations of the features: atoms lie among the samples.
    assert np.abs(atoms).max() < 5
    assert np.abs(atoms).max(axis=0).min() > 0.3


def test_settings_reach_the_factorization(run, groups):
    options = ("cluster", "groups.csv", "-k", "3", "--report", "r.html", "--jobs", "-1")
    result = run(*options, "--set", "estimator__n_components=7", "--set", "n_neighbors=6")
    assert result.exit_code == 0, result.output
    assert "7 atoms" in Path("r.html").read_text()


def test_gaps_are_no_reason_to_refuse(run, groups):
    frame = pd.read_csv("groups.csv")
    frame.iloc[3, 2] = np.nan
    frame.to_csv("gaps.csv", index=False)
    result = run("cluster", "gaps.csv", "-k", "3", "--json")
    assert result.exit_code == 0, result.output
    assert clustering_error(groups, json.loads(result.stdout)["labels"]) < 0.05


def test_the_number_is_found(run, groups):
    result = run("cluster", "groups.csv", "--json")
    facts = json.loads(result.stdout)
    assert facts["n_clusters"] == 3
    assert 0 <= facts["confidence"] <= 1
    assert clustering_error(groups, facts["labels"]) < 0.05
    assert "found by itself" in run("cluster", "groups.csv").stdout
    assert os.listdir() == ["groups.csv"]


@pytest.mark.parametrize("suffix", [".npy", ".parquet", ".tsv"])
def test_other_formats(run, groups, suffix):
    np.save("plain.npy", pd.read_csv("groups.csv").iloc[:, 1:].to_numpy() / 10.0 ** np.arange(-2, 4))
    result = run("cluster", "plain.npy", "-k", "3", "-o", f"out{suffix}")
    assert result.exit_code == 0, result.output
    readers = {
        ".npy": np.load,
        ".parquet": lambda file: pd.read_parquet(file)["cluster"],
        ".tsv": lambda file: pd.read_csv(file, sep="\t")["cluster"],
    }
    assert clustering_error(groups, readers[suffix](f"out{suffix}")) < 0.05


def test_a_column_of_that_name_stays(run, groups):
    frame = pd.read_csv("groups.csv").assign(cluster="mine")
    frame.to_csv("in.csv", index=False)
    assert run("cluster", "in.csv", "-k", "2", "-o", "out.csv").exit_code == 0
    assert list(pd.read_csv("out.csv").columns[-2:]) == ["cluster", "cluster_2"]


def test_bad_usage(run, groups):
    assert run("cluster", "groups.csv", "-k", "0").exit_code == 2
    result = run("cluster", "groups.csv", "-k", "500")
    assert result.exit_code == 3
    assert "n_clusters" in result.stderr
    assert run("cluster", "groups.csv", "-o", "out.png").exit_code == 3
    assert run("cluster", "groups.csv", "-o", "groups.csv").exit_code == 3
    assert run("cluster", "groups.csv", "--set", "depth=3").exit_code == 2
    assert os.listdir() == ["groups.csv"]


def test_clusters_of_a_spectral_step_that_did_not_converge_are_doubted():
    model = SimpleNamespace(labels_=np.array([0, 0, 1]), n_clusters_confidence_=None, converged_=True)
    assert len(in_words(model)) == 1
    model.converged_ = False
    assert "had not converged" in in_words(model)[-1]
