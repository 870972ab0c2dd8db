"""The planners: one file each."""
