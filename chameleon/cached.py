"""A cached property without a lock.

That of Python 3.11 has one lock for all instances of a class: only one thread at a time computes it, and a
process that is forked meanwhile waits for it forever. From 3.12 on it has none.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

__all__ = ["cached_property"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:
        """Computes an attribute when it is first read; if two threads do, the last value stays."""

        def __init__(self, function):
            self.function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.function(instance)
            return value
