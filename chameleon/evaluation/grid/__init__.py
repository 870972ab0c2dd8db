"""Comparing the arms of a grid: as evaluations, and by the parts of them that need no model."""
