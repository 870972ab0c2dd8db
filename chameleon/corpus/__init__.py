"""Tables where people keep them: files of many kinds, folders of them, and databases."""
