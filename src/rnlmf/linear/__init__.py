"""Robust factorizations that RNLMF is compared with: one method per file."""
