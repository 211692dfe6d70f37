"""Rebuild what a person saw, from the log alone."""
