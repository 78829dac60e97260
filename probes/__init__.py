"""Attempts to break the library, kept so that anyone can try again.

Each is a module with a ``main``: ``python -m probes.faults --count 300``. It writes what it found to
``probes/results``, from which ``python -m probes.page`` writes ``docs/reliability.md``.
"""
