import json

import pandas as pd

from rnlmf import RNLMF, RNLMFClustering, save


def test_data(run, table):
    result = run("info", table)
    assert result.exit_code == 0
    assert "n samples: 240" in result.stdout
    assert "left alone: date dates, remark text" in result.stdout
    facts = json.loads(run("info", table, "--json").stdout)
    assert facts["feature_names"] == [f"q{i}" for i in range(8)]
    assert facts["n_missing"] == 0


def test_model(run, curved):
    save(RNLMF(5, random_state=0).fit(curved[1]), "m.safetensors", about={"source": "a.csv"})
    facts = json.loads(run("info", "m.safetensors", "--json").stdout)
    assert facts["class"] == "RNLMF"
    assert facts["n_components"] == 5
    assert facts["n_features"] == 12
    assert facts["parameters"]["random_state"] == 0
    assert facts["fitted_on_source"] == "a.csv"
    assert "n components: 5" in run("info", "m.safetensors").stdout


def test_bad_model(run, tmp_path):
    (tmp_path / "m.safetensors").write_text("no")
    result = run("info", "m.safetensors")
    assert result.exit_code == 3
    assert "not a model file" in result.stderr


def test_names_of_columns_and_what_a_model_does_not_have(run, curved):
    frame = pd.DataFrame(curved[1], columns=[f"c{i}" for i in range(12)])
    save(RNLMF(5, random_state=0).fit(frame), "named.safetensors")
    assert json.loads(run("info", "named.safetensors", "--json").stdout)["feature_names"] == list(frame)
    save(RNLMFClustering(2, random_state=0).fit(frame), "clusters.safetensors")
    facts = json.loads(run("info", "clusters.safetensors", "--json").stdout)
    assert facts["class"] == "RNLMFClustering"
    assert facts["n_features"] == 12
    assert "n_components" not in facts
