"""Draw docs/terminal.svg: the output of two commands in a terminal of 88 columns.

python scripts/draw_terminal.py
"""

import os
import pty
import re
import shlex
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "terminal.svg"
WIDTH = 88
COMMANDS = (
    'chameleon ask "How many more points does Kingsmere Town have than Northgate United?"'
    " --table demos/data/league.csv --inventory tables_offline",
    'chameleon ask "Who will win the league next year?"'
    " --table demos/data/league.csv --inventory tables_offline",
)
THEME = TerminalTheme(
    (24, 26, 31),
    (222, 222, 222),
    [(60, 60, 60), (224, 108, 117), (152, 195, 121), (229, 192, 123)] + [(97, 175, 239)] * 4,
    [(150, 150, 150)] * 8,
)
# The drawing by rich, without fonts from the network.
FORMAT = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>What chameleon prints</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
  line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">
{matrix}
</g></g>
</svg>
"""


def printed(command: str) -> str:
    """Return the terminal output of a command, without its duration."""
    home = tempfile.TemporaryDirectory()  # without anybody's settings
    (Path(home.name) / "demos").symlink_to(ROOT / "demos")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(home.name)
        kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": home.name}
        kept |= {"TERM": "xterm-256color", "COLUMNS": str(WIDTH), "LINES": "40", "CHAMELEON_STORE": "off"}
        os.execve(sys.executable, [sys.executable, "-m", *shlex.split(command)], kept)
    written = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # how Linux reports that the other end is closed
            break
        if not piece:
            break
        written += piece
    os.close(terminal)
    os.waitpid(pid, 0)
    home.cleanup()
    text = written.decode().replace("\r\n", "\n")
    text = re.sub(r"[^\n]*\r", "", text)  # progress lines that were overwritten
    return re.sub(r"\s+Took (?:[\d.,]+ m?s|under 1 ms)\.", "", text)


def draw() -> str:
    """Return the picture as SVG."""
    console = Console(
        width=WIDTH, record=True, file=StringIO(), force_terminal=True, color_system="truecolor"
    )
    for command in COMMANDS:
        console.print(Text.assemble(("$ ", "bold green"), command))
        console.print(Text.from_ansi(printed(command).rstrip("\n")))
        console.print()
    return console.export_svg(title="", theme=THEME, code_format=FORMAT, unique_id="terminal")


def main() -> None:
    PICTURE.write_text(draw(), "utf-8")


if __name__ == "__main__":
    main()
