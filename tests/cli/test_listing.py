"""`chameleon list modules`: what a module reads, writes and takes, and the file that has it."""

from __future__ import annotations

import json
import re

from tests.e2e.commands import Command


def test_a_module_is_shown_with_its_keys_and_parameters(command: Command) -> None:
    shown = command("list", "modules", "text_detector").out
    assert re.search(r"^File: .*/modules/vision/text_detector\.py$", shown, re.MULTILINE)
    assert "Reads: input.image\nWrites: cache.detected_text, cache.text_boxes\n" in shown
    assert '  engine: auto or easyocr or rapidocr or tesseract = "auto"\n' in shown
    told = json.loads(command("list", "modules", "web_search", "--json").out)
    assert told["writes"] == ["cache.web_search_response"] and told["uses"] == ["web"]
    assert {"name": "count", "type": "int", "default": 3} in told["parameters"]
    assert "shortlist" not in command("list", "planners").out
    every = json.loads(command("list", "modules", "--json").out)
    assert [each["name"] for each in every] == sorted(each["name"] for each in every)
    assert all(each["writes"] for each in every)
