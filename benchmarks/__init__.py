"""Speed and accuracy, measured side by side: ``make bench``."""
