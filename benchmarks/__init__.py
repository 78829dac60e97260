"""Measurements on the paper's data."""
