"""The values a run may hold: JSON, `Table` and paths; how they are frozen and written to a log."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, NoReturn, TypeVar

from chameleon.errors import ModuleError, NoSuchKey
from chameleon.text import type_in_words

T = TypeVar("T")

_MAX_LEVELS = 64
_MAX_KEYS, _MAX_KEY_CHARS = 20, 60  # listed in an error
_MAX_PATH_CHARS = 200
_PART_CHARS = 16  # for each item of a list or mapping: about its size in memory
_MAX_BITS = 14_000  # Python does not convert integers of more than 4,300 digits
_TAGS: dict[type[Any], str] = {}  # tags in JSON of the classes whose values a run may hold
_ADOPTERS: list[Callable[[Any], Any]] = []
_NUMPY_KINDS: Mapping[str, type[Any]] = {"b": bool, "i": int, "u": int, "f": float, "U": str, "M": str}


def held_as(tag: str, adopt: Callable[[Any], Any]) -> Callable[[type[T]], type[T]]:
    """Let a run hold the values of a class with `to_json`, `from_json` and `chars`; its JSON is {tag: …}.

    `adopt` converts a value of another library, such as a DataFrame, and returns None for all others.
    """

    def hold(kind: type[T]) -> type[T]:
        _TAGS[kind] = tag
        _ADOPTERS.append(adopt)
        return kind

    return hold


def adopted(value: Any) -> Any:
    """Return the value in a form that runs hold: a `Table` for a DataFrame, a number for a NumPy scalar."""
    if isinstance(value, str):
        return value
    if type(value).__module__.partition(".")[0] in ("numpy", "pandas"):
        value = _of_scalar(value)
    candidates = (adopt(value) for adopt in _ADOPTERS)
    return next((each for each in candidates if each is not None), value)


def _of_scalar(value: Any) -> Any:
    """Return the JSON form of a NumPy or pandas scalar, None if it is missing, or else the value."""
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    if hasattr(type(value), "isoformat"):
        return value.isoformat()
    kind = value.dtype.kind if getattr(value, "shape", None) == () else ""
    plain = _NUMPY_KINDS[kind](value) if kind in _NUMPY_KINDS else value
    return None if kind == "M" and plain == "NaT" else plain


class ReadOnly(dict[str, Any]):
    """A dictionary that cannot be changed; it can be read, copied, pickled and written as JSON."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a run's values are read-only: return what changes, and name its key in `writes`")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __missing__(self, key: object) -> NoReturn:
        names = ", ".join(each[:_MAX_KEY_CHARS] for each in islice(self, _MAX_KEYS))
        hint = f"There are: {names}{' …' if len(self) > _MAX_KEYS else ''}." if self else "It is empty."
        raise NoSuchKey(f"there is no key {str(key)[:_MAX_KEY_CHARS]!r}", hint=hint)

    def __reduce__(self) -> "tuple[type[ReadOnly], tuple[dict[str, Any]]]":
        return ReadOnly, (dict(self),)  # by default pickle sets each item, which is refused


class _Unfit(Exception):
    """A part of a value that a run cannot hold; its place is added on the way out, key by key."""

    def __init__(self, what: str, hint: str = "", *, of_whole: bool = False) -> None:
        self.what, self.hint, self.of_whole, self.path = what, hint, of_whole, ""


class Room:
    """The allowed size of a value: the characters of its texts, and similar amounts for its other parts.

    Args:
        megabytes: of characters.
        more: returns extra characters, such as those of a run's input; called only if these are not enough.
    """

    def __init__(self, megabytes: float | None = None, more: Callable[[], int] = lambda: 0) -> None:
        self.megabytes, self.taken, self._more = megabytes, 0, more
        self._limit = math.inf if megabytes is None else megabytes * 1e6

    def take(self, size: int) -> None:
        """Count characters, and fail if they exceed the room."""
        self.taken += size
        if self.taken > self._limit:
            self._limit, self._more = self._limit + self._more(), lambda: 0  # called only once
            if self.taken > self._limit:
                hint = "Keep less of it, or raise budget.megabytes in the inventory."
                raise _Unfit(f"is larger than {self.megabytes:g} MB", hint, of_whole=True)


def freeze(value: Any, where: str = "value", room: Room | None = None) -> Any:
    """Return the value in the read-only form that modules see: lists as tuples, mappings as `ReadOnly`.

    Args:
        where: names the value in errors: "its output".
        room: limits its size; None for no limit. What the value takes is counted in it.

    Raises:
        ModuleError: naming the key path of the first part that a log cannot hold, or for too large a value.
    """
    try:
        return _freeze(value, 0, room or Room())
    except _Unfit as problem:
        path = "" if problem.of_whole else problem.path
        path = path if len(path) <= _MAX_PATH_CHARS else f"{path[:_MAX_PATH_CHARS]}…"
        raise ModuleError(f"{where}{path} {problem.what}", hint=problem.hint) from None


