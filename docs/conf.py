"""Configuration of the documentation."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
warnings.filterwarnings("ignore", category=UserWarning, message=".*non-interactive.*")

import rnlmf  # noqa: E402

HERE = Path(__file__).parent
GENERATED = HERE / "_build" / "extra"
GENERATED.mkdir(parents=True, exist_ok=True)

project = "rnlmf"
author = "the rnlmf developers"
copyright = "the rnlmf developers, BSD-3-Clause"
version = release = rnlmf.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "results/tables/**", "gallery/*.ipynb", "gallery/*.json"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
nitpicky = False

autosummary_generate = True
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": True}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "rnlmf"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_extra_path = [str(GENERATED)]
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
# Pages without pages below them need no navigation on the left.
html_sidebars = {
    page: [] for page in ("index", "install", "command_line", "how_it_works", "extend", "results")
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "ExampleTitleSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "abort_on_example_error": True,
    "image_srcset": ["2x"],
    "min_reported_time": 10,
}


def command_help() -> None:
    """Write what every command says of itself, for the page of the command line."""
    environment = {**os.environ, "COLUMNS": "96", "NO_COLOR": "1", "TERM": "dumb"}
    for name in ("", "denoise", "detect", "apply", "cluster", "info", "demo", "reproduce"):
        words = [sys.executable, "-m", "rnlmf", *([name] if name else []), "--help"]
        result = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
        if result.returncode:
            raise RuntimeError(result.stderr)
        lines = [line.rstrip() for line in result.stdout.strip().splitlines()]
        (GENERATED.parent / f"help-{name or 'rnlmf'}.txt").write_text("\n".join(lines) + "\n")


def example_report() -> None:
    """Write the report that the documentation links to."""
    from sklearn.datasets import load_digits

    from rnlmf import RNLMF
    from rnlmf.datasets import salt_and_pepper
    from rnlmf.report import write_report

    noisy = salt_and_pepper(load_digits().data[:600], random_state=0)
    model = RNLMF(random_state=0).fit(noisy)
    write_report(
        GENERATED / "digits-report.html", model, noisy, image_shape=(8, 8), title="Digits, cleaned"
    )


def formulas_are_literal(_app, _what, _name, _object, _options, lines):
    """Show an indented formula of a docstring as it stands."""
    result: list[str] = []
    for line in lines:
        before = next((other for other in reversed(result) if other.strip()), "")
        deeper = len(line) - len(line.lstrip()) > len(before) - len(before.lstrip())
        formula = line.strip() and result and not result[-1].strip() and deeper
        if formula and "|" in line and not before.rstrip().endswith("::"):
            margin = " " * (len(before) - len(before.lstrip()))
            result += [f"{margin}::", ""]
        result.append(line)
    lines[:] = result


def skip_foreign(_app, _what, name, member, skip, _options):
    """Leave out what other libraries' classes bring: it is on every estimator."""
    foreign = callable(member) and not str(getattr(member, "__module__", "")).startswith("rnlmf")
    return skip or foreign or (name.startswith("set_") and "request" in name)


def stored_results() -> None:
    """Show the results that the repository holds, if it does."""
    shown = "None are stored here; `rnlmf reproduce` makes them."
    if (HERE / "results" / "index.md").exists():
        shown = "```{toctree}\n:maxdepth: 2\n\nresults/index\n```"
    (GENERATED.parent / "stored_results.md").write_text(shown + "\n")


def prepare(_app: object) -> None:
    """Make what the pages include, before they are read."""
    command_help()
    stored_results()
    example_report()


def setup(app):
    """Hook into the build."""
    app.connect("builder-inited", prepare, priority=100)
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("autodoc-process-docstring", formulas_are_literal, priority=100)
