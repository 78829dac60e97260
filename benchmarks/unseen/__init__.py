"""Errors put into data that no method was made for; see :mod:`benchmarks.unseen.__main__`."""
