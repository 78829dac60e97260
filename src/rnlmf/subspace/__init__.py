"""Methods that represent every sample by the others: one method per file."""
