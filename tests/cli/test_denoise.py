import json
import os
import re

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from rnlmf import RNLMF, RNLMFOutlierDetector, load, save
from rnlmf.datasets import salt_and_pepper
from rnlmf.metrics import relative_rmse


def test_a_table_is_cleaned_with_names_and_dates_kept(run, table, seasons):
    result = run("denoise", table, "-o", "clean.csv", "--set", "n_components=16")
    assert result.exit_code == 0, result.output
    before, after = pd.read_csv(table), pd.read_csv("clean.csv")
    assert list(after.columns) == list(before.columns)
    for untouched in ("date", "remark"):
        assert after[untouched].equals(before[untouched])
    numbers = before.columns[1:-1]
    spread = seasons.std(axis=0)
    errors = [relative_rmse(seasons / spread, frame[numbers] / spread) for frame in (before, after)]
    assert errors[1] < 0.75 * errors[0]
    assert "did not fit the structure" in result.stdout
    assert re.search("date +dates +left alone: dates", result.stderr)
    assert re.search("remark +text +left alone: text", result.stderr)
    assert sorted(os.listdir()) == ["clean.csv", "noisy.csv"]


def test_the_model_treats_new_samples_the_same(run, table):
    assert run("denoise", table, "-o", "clean.csv", "--model", "m.safetensors").exit_code == 0
    assert load("m.safetensors").feature_scale == "robust"
    frame = pd.read_csv(table, dtype=str)
    # Other order, and a column that the model does not know.
    shuffled = frame[[*reversed(frame.columns)]].assign(extra=np.arange(len(frame)) ** 2)
    shuffled.iloc[::-1].to_csv("new.csv", index=False)
    result = run("apply", "m.safetensors", "new.csv", "-o", "new-clean.csv")
    assert result.exit_code == 0, result.output
    assert "extra (not in the model)" in result.stderr
    assert "date (dates)" in " ".join(result.stderr.split())
    again = pd.read_csv("new-clean.csv", dtype=str).iloc[::-1].reset_index(drop=True)
    expected = pd.read_csv("clean.csv", dtype=str)
    pd.testing.assert_frame_equal(again[expected.columns], expected)
    assert again["extra"].tolist() == shuffled["extra"].astype(str).tolist()


def test_json_and_quiet(run, table):
    words = ("--json", "--quiet", "--set", "n_components=16")
    result = run("denoise", table, "-o", "clean.csv", *words)
    facts = json.loads(result.stdout)
    assert result.stderr == ""
    assert facts["n_samples"] == 240
    assert facts["n_features"] == 8
    assert facts["untouched_columns"] == ["date", "remark"]
    assert 40 <= facts["n_large_changes"] <= 200
    assert facts["worst_samples"][0]["sample"].startswith("2024-")
    quiet = run("denoise", table, "-o", "clean.csv", "--quiet", "--overwrite", *words[2:])
    assert quiet.exit_code == 0
    assert quiet.output == ""


def test_settings_reach_the_estimator(run, table):
    command = ["denoise", table, "-o", "clean.csv", "--model", "m.safetensors"]
    settings = ["--set", "n_components=7", "--set", "max_iter=4", "--set", "kernel=polynomial"]
    result = run(*command, *settings, "--no-scale", "--noise", "samples", "--seed", "3", "-j", "1")
    assert result.exit_code == 0, result.output
    assert "had not settled" in result.stdout
    model = load("m.safetensors")
    assert type(model) is RNLMF
    assert len(model.components_) == 7
    assert model.get_params()["noise_penalty"] == "l21"
    assert (model.random_state, model.max_iter, model.kernel) == (3, 4, "polynomial")


@pytest.mark.parametrize(
    "words",
    [
        ("--set", "atoms=3"),
        ("--set", "kernel_scale=-1"),
        ("--set", "random_state=3"),
        ("--noise", "everything"),
        ("--image-shape", "8by8"),
        ("--delimiter", "ab"),
        ("--report", "report.pdf"),
        ("--decimal", "x"),
    ],
)
def test_wrong_usage_is_told_apart(run, table, words):
    result = run("denoise", table, "-o", "clean.csv", *words)
    assert result.exit_code == 2
    assert words[0] in result.stderr
    assert os.listdir() == ["noisy.csv"]


