"""A call in a copy of this process, which has everything imported: a run takes no start."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import rnlmf.cli.app
import rnlmf.cli.cluster
import rnlmf.cli.denoise


def command_line(words: list[str]) -> None:
    """What stands after ``rnlmf``."""
    sys.argv = ["rnlmf", *words]
    rnlmf.cli.main()


class Forked:
    """A call in another process.

    Parameters
    ----------
    action : callable
        What is called.
    folder : Path
        Where it runs.
    prepare : callable or None
        Called in the copy before.
    """

    def __init__(
        self,
        action: Callable[[], None],
        folder: Path,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self.returncode: int | None = None
        self._process = os.fork()
        if self._process == 0:
            self._run(action, folder, prepare)

    def _run(
        self, action: Callable[[], None], folder: Path, prepare: Callable[[], None] | None
    ) -> None:
        code = 1
        try:
            os.chdir(folder)
            os.dup2(self._errors.fileno(), 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if prepare is not None:
                prepare()
            action()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1 if end.code else 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def signal(self, number: int) -> None:
        """Send a signal."""
        os.kill(self._process, number)

    def ended(self, within: float = 600.0) -> bool:
        """Wait for the end; False if the time is over."""
        end = time.monotonic() + within
        while self.returncode is None:
            process, status = os.waitpid(self._process, os.WNOHANG)
            if process:
                self.returncode = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end:
                return False
            else:
                time.sleep(0.002)
        return True

    @property
    def errors(self) -> bytes:
        """What it said."""
        self._errors.seek(0)
        return self._errors.read()
