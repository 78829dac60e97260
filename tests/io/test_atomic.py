import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rnlmf import io
from rnlmf.io import FileError
from rnlmf.io.atomic import OWNER


def test_all_files_appear_together_or_not_at_all(tmp_path):
    first, second = tmp_path / "a.txt", tmp_path / "b"
    with io.outputs() as out:
        out.path(first).write_text("new")
        folder = out.path(second)
        folder.mkdir()
        (folder / "1.png").write_text("image")
        assert not first.exists()
    assert first.read_text() == "new"
    assert (second / "1.png").read_text() == "image"
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b"]


def test_nothing_is_left_of_a_failure(tmp_path):
    (tmp_path / "a.txt").write_text("old")

    def fail():
        with io.outputs() as out:
            out.path(tmp_path / "a.txt").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert os.listdir(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_files_of_a_folder_are_replaced_and_others_stay(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    (target / "1.png").write_text("old")
    with io.outputs() as out:
        folder = out.path(target)
        folder.mkdir()
        (folder / "1.png").write_text("new")
    assert (target / "mine.txt").read_text() == "mine"
    assert (target / "1.png").read_text() == "new"


def test_targets_are_checked_before_any_work(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("a\n1\n")
    with pytest.raises(FileError, match="is the input; pass --overwrite"):
        io.check_target(source, source)
    io.check_target(source, source, overwrite=True)
    with pytest.raises(FileError, match="there is no folder"):
        io.check_target(tmp_path / "none" / "out.csv")
    with pytest.raises(FileError, match="unknown format"):
        io.check_target(tmp_path / "out.docx")
    with pytest.raises(FileError, match="folder with files"):
        io.check_target(tmp_path)
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(FileError, match="its name is that of a file"):
        io.check_target(tmp_path / "x.csv")


def _write(targets):
    """New content for files and folders, committed together."""
    with io.outputs() as out:
        for target, content in targets.items():
            new = out.path(target)
            if isinstance(content, dict):
                new.mkdir()
                for name, text in content.items():
                    (new / name).write_text(text)
            else:
                new.write_text(content)


def test_a_folder_in_the_way_leaves_all_as_it_was(tmp_path):
    target = tmp_path / "out"
    (target / "2.png").mkdir(parents=True)
    (target / "1.png").write_text("old")
    with pytest.raises(FileError, match=r"2\.png: is a folder"):
        _write({tmp_path / "a.txt": "new", target: {"1.png": "new", "2.png": "new"}})
    assert (target / "1.png").read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("failing", ["a.txt", "b.txt", "out"])
def test_a_rename_that_fails_undoes_the_others(tmp_path, monkeypatch, failing):
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "1.png").write_text("old")
    replace = os.replace

    def sometimes(source, target):
        if os.path.basename(target) == failing and "old" not in str(source):
            raise OSError(5, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", sometimes)
    with pytest.raises(FileError, match="Input/output error"):
        _write(
            {
                tmp_path / "a.txt": "new",
                tmp_path / "c.txt": "new",
                tmp_path / "out": {"1.png": "new"},
                tmp_path / "b.txt": "new",
            }
        )
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "out"]
    assert (tmp_path / "a.txt").read_text() == "old"
    assert (tmp_path / "out" / "1.png").read_text() == "old"


def test_an_interrupt_during_the_commit_waits(tmp_path, monkeypatch):
    replace = os.replace

    def interrupted(source, target):
        os.kill(os.getpid(), signal.SIGINT)
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    _write({tmp_path / "a.txt": "new", tmp_path / "b.txt": "new"})
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt"]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_rights_and_links_stay(tmp_path):
    secret, link = tmp_path / "secret.txt", tmp_path / "link.txt"
    secret.write_text("old")
    secret.chmod(0o600)
    link.symlink_to(secret)
    _write({link: "new"})
    assert link.is_symlink()
    assert secret.read_text() == "new"
    assert secret.stat().st_mode & 0o777 == 0o600


def test_what_a_killed_process_left_is_cleared(tmp_path):
    child = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True
    )
    left = tmp_path / f"{OWNER}{child.stdout.strip()}-abc"
    (left / "old" / "frames").mkdir(parents=True)
    (left / "old" / "frames" / "1.png").write_text("moved away")
    # Folders come in any order: what is left is cleared beside any number of those in use.
    more = [tmp_path / f"{OWNER}{child.stdout.strip()}-{i}" for i in range(9)]
    alive = [tmp_path / f"{OWNER}{os.getpid()}-{i}" for i in range(9)]
    for folder in (*alive, *more):
        folder.mkdir()
    _write({tmp_path / "a.txt": "new"})
    assert not any(folder.exists() for folder in (left, *more))
    assert all(folder.exists() for folder in alive)
    assert (tmp_path / "frames" / "1.png").read_text() == "moved away"


def test_a_full_disk_is_said_in_one_line(tmp_path):
    def fill():
        with io.outputs() as out:
            raise OSError(errno.ENOSPC, "No space left on device", str(out.path(tmp_path / "a.txt")))

    with pytest.raises(FileError, match=r"a\.txt: cannot be written: No space left"):
        fill()
    assert os.listdir(tmp_path) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from rnlmf import io
from rnlmf.io import atomic

steps, folder = int(sys.argv[1]), Path(sys.argv[2])
done = [0]


def counted(function):
    def call(*args, **kwargs):
        if done[0] == steps:
            os.kill(os.getpid(), signal.SIGKILL)
        done[0] += 1
        return function(*args, **kwargs)
    return call


for name in ("replace", "rename", "link", "mkdir"):
    setattr(os, name, counted(getattr(os, name)))
with io.outputs() as out:
    out.path(folder / "a.txt").write_text("new")
    frames = out.path(folder / "out")
    frames.mkdir()
    (frames / "1.png").write_text("new")
    out.path(folder / "b.txt").write_text("new")
print(done[0])
"""


def test_a_run_killed_at_any_step_is_finished_or_undone_by_the_next(tmp_path):
    """Old and new are never mixed, once another run has written beside them."""
    outcomes = set()
    for steps in range(100):
        folder = tmp_path / str(steps)
        (folder / "out").mkdir(parents=True)
        for old in ("a.txt", "out/1.png", "out/2.png", "b.txt"):
            (folder / old).write_text("old")
        child = subprocess.run(
            [sys.executable, "-c", KILLED, str(steps), folder], capture_output=True, text=True
        )
        _write({folder / "another.txt": "x"})
        names = ("a.txt", "out/1.png", "b.txt")
        outcome = {(folder / name).read_text() for name in names}
        assert len(outcome) == 1, f"killed at step {steps}: {outcome}"
        assert (folder / "out/2.png").read_text() == "old"
        assert sorted(os.listdir(folder)) == ["a.txt", "another.txt", "b.txt", "out"]
        outcomes |= outcome
        if child.returncode == 0:
            break
    assert child.returncode == 0
    assert outcomes == {"old", "new"}


def test_what_was_changed_after_a_kill_stays(tmp_path):
    """A run that finishes another does not replace what somebody wrote since."""
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "b.txt").write_text("old")
    script = KILLED.replace('frames = out.path(folder / "out")', "pass").replace(
        'frames.mkdir()\n    (frames / "1.png").write_text("new")', "pass"
    )
    for steps in range(40):
        subprocess.run([sys.executable, "-c", script, str(steps), tmp_path], capture_output=True)
        if (tmp_path / "a.txt").read_text() == "new":
            break
    assert (tmp_path / "b.txt").read_text() == "old"
    (tmp_path / "b.txt").unlink()
    (tmp_path / "b.txt").write_text("mine")
    _write({tmp_path / "another.txt": "x"})
    assert (tmp_path / "b.txt").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "another.txt", "b.txt"]


def test_a_request_to_end_waits_for_the_commit(tmp_path):
    script = KILLED.replace("signal.SIGKILL", "signal.SIGTERM")
    for steps in range(12, 20):
        folder = tmp_path / str(steps)
        folder.mkdir()
        child = subprocess.run([sys.executable, "-c", script, str(steps), folder], capture_output=True)
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
        assert names in ([], ["a.txt", "b.txt", "out"])
        assert child.returncode in (0, -signal.SIGTERM)


@pytest.mark.parametrize("links", [True, False], ids=["with links", "without links"])
def test_folders_inside_a_folder_stay(tmp_path, monkeypatch, links):
    """Also where the file system has no hard links."""
    folder = tmp_path / "out"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "kept.txt").write_text("kept")
    (folder / "kept.txt").write_text("kept too")
    (folder / "a.txt").write_text("old")
    if not links:

        def refuse(*args, **options):
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(os, "link", refuse)
    with io.outputs() as files:
        new = files.path(folder)
        new.mkdir()
        (new / "a.txt").write_text("new")
    found = {str(f.relative_to(folder)): f.read_text() for f in folder.rglob("*") if f.is_file()}
    assert found == {"inner/kept.txt": "kept", "kept.txt": "kept too", "a.txt": "new"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_was_moved_is_put_back_where_the_next_move_fails(tmp_path, monkeypatch):
    folder, other, fresh = tmp_path / "out", tmp_path / "b.txt", tmp_path / "c.txt"
    folder.mkdir()
    (folder / "a.txt").write_text("old")
    other.write_text("old")
    replace = os.replace

    def fails(source, target, **options):
        if Path(target).name == "b.txt" and Path(source).parent.name != "old":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        replace(source, target, **options)

    monkeypatch.setattr(os, "replace", fails)

    def write():
        with io.outputs() as files:
            files.path(fresh).write_text("new")
            new = files.path(folder)
            new.mkdir()
            (new / "a.txt").write_text("new")
            files.path(other).write_text("new")

    with pytest.raises(FileError, match=r"b\.txt: cannot be written"):
        write()
    assert (folder / "a.txt").read_text() == other.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.txt", "out"]


def test_an_old_version_that_a_killed_process_had_moved_is_put_back(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f"{OWNER}{ended.pid}-x" / "old"
    left.mkdir(parents=True)
    (left / "a.txt").write_text("old")
    (left / "b.txt").write_text("older")
    (tmp_path / "b.txt").write_text("there")
    # One whose process cannot be told is left alone.
    (tmp_path / f"{OWNER}unknown").mkdir()
    with io.outputs() as files:
        files.path(tmp_path / "c.txt").write_text("new")
    found = {file.name: file.read_text() for file in tmp_path.iterdir() if file.is_file()}
    assert found == {"a.txt": "old", "b.txt": "there", "c.txt": "new"}
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == [f"{OWNER}unknown"]


def test_a_place_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(FileError, match=r"a\.txt: cannot be written"), io.outputs() as files:
        files.path(tmp_path / "none" / "a.txt")
