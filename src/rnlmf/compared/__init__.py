"""The methods that RNLMF is compared with, one per file, and what they share."""