def test_a_folder_of_images(run, tmp_path):
    clean = load_digits().data[:150]
    noisy = salt_and_pepper(clean, random_state=0)
    os.mkdir("digits")
    for number, image in enumerate(noisy):
        pixels = np.rint(image.reshape(8, 8) * 255 / 16).astype(np.uint8)
        Image.fromarray(pixels).save(f"digits/d{number:03d}.png")
    result = run("denoise", "digits", "-o", "clean")
    assert result.exit_code == 0, result.output
    assert sorted(os.listdir("clean")) == sorted(os.listdir("digits"))
    with Image.open("clean/d000.png") as image:
        assert (image.size, image.mode) == ((8, 8), "L")
    stack = np.stack([np.asarray(Image.open(f"clean/d{i:03d}.png")).ravel() for i in range(150)])
    assert relative_rmse(clean, stack * (16 / 255)) < relative_rmse(clean, noisy)
    again = run("denoise", "digits", "-o", "clean")
    assert again.exit_code == 3
    assert "folder with files; pass --overwrite" in again.stderr
    assert run("denoise", "digits", "-o", "clean", "--overwrite").exit_code == 0


def write_walk(path, rng, bones=("root", "head")):
    phase = np.linspace(0, 12, 200)
    waves = np.column_stack([np.sin(phase + k) for k in range(9)]) * 20
    waves[rng.random(waves.shape) < 0.05] += 90
    lines = [":FULLY-SPECIFIED", ":DEGREES"]
    for frame, row in enumerate(waves, 1):
        words = [f"{value:.4f}" for value in row]
        parts = {"root": words[:6], "head": words[6:]}
        lines += [str(frame), *(" ".join([bone, *parts[bone]]) for bone in bones)]
    path.write_text("\n".join(lines) + "\n")


def test_motion_capture(run, tmp_path, rng):
    write_walk(tmp_path / "walk.amc", rng)
    result = run("denoise", "walk.amc", "-o", "clean.amc")
    assert result.exit_code == 0, result.output
    before, after = (tmp_path / "walk.amc").read_text(), (tmp_path / "clean.amc").read_text()
    assert [line.split()[0] for line in after.splitlines()] == [
        line.split()[0] for line in before.splitlines()
    ]
    assert after != before


def test_a_model_of_a_motion_is_not_for_bones_in_another_order(run, tmp_path, rng):
    write_walk(tmp_path / "walk.amc", rng)
    write_walk(tmp_path / "other.amc", rng, ("head", "root"))
    few = ("--set", "n_components=12")
    assert run("denoise", "walk.amc", "-o", "a.amc", "--model", "m.safetensors", *few).exit_code == 0
    assert run("apply", "m.safetensors", "walk.amc", "-o", "b.amc").exit_code == 0
    result = run("apply", "m.safetensors", "other.amc", "-o", "c.amc")
    assert result.exit_code == 3
    assert "has other bones than the model" in result.stderr
    assert not (tmp_path / "c.amc").exists()


def test_a_model_that_treats_no_new_samples_is_not_applied(run, table, rng):
    save(RNLMFOutlierDetector().fit(rng.normal(size=(60, 8))), "m.safetensors")
    result = run("apply", "m.safetensors", table, "-o", "clean.csv")
    assert result.exit_code == 3
    assert "does not treat new samples" in result.stderr


def test_never_over_the_input_unless_asked(run, table):
    before = table.read_text()
    result = run("denoise", table, "-o", table)
    assert result.exit_code == 3
    assert "is the input; pass --overwrite" in result.stderr
    assert table.read_text() == before
    assert run("denoise", table, "-o", table, "--overwrite").exit_code == 0
    assert table.read_text() != before
    for option in ("--model", "--report"):
        clash = run("denoise", table, "-o", "x.csv", option, table if option == "--model" else "x.csv")
        assert clash.exit_code in (2, 3)


