import pytest

from rnlmf.io import FileError, json_lines


def test_a_member_that_is_not_there_yet_is_added_in_its_own_letters():
    placed = json_lines._placed(["größe"])
    assert placed('{"a": 1}', 0, None, "2") == ((7, 7), ', "größe": 2')
    assert placed("{}", 0, None, "2") == ((1, 1), '"größe": 2')
    assert placed('{"größe": "3"}', 0, (10, 13), "2") == ((11, 12), "2")


def test_the_line_that_is_none_is_named(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}\n[3]\n')
    with pytest.raises(FileError, match="line 4 is not a JSON object"):
        json_lines.read_json_lines(path)
