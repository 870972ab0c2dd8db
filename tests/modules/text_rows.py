"""Tables of cases in a text: bars stand between the parts of a line, and ⏎ for a new line in a part."""


def lines_of(text: str) -> list[list[str]]:
    """Return the parts of each line."""
    lines = text.strip().splitlines()
    return [[part.strip().replace("⏎", "\n") for part in line.split("|")] for line in lines]


def grouped(text: str) -> list[tuple[str, str]]:
    """Return each part but the first of a line, with that first part: what all of them come to."""
    return [(part, head) for head, *parts in lines_of(text) for part in parts]
