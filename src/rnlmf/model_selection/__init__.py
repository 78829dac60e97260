"""Choosing parameters without ground truth: held-out entries, and a walk over a grid."""
