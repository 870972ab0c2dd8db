"""The web for modules: one careful client, a cache on disk, and pages as plain text."""

from __future__ import annotations

from chameleon.markup import page_text
from chameleon.web.cache import PageCache
from chameleon.web.client import Limits, Web
from chameleon.web.reply import WebReply

__all__ = ["Limits", "PageCache", "Web", "WebReply", "page_text"]
