import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from helpers import unpacked
from rnlmf import RNLMF
from rnlmf.io.dataset import are_curves
from rnlmf.report import findings_of, in_words, write_report
from rnlmf.report.content import PageContent
from rnlmf.report.findings import in_short, percent
from rnlmf.report.packing import packed
from rnlmf.report.pictures import grey, signed
from rnlmf.report.sections import cluster_marker

MODEL = SimpleNamespace(converged_=True, n_iter_=7, objective_=[2.0, 1.0], components_=np.eye(3))
MODEL.get_params = lambda: {"n_components": 3}


def markup(path):
    """The page without what it holds for its script."""
    return re.sub(r'<script type="text/plain".*?</script>', "", path.read_text(), flags=re.S)


@pytest.mark.parametrize("name", ["images", "colour", "table", "clusters"])
def test_nothing_is_loaded_from_elsewhere(reports, name):
    page = markup(reports / f"{name}.html")
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    assert "http" not in page
    assert "url(" not in page


def test_content_is_valid_json_that_cannot_end_its_element(reports):
    page = (reports / "table.html").read_text()
    assert page.count("<script") == page.count("</script>") == 3
    charts = json.loads(unpacked(page, "content"))["charts"]
    assert {"series", "row", "heat", "by-feature", "by-sample", "atoms", "map", "objective"} == set(
        charts
    )


@pytest.mark.parametrize("length", [*range(9), 5000])
def test_packed_text_comes_back_and_holds_nothing_that_a_browser_alters(rng, length):
    text = "".join(map(chr, rng.integers(0, 0xD800, length)))
    codes = packed(text)
    assert not set(codes) & set("\0\r\n<")
    assert unpacked(f'<script id="it">{codes}</script>', "it") == text


@pytest.mark.parametrize("n", [3, 100, 5000, 20_000])
def test_the_page_stays_small(tmp_path, rng, n):
    clean = rng.normal(size=(n, 30)).astype(np.float32)
    wrong = rng.random(clean.shape) < 0.05
    noisy = clean + 5 * wrong
    changes = [
        (i, f"column {j}", f"{noisy[i, j]:.5f}", f"{clean[i, j]:.5f}", rng.random(), "repaired")
        for i, j in np.argwhere(wrong).tolist()
    ]
    write_report(tmp_path / "r.html", MODEL_OF_30, noisy, clean=clean, changes=changes)
    assert (tmp_path / "r.html").stat().st_size < 2_000_000


MODEL_OF_30 = SimpleNamespace(**{**vars(MODEL), "components_": np.zeros((500, 30))})


@pytest.mark.slow
def test_a_million_samples(tmp_path, rng):
    clean = rng.normal(size=(1_000_000, 30)).astype(np.float32)
    noisy = clean.copy()
    noisy[rng.integers(0, len(noisy), 1000), 3] += 9
    write_report(tmp_path / "r.html", MODEL_OF_30, noisy, clean=clean)
    assert (tmp_path / "r.html").stat().st_size < 2_000_000


def test_large_images_are_made_smaller(tmp_path, rng):
    clean = rng.random((40, 300 * 400)).astype(np.float32)
    model = SimpleNamespace(**{**vars(MODEL), "components_": clean[:5]})
    write_report(tmp_path / "r.html", model, clean + 0.1, clean=clean, image_shape=(300, 400))
    assert (tmp_path / "r.html").stat().st_size < 12_000_000


def test_findings_count_what_was_changed(rng):
    clean = rng.normal(size=(200, 3))
    noisy = clean.copy()
    noisy[3, 1] += 10.0
    noisy[5, 1] -= 10.0
    noisy[5, 2] += 10.0
    noisy[9, 0] += 0.01
    noisy[11, 0] = np.nan
    findings = findings_of(MODEL, noisy, clean)
    assert (findings.n_large, findings.n_changed, findings.n_missing) == (3, 4, 1)
    assert findings.n_samples_hit == 2
    assert findings.worst_features() == [1, 2]
    assert findings.worst_samples(1) == [5]
    assert findings.feature_share[1] == 2 / 200
    assert findings.typical_size == pytest.approx(10 / clean.std(axis=0)[1:].mean(), rel=0.2)


