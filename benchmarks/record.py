"""How results are kept: the numbers, and a page for people made from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rnlmf.io.atomic import whole_file


def keep(path: Path, results: Any, page: str) -> None:
    """Write both, each as a whole: ``path``, and beside it the same with ``.md``."""
    with whole_file(path) as file:
        file.write_text(json.dumps(results, indent=1) + "\n")
    with whole_file(path.with_suffix(".md")) as file:
        file.write_text(page)
