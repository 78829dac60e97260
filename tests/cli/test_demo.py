from rnlmf.cli import demo


def test_demo_prints_a_table_and_writes_a_picture(tmp_path, capsys, monkeypatch):
    cases = {name: (truth[:300], noisy[:300]) for name, (truth, noisy) in demo.cases().items()}
    monkeypatch.setattr(demo, "cases", lambda: cases)
    demo.main(tmp_path)
    printed = capsys.readouterr().out
    assert all(name in printed for name in cases)
    assert (tmp_path / "digits.png").stat().st_size > 10_000
    assert "Digits, salt and pepper" in (tmp_path / "report.html").read_text()
