"""What runs from the shell."""
