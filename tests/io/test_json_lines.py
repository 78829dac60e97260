from rnlmf.io import json_lines


def test_a_member_that_is_not_there_yet_is_added_in_its_own_letters():
    placed = json_lines._placed(["größe"])
    assert placed('{"a": 1}', 0, None, "2") == ((7, 7), ', "größe": 2')
    assert placed("{}", 0, None, "2") == ((1, 1), '"größe": 2')
    assert placed('{"größe": "3"}', 0, (10, 13), "2") == ((11, 12), "2")