def _freeze(value: Any, depth: int, room: Room) -> Any:
    if isinstance(value, str):
        room.take(len(value))
        return str.__str__(value)  # the plain text of an enum, as in a log
    if value is None or isinstance(value, bool):
        return value
    if type(value) in _TAGS:
        room.take(value.chars)
        return value
    if isinstance(value, (int, float)):
        return _number(value, room)
    if isinstance(value, PurePath):
        room.take(len(str(value)))
        return Path(value)
    if depth > _MAX_LEVELS:
        raise _Unfit(f"is nested more than {_MAX_LEVELS} levels deep")
    if isinstance(value, (list, tuple)):
        return _frozen_list(value, depth + 1, room)
    if isinstance(value, (dict, Mapping)):
        return _frozen_mapping(value, depth + 1, room)
    if (other := adopted(value)) is not value:
        return _freeze(other, depth, room)
    hint = "Its `.tolist()` is a list. " if getattr(value, "shape", ()) and hasattr(value, "tolist") else ""
    raise _Unfit(f"is {type_in_words(value)}", f"{hint}A run holds JSON values, Table and paths only.")


def _frozen_list(value: Sequence[Any], depth: int, room: Room) -> tuple[Any, ...]:
    room.take(_PART_CHARS * len(value))
    items: list[Any] = []
    try:
        for item in value:
            items.append(_freeze(item, depth, room))
    except _Unfit as problem:
        problem.path = f"[{len(items)}]{problem.path}"
        raise
    return tuple(items)


def _frozen_mapping(value: Mapping[Any, Any], depth: int, room: Room) -> ReadOnly:
    room.take(_PART_CHARS * len(value))
    items: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise _Unfit(f"has the key {key!r}, but keys must be strings")
        room.take(len(key))
        try:
            items[str.__str__(key)] = _freeze(item, depth, room)
        except _Unfit as problem:
            problem.path = f".{key}{problem.path}"
            raise
    return ReadOnly(items)


def _number(value: int | float, room: Room) -> int | float:
    """Return the plain number of an enum or a NumPy scalar, as a log would keep it."""
    if isinstance(value, int):
        if (bits := value.bit_length()) > _MAX_BITS:
            raise _Unfit("is a number of more than 4,000 digits", "Use a string.")
        room.take(bits // 3)  # a digit has 3.3 bits
        return int(value)
    if not math.isfinite(value):
        raise _Unfit(f"is {value}, which JSON cannot hold", "Use None or a string.")
    return float(value)


def only_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Build a JSON object for `json.loads`. Raises ValueError for a duplicate key."""
    if repeated := [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]:
        raise ValueError(f"the key {repeated[0]!r} occurs twice")
    return dict(pairs)


def to_json(value: Any) -> Any:
    """Write a frozen value as JSON; `from_json` reads it back unchanged."""
    if isinstance(value, (str, int, float)):  # most values are text, so check that first
        return value
    if type(value) in _TAGS:
        return {_TAGS[type(value)]: value.to_json()}
    if isinstance(value, PurePath):
        return {"$path": str(value)}
    if isinstance(value, (tuple, list)):
        return [to_json(item) for item in value]
    if isinstance(value, (dict, Mapping)):
        # A key of the user's that begins with a dollar must not look like "$path" or a tag.
        return {(f"${key}" if key.startswith("$") else key): to_json(item) for key, item in value.items()}
    return value


def from_json(data: Any) -> Any:
    """Return the frozen value that `to_json` wrote."""
    if isinstance(data, list):
        return tuple(from_json(item) for item in data)
    if isinstance(data, dict):
        if len(data) == 1 and "$path" in data:
            return Path(data["$path"])
        for kind, tag in _TAGS.items() if len(data) == 1 else ():
            if tag in data:
                return kind.from_json(data[tag])
        items = {(key[1:] if key.startswith("$$") else key): from_json(item) for key, item in data.items()}
        return ReadOnly(items)
    return data


def merge(old: Mapping[str, Any], changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the mapping after the changes, in the order in which keys were last written."""
    merged = ReadOnly(old)  # new, so it may be changed until it is returned
    for key in changes:
        dict.pop(merged, key, None)
    dict.update(merged, changes)
    return merged