def test_pixels_have_one_unit(tmp_path, rng):
    """One that is black in all images has none of its own."""
    clean = rng.random((200, 4))
    clean[:, 0] = 1e-5 * clean[:, 1]
    noisy = clean.copy()
    noisy[3, 0] += 1.0
    noisy[5, 1:] += 1.0
    findings = findings_of(MODEL, noisy, clean, images=True)
    assert findings.worst_samples() == [5, 3]
    assert findings.sample_size.max() < 10.0
    model = SimpleNamespace(**{**vars(MODEL), "components_": clean[:5]})
    write_report(tmp_path / "r.html", model, noisy, clean=clean, image_shape=(2, 2))
    assert "standard deviations of all pixels." in (tmp_path / "r.html").read_text()


def test_findings_do_not_depend_on_the_chunks(rng, monkeypatch):
    clean = rng.normal(size=(50, 4))
    noisy = clean + 3 * (rng.random(clean.shape) < 0.2)
    whole = findings_of(MODEL, noisy, clean)
    monkeypatch.setattr("rnlmf.report.findings.CHUNK_ROWS", 7)
    parts = findings_of(MODEL, noisy, clean)
    for name, value in vars(whole).items():
        np.testing.assert_allclose(
            np.array(getattr(parts, name), float), np.array(value, float), err_msg=name
        )


def test_words():
    clean = np.tile([[0.0, 1.0], [1.0, 0.0]], (10, 1))
    noisy = clean.copy()
    noisy[4, 1] = 50.0
    text = " ".join(in_words(findings_of(MODEL, noisy, clean), ["a", "b"], None))
    assert "20 samples of 2 features" in text
    assert "1 entry (2.5%) in 1 sample (5%) did not fit" in text
    assert "was repaired" in text
    assert "Worst hit: feature b (5%); sample 4." in text
    assert "converged after 7 iterations" in text
    nothing = " ".join(in_words(findings_of(MODEL, clean, clean), ["a", "b"], None))
    assert "nothing gross to repair" in nothing


def test_percent_is_never_zero_for_what_is_there():
    assert percent(0.0) == "0%"
    assert percent(1e-6) == "less than 0.01%"
    assert percent(0.0312) == "3.1%"
    assert percent(0.996) == "100%"


def test_shown_samples_hold_the_worst_and_others(rng):
    clean = rng.normal(size=(1000, 2))
    noisy = clean.copy()
    noisy[700:705] += 20.0
    page = PageContent(
        MODEL, noisy, clean, findings_of(MODEL, noisy, clean), ["a", "b"], None, None, None, {}
    )
    shown = page.some_samples(50)
    assert len(shown) == len(set(shown)) == 50
    assert set(range(700, 705)) <= set(shown)
    assert shown.min() < 50
    assert shown.max() > 950


def test_rows_of_spectra_are_curves_and_those_of_tables_are_not(tmp_path, rng):
    bands = np.linspace(400.0, 700.0, 60)
    spectra = np.exp(-(((bands - rng.uniform(450, 650, (40, 1))) / 40) ** 2))
    assert are_curves(spectra)
    assert not are_curves(spectra[:, rng.permutation(60)])
    assert not are_curves(spectra[:, :8])
    assert not are_curves(spectra * 10.0 ** rng.uniform(-3, 3, 60))
    spoilt = spectra.copy()
    spoilt[7, 20] = 9.0
    model = SimpleNamespace(**{**vars(MODEL), "components_": spectra[:5]})
    names = [f"{band:.1f}" for band in bands]
    write_report(tmp_path / "r.html", model, spoilt, clean=spectra, feature_names=names)
    page = (tmp_path / "r.html").read_text()
    assert page.index('id="row"') < page.index('id="series"')
    rows = json.loads(unpacked(page, "content"))["rows"]
    assert rows["x"] == [float(name) for name in names]
    assert rows["rows"][0]["repaired"] == [20]
    np.testing.assert_allclose(rows["rows"][0]["before"], spoilt[7], rtol=1e-4)
    np.testing.assert_allclose(rows["rows"][0]["after"], spectra[7], rtol=1e-4)


