import os
import shutil

import numpy as np
import pandas as pd
import pytest

from rnlmf import RNLMF, RNLMFClustering
from rnlmf.datasets import corrupt_entries, salt_and_pepper
from rnlmf.report import write_report

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
CHANGES = [
    (4, "q0", "900", "1.5", 0.99, "repaired", (9.0, 0.5, False)),
    (17, "q1", "", "2,5", float("nan"), "filled", (float("nan"), 0.2, False)),
    (9, "q2", "</script>", "3.5", 1.0, "repaired", (0.51, 0.5, True)),
]
HOSTILE = "</script><script>document.title='owned'</script>"


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium: RNLMF_CHROMIUM, one on the machine, or that of ``make browser``."""
    api = pytest.importorskip("playwright.sync_api")
    found = os.environ.get("RNLMF_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    with api.sync_playwright() as playwright:
        try:
            chromium = playwright.chromium.launch(executable_path=found, args=OPTIONS)
        except api.Error as error:
            pytest.skip(f"no Chromium; `make browser` installs one ({str(error).splitlines()[0]})")
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def reports(tmp_path_factory, curved):
    """Pages about images, a table with dates and bad names, colour images and clusters."""
    folder = tmp_path_factory.mktemp("reports")
    clean, noisy = curved
    images = np.clip(np.abs(clean), 0, 1)
    spoilt = salt_and_pepper(images, random_state=0)
    names = [f"q{i}" for i in range(11)] + [HOSTILE]
    frame = pd.DataFrame(
        noisy, columns=names, index=pd.date_range("2024-01-01", periods=200).strftime("%F")
    )
    gaps = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.02)
    # Black and white are values that recur, which only the dictionary takes for errors.
    alone = RNLMF(20, opinions="dictionary", random_state=0).fit(spoilt)
    write_report(folder / "images.html", alone, spoilt, image_shape=(3, 4), title=HOSTILE)
    write_report(folder / "colour.html", alone, spoilt, image_shape=(2, 2, 3))
    table = RNLMF(20, random_state=0).fit(frame)
    cleaned = table.denoise(frame).to_numpy()
    write_report(
        folder / "table.html",
        table,
        gaps,
        clean=cleaned,
        untouched={"site": "text"},
        changes=CHANGES,
        columns=(["column", "kind"], [["q0", "measurement"], [HOSTILE, "text"]]),
        title="A table",
    )
    centers = np.repeat(5 * np.eye(12)[:3], 50, axis=0)
    groups = corrupt_entries(centers + 0.3 * np.random.default_rng(0).normal(size=(150, 12)), 0.02)
    clusters = RNLMFClustering(3, random_state=0).fit(groups)
    write_report(
        folder / "clusters.html",
        clusters,
        groups,
        labels=clusters.labels_,
        embedding=clusters.embedding_,
    )
    return folder
