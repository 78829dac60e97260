from dataclasses import replace

from rnlmf.cli import demo


def test_demo_prints_a_table_and_writes_a_picture_and_pages(tmp_path, capsys, monkeypatch):
    cases = {
        name: replace(case, truth=case.truth[:200], noisy=case.noisy[:200])
        for name, case in demo.cases().items()
    }
    monkeypatch.setattr(demo, "cases", lambda: cases)
    demo.main(tmp_path)
    printed = capsys.readouterr().out
    assert all(name in printed for name in cases)
    assert (tmp_path / "digits.png").stat().st_size > 10_000
    assert "Digits, salt and pepper" in (tmp_path / "digits.html").read_text()
    assert "soil_temperature" in (tmp_path / "weather.html").read_text()
