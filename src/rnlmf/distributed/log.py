"""All that samples were told, in order: whoever is told it again comes to the same state."""

from __future__ import annotations

import pickle
import tempfile
import weakref
from typing import Any

# Bytes in memory; a longer log is in a temporary file.
IN_MEMORY = 64 << 20


class Log:
    """Questions by their number, of which none is ever changed."""

    def __init__(self) -> None:
        self.file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
        weakref.finalize(self, self.file.close)
        self.places = [0]

    def __len__(self) -> int:
        return len(self.places) - 1

    def append(self, question: Any) -> None:
        """Add one."""
        # As they are sent: functions without a name among them.
        from distributed.protocol.pickle import dumps

        self.file.seek(self.places[-1])
        self.file.write(dumps(question))
        self.places.append(self.file.tell())

    def __getitem__(self, number: int) -> Any:
        self.file.seek(self.places[number])
        return pickle.loads(self.file.read(self.places[number + 1] - self.places[number]))
