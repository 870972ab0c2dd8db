"""Pictures and texts that cannot be used are refused before anything is planned, in one line."""

from __future__ import annotations

import io
import os
import random
from pathlib import Path

import pytest

from chameleon.errors import InputError
from chameleon.pictures.opening import check_picture
from tests.e2e.commands import Command, spawn

pytest.importorskip("PIL", reason="pictures need Pillow")

from tests.pictures.drawn import png

QUESTION = "What does the sign say?"


def a_jpeg() -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (60, 40), "red").save(file, "JPEG")
    return file.getvalue()


GOOD = png(20, 10)
BAD = {
    "no bytes": (b"", "is empty"),
    "a text": (b"What is this?\n" * 50, "is no picture"),
    "a script": (b"%!PS-Adobe-3.0 EPSF-3.0\n", "is PostScript, which is a program"),
    "cut off in its header": (GOOD[:20], "is damaged or cut off"),
    "a checksum that is wrong": (GOOD[:45] + b"\x00\x01" + GOOD[47:], "is damaged or cut off"),
    "a JPEG without its end of header": (a_jpeg()[:100], "damaged"),
    "a bomb": (png(40_000, 40_000), "too large to be unpacked safely"),
    "a smaller bomb": (png(10_000, 10_000), "too large to be unpacked safely"),
}


@pytest.mark.parametrize("verb", ["ask", "plan"])
@pytest.mark.parametrize(("content", "words"), BAD.values(), ids=BAD)
def test_a_picture_that_cannot_be_used(
    command: Command, tmp_path: Path, content: bytes, words: str, verb: str
) -> None:
    file = tmp_path / "sign.png"
    file.write_bytes(content)
    outcome = command(verb, QUESTION, "--image", str(file))
    assert outcome.code == 1 and not outcome.out
    assert words in outcome.complaint and str(file) in outcome.complaint


def test_what_is_no_file(command: Command, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place, for_image in [
        (tmp_path / "nowhere", "there is no such picture"),
        (tmp_path, "is a folder, not a file"),
        (pipe, "is a device or a pipe, not a file"),
        (Path("/dev/zero"), "is a device or a pipe, not a file"),
    ]:
        for option, words in (("--image", for_image), ("--text", for_image.replace("picture", "file"))):
            outcome = command("ask", QUESTION, option, str(place))
            assert outcome.code == 1 and not outcome.out
            assert words in outcome.complaint and str(place) in outcome.complaint


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="everything can be read here")
def test_what_may_not_be_read(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_bytes(GOOD)
    file.chmod(0)
    for option in ("--image", "--text"):
        assert "cannot be read: " in command("ask", QUESTION, option, str(file)).complaint


def test_a_text_has_a_limit(command: Command, tmp_path: Path) -> None:
    huge, binary = tmp_path / "huge.txt", tmp_path / "binary.txt"
    with huge.open("wb") as file:
        file.truncate(50 * 2**30)  # a sparse file: it takes no room
    binary.write_bytes(b"text \xff\xfe")
    outcome = command("ask", QUESTION, "--text", str(huge))
    assert outcome.code == 1 and "more than the limit of 1,000,000 bytes" in outcome.complaint
    assert "not UTF-8 text (byte 5)" in command("ask", QUESTION, "--text", str(binary)).complaint


def test_a_process_ends_at_once_on_an_endless_device() -> None:
    outcome = spawn("ask", QUESTION, "--text", "/dev/zero")
    assert outcome.code == 1 and "is a device or a pipe" in outcome.complaint


def test_a_question_that_lacks_its_picture(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\ninput: {question: str, image: path}\n"
        "planner: {use: fixed, plan: [text_detector]}\nmodules: {text_detector: {}}\n"
    )
    outcome = command("ask", QUESTION, "--inventory", str(file))
    assert outcome.code == 1
    assert outcome.complaint.endswith("the inventory mine needs an image. Give one with --image FILE.")


@pytest.mark.parametrize("suffix", ["png", "jpg", "gif", "bmp", "tiff", "webp", "ppm", "tga", "jp2", "pcx"])
def test_a_picture_that_is_cut_off_anywhere_is_refused(suffix: str, tmp_path: Path) -> None:
    from PIL import Image

    picture = tmp_path / f"noise.{suffix}"
    Image.frombytes("RGB", (200, 150), random.Random(0).randbytes(90_000)).save(picture)
    whole = picture.read_bytes()
    check_picture(picture)
    for kept in (30, 60, 95):
        picture.write_bytes(whole[: len(whole) * kept // 100])
        with pytest.raises(InputError, match=f"noise.{suffix}"):
            check_picture(picture)


def test_a_picture_whose_checksum_does_not_fit_is_refused(tmp_path: Path) -> None:
    data = bytearray(png(900, 900))
    data[data.index(b"IDAT") + 9] ^= 1
    (tmp_path / "bad.png").write_bytes(bytes(data))
    with pytest.raises(InputError, match="damaged or cut off"):
        check_picture(tmp_path / "bad.png")


def test_a_text_given_as_a_picture_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("Opens at 9.")
    with pytest.raises(InputError, match=r"is no picture but text\. Did you mean to give it as a text\?"):
        check_picture(tmp_path / "note.txt")
