"""Web access for modules: one careful client, a cache on disk, and pages as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chameleon.lazy import lazy

if TYPE_CHECKING:
    from chameleon.web.cache import PageCache
    from chameleon.web.markup import page_text
    from chameleon.web.reply import WebReply
    from chameleon.web.web import Web, WebLimits

__all__ = ["PageCache", "Web", "WebLimits", "WebReply", "page_text"]

if not TYPE_CHECKING:  # type checkers reject unlisted names
    __getattr__ = lazy(__name__, cache="PageCache", markup="page_text", reply="WebReply", web="Web WebLimits")