@pytest.mark.parametrize("count", [3, 10, 14, 40])
def test_no_two_clusters_look_alike(count):
    markers = [cluster_marker(i, count) for i in range(count)]
    assert len({tuple(marker.values()) for marker in markers}) == count
    # Nor do their colours.
    assert len({marker["color"] for marker in markers}) == count


def test_pictures():
    assert grey(np.array([[0.0, 0.5], [1.0, np.nan]]), 0.0, 1.0).tolist() == [[0, 128], [255, 0]]
    image = signed(np.array([[1.0, -1.0], [0.0, 0.5]]), 1.0)
    assert image[0, 0, 3] == image[0, 1, 3] == 255
    assert image[1, 0, 3] == 0
    assert image[0, 0, 0] > image[0, 0, 2]
    assert image[0, 1, 0] < image[0, 1, 2]


def test_the_model_cleans_if_nothing_is_given(tmp_path, curved):
    model = RNLMF(5, opinions="dictionary", random_state=0, max_iter=5).fit(curved[1])
    write_report(tmp_path / "r.html", model, curved[1])
    assert "200 samples of 12 features" in (tmp_path / "r.html").read_text()


def test_the_error_that_is_left_is_told(curved):
    model = RNLMF(20, kernel_scale=1.0, noise_weight="scale", random_state=0).fit(curved[1])
    findings = findings_of(model, curved[1], model.denoise(curved[1]))
    assert 0.0 < findings.remaining_error < 1.0
    assert "the error left in the cleaned data is about" in " ".join(
        in_words(findings, list("abcdefghijkl"), None)
    )


def test_tags_in_names_are_text_in_the_charts(tmp_path, curved):
    link = "<a href='https://example.org'>click</a>"
    frame = pd.DataFrame(curved[1], columns=[link, *(f"q{i}" for i in range(11))])
    frame.index = [f"{link} {i}" for i in range(len(frame))]
    model = RNLMF(5, kernel_scale=1.0, noise_weight="scale", random_state=0).fit(frame)
    write_report(tmp_path / "page.html", model, frame)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    content = json.loads(unpacked(page, "content"))
    shown = json.dumps([content["charts"], *({**s, "alt": ""} for s in content["series"])])
    shown += json.dumps([content["series_labels"], content["rows"]["x"]])
    assert "&lt;a href" in shown
    assert "<a href" not in shown


def test_a_name_that_is_not_utf8_does_not_stop_the_page(tmp_path, curved):
    model = RNLMF(5, kernel_scale=1.0, noise_weight="scale", random_state=0).fit(curved[1])
    write_report(tmp_path / "page.html", model, curved[1], title="caf\udce9.csv")
    assert "caf?.csv" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_three_short_lines_tell_what_was_done():
    clean = np.random.default_rng(0).normal(size=(50, 2))
    noisy = clean.copy()
    noisy[3, 0] += 9
    noisy[5, 1] = np.nan
    found = findings_of(MODEL, noisy, clean)
    lines = in_short(found, 2)
    assert lines[:2] == [
        "1 entry (1%) of 50 samples of 2 features was repaired.",
        "1 missing entry was filled in; 2 columns are left alone.",
    ]
    assert len(lines) <= 3
    told = in_short(replace(found, applied=False), 0)
    assert "would be repaired" in told[0]
    assert "would be filled in" in told[1]
    assert "would be repaired" in " ".join(in_words(replace(found, applied=False), ["a", "b"], None))
    unknown = in_short(replace(found, judged=False), 0)
    assert unknown == [
        "50 samples of 2 features: too few to tell wrong from right.",
        "Nothing was changed.",
    ]


def test_options_in_a_notice_are_code_and_nothing_else_is(tmp_path, curved):
    model = RNLMF(5, kernel_scale=1.0, noise_weight="scale", random_state=0).fit(curved[1])
    said = ["Pass --missing -9 or --guess for <b>."]
    write_report(tmp_path / "page.html", model, curved[1], remarks=said, notices=said)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    line = "Pass <code>--missing</code> -9 or <code>--guess</code> for &lt;b&gt;."
    assert page.count(line) == 2
