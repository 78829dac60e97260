import functools
import http.server
import sys
import threading

import pytest

from rnlmf.datasets import fetch, load_cmu_mocap
from rnlmf.datasets.motion import CMU_BONES

pytest.importorskip("pooch")
module = sys.modules["rnlmf.datasets.fetch"]


@pytest.fixture
def site(tmp_path):
    """A web site with one motion, as the database serves it."""
    folder = tmp_path / "site" / "subjects" / "07"
    folder.mkdir(parents=True)
    lines = [":FULLY-SPECIFIED", ":DEGREES", "1"]
    lines += [" ".join([bone, *["0.5"] * count]) for bone, count in CMU_BONES.items()]
    (folder / "07_01.amc").write_text("\n".join(lines) + "\n")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = functools.partial(Quiet, directory=str(tmp_path / "site"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_fetched_files_are_where_the_loaders_look(monkeypatch, site, tmp_path):
    url = site + "/subjects/{subject}/{subject}_{trial}.amc"
    monkeypatch.setattr(module, "MOCAP", module.Source(url, "none"))
    monkeypatch.setenv("RNLMF_DATA", str(tmp_path / "data"))
    file = fetch("mocap_07_01")
    assert file == tmp_path / "data" / "07_01.amc"
    assert load_cmu_mocap(7, 1).data.shape == (1, 62)


def test_names():
    assert module.source("coil20").url.endswith("coil-20-proc.zip")
    assert module.source("mocap_56_06").url == "http://mocap.cs.cmu.edu/subjects/56/56_06.amc"
    with pytest.raises(ValueError, match="may not be downloaded"):
        fetch("ar")
    with pytest.raises(ValueError, match="name='coil'"):
        fetch("coil")