BAD = {
    "cut.csv": ("a,b,c\n1,2,3\n4,5,6\n7,8", "line 4 has 2 fields"),
    "codes.csv": (
        "a,b\n01,7\n02,7\n03,7\n04,7\n",
        "no column to clean: 'a' (numbers with leading zeros",
    ),
    "words.csv": ("a,b\nx,y\nz,w\n", "no numeric column"),
    "short.csv": ("a,b\n1.5,2\n", "has 1 sample"),
    "empty.npy": ("", "the file is empty"),
    "wrong.npz": ("hello", "is not a NumPy archive, or cut off"),
    "walk.amc": (":DEGREES\n1\nroot 1 2\n2\nroot 1\n", "line 5"),
    "missing.parquet": (None, "there is no such file"),
    "notes.docx": ("hello", "unknown format"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("quiet", [True, False])
def test_bad_files_give_one_line_and_leave_nothing(run, tmp_path, name, quiet):
    content, message = BAD[name]
    if content is not None:
        (tmp_path / name).write_text(content)
    before = os.listdir()
    words = ["-o", "out.csv", "--model", "m.safetensors", "--report", "r.html"]
    result = run("denoise", name, *words, *(["--quiet"] if quiet else []))
    assert result.exit_code == 3
    assert result.stdout == ""
    line = result.stderr.strip()
    assert line.count("\n") == 0
    assert line.startswith(f"error: {name}: ")
    assert message in line
    assert os.listdir() == before


def test_bad_folders(run, tmp_path):
    os.mkdir("empty")
    result = run("denoise", "empty", "-o", "out")
    assert result.exit_code == 3
    assert "error: empty: has no images" in result.stderr
    os.mkdir("sizes")
    for name, size in {"a.png": (4, 4), "b.png": (5, 4)}.items():
        Image.new("L", size).save(f"sizes/{name}")
    result = run("denoise", "sizes", "-o", "out")
    assert "b.png is 5 x 4 pixels, but a.png is 4 x 4" in result.stderr
    assert sorted(os.listdir()) == ["empty", "sizes"]


def test_a_model_of_another_width_or_kind(run, table, curved, tmp_path):
    save(RNLMF(5, random_state=0, max_iter=3).fit(curved[1]), "wide.safetensors")
    result = run("apply", "wide.safetensors", table, "-o", "out.csv")
    assert result.exit_code == 3
    assert "noisy.csv: has 8 features, but the model wide.safetensors has 12" in result.stderr
    run("denoise", table, "-o", "clean.csv", "--model", "m.safetensors")
    pd.read_csv(table).rename(columns={"q3": "other"}).to_csv("renamed.csv", index=False)
    result = run("apply", "m.safetensors", "renamed.csv", "-o", "out.csv")
    assert "renamed.csv: has no column 'q3', which the model m.safetensors needs" in result.stderr
    (tmp_path / "cut.safetensors").write_bytes((tmp_path / "m.safetensors").read_bytes()[:500])
    result = run("apply", "cut.safetensors", table, "-o", "out.csv")
    assert result.exit_code == 3
    assert "cut.safetensors: is not a model file, or cut off" in result.stderr
    assert not os.path.exists("out.csv")


def test_an_unwritable_output_is_found_before_the_work(run, table):
    result = run("denoise", table, "-o", "none/clean.csv")
    assert result.exit_code == 3
    assert "there is no folder" in result.stderr
    assert run("denoise", table, "-o", "clean.xyz").exit_code == 3
    # Found only when writing: a table is no folder of images.
    result = run("denoise", table, "-o", "folder", "--model", "m.safetensors")
    assert result.exit_code == 3
    assert "holds no images" in result.stderr
    assert os.listdir() == ["noisy.csv"]


def test_formats_can_be_mixed(run, table):
    assert run("denoise", table, "-o", "clean.parquet").exit_code == 0
    frame = pd.read_parquet("clean.parquet")
    assert frame["q0"].dtype == np.float64
    assert frame["date"][0] == "2024-01-01"
    assert run("denoise", table, "-o", "clean.npy").exit_code == 0
    np.testing.assert_allclose(np.load("clean.npy"), frame.iloc[:, 1:-1].to_numpy(), atol=6e-4)


def test_an_interrupt_leaves_nothing(run, table, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(RNLMF, "denoise_and_score", interrupted)
    result = run("denoise", table, "-o", "clean.csv")
    assert result.exit_code == 130
    assert "interrupted; nothing was written" in result.stderr
    assert os.listdir() == ["noisy.csv"]


def test_a_report_does_not_estimate_the_error_again(run, table, monkeypatch):
    estimates = []
    estimate = RNLMF.estimate_error

    def counted(self, *args, **kwargs):
        estimates.append(self)
        return estimate(self, *args, **kwargs)

    monkeypatch.setattr(RNLMF, "estimate_error", counted)
    result = run("denoise", table, "-o", "clean.csv", "--report", "r.html", "--set", "n_components=9")
    assert result.exit_code == 0, result.output
    assert len(estimates) == 1


def test_the_model_of_a_table_knows_its_names(run, table):
    run("denoise", table, "-o", "clean.csv", "--model", "m.safetensors", "--set", "n_components=9")
    model = load("m.safetensors")
    assert list(model.feature_names_in_) == [f"q{i}" for i in range(8)]
    with pytest.raises(ValueError, match="feature names"):
        model.denoise(pd.read_csv("noisy.csv")[[f"q{i}" for i in reversed(range(8))]])


def test_columns_of_one_name_are_taken_by_their_places(run, table):
    lines = table.read_text().splitlines()
    table.write_text("\n".join([lines[0].replace("q1", "q0"), *lines[1:]]) + "\n")
    first = run("denoise", table, "-o", "a.csv", "--model", "m.safetensors", "--set", "n_components=9")
    assert first.exit_code == 0, first.output
    second = run("apply", "m.safetensors", table, "-o", "b.csv")
    assert second.exit_code == 0, second.output
    with open("a.csv") as one, open("b.csv") as other:
        assert one.read() == other.read()
