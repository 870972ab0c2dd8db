"""What is wrong with the prompts of an inventory: modules that are not shown, slots that nothing fills."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chameleon.errors import InventoryError
from chameleon.inventory.own_methods import is_declared, line_of
from chameleon.inventory.source import KeyPath
from chameleon.llm_module import AsksModel
from chameleon.module import Module, split_keys
from chameleon.planner import Planner
from chameleon.text import nearest

if TYPE_CHECKING:
    from chameleon.inventory.inventory import Inventory

_OF_EVERY_STATE = ("title", "context", "unavailable")
_IN_BRACES = re.compile(r"(?<!\{)\{(\w+)\}")
_FILLING = ("slots", "messages", "ask", "run", "propose", "choose")  # methods that may add slots


def hides_modules(planner: Planner, inventory: Inventory) -> InventoryError | None:
    """Return an error where a planner's prompt is to show the modules, and shows none.

    A prompt that has their names written out is as good: published ones do.
    """
    if not isinstance(planner, AsksModel) or not planner.card_slots:
        return None
    prompt = planner.template
    if planner.card_slots & prompt.variables:
        return None
    text = "\n".join(text for _, text in prompt.sections)
    names = [card.name for card in inventory.cards if card.name not in planner.hidden]
    if all(re.search(rf"(?<![^\W_]){re.escape(name)}(?!\w)", text, re.IGNORECASE) for name in names):
        return None
    slot = sorted(planner.card_slots)[0]
    one = slot.removesuffix("s")
    return InventoryError(
        f"the prompt {prompt.name} shows no modules: the model is never told what tools there are",
        hint=f"Put {slot} among its slots, and three lines where the modules are to stand:\n"
        f"{{% for {one} in {slot} %}}\n- {{{{ {one}.name }}}}: {{{{ {one}.description }}}}\n{{% endfor %}}",
        where=inventory.place(("planner", "prompt")),
    )


def unfilled(part: Planner | Module, inventory: Inventory) -> Iterator[InventoryError]:
    """Yield an error for each slot of a prompt that neither the input, a module nor its asker fills."""
    if not isinstance(part, AsksModel) or part.own_slots is None:
        return
    classes = type(part).__mro__
    telling = next(number for number, each in enumerate(classes) if "own_slots" in vars(each))
    if any(name in vars(each) for each in classes[:telling] for name in _FILLING):
        return  # a subclass fills slots in its own way, and does not say which
    prompt, own = part.template, part.own_slots.union(_OF_EVERY_STATE)
    given = {f"input.{key}" for key in inventory.input_types or ("*",)}
    given |= {key for name in inventory.present for key in inventory.access[name].writes}
    reads = inventory.access[part.name].reads if isinstance(part, Module) else None
    listed = split_keys(part.reads or ()) if isinstance(part, Module) else ()
    path = _path_of(part)
    unread: dict[str, str] = {}
    for slot in (*prompt.needs, *prompt.undeclared):
        keys = [key for key in (f"input.{slot}", f"cache.{slot}") if is_declared(key, given)]
        what = hint = ""
        if slot not in own and not keys:
            what = "neither the input nor a module fills it"
            hint = nearest(slot, own | {key.partition(".")[2] for key in given})
        elif slot not in own and reads is not None and not any(is_declared(key, reads) for key in keys):
            unread[slot] = keys[0]
        if what:
            what = f"the prompt {prompt.name} has the slot {slot!r}, and {what}"
            yield InventoryError(what, hint=hint, where=inventory.place(path))
    if unread:
        slots = f"slot{'s' if len(unread) > 1 else ''} {' and '.join(map(repr, unread))}"
        keys = [*unread.values()]
        what = f"the prompt {prompt.name} has the {slots}, and {part.name} does not declare to read "
        hint, kind = f"Write `{line_of((*listed, *keys))}` in its class.", type(part).__name__
        if type(part).__module__.startswith("chameleon."):
            more = f'{kind}.reads + ", {", ".join(keys)}"'
            if not isinstance(part.reads, str):
                more = f"(*{kind}.reads, {str(keys)[1:-1]})"
            hint = f"Subclass it: `class Mine({kind})` with `reads = {more}`, and name that class (`use:`)."
        yield InventoryError(f"{what}{' and '.join(keys)}", hint=hint, where=inventory.place(path))


def in_single_braces(part: Planner | Module, inventory: Inventory) -> InventoryError | None:
    """Return a hint where a prompt has `{question}` for `{{ question }}`, the way of Python's `format`."""
    if not isinstance(part, AsksModel):
        return None
    written = {key for name in inventory.present for key in inventory.access[name].writes}
    slots = {key.removesuffix("?") for key in part.template.slots}
    slots |= {key.partition(".")[2] for key in written}.union(inventory.input_types or ["question"])
    text = "\n".join(text for _, text in part.template.sections)
    if found := [slot for slot in _IN_BRACES.findall(text) if slot in slots]:
        what = f"the prompt {part.template.name} has {{{found[0]}}}, which a model is told as it stands"
        hint = f"Write {{{{ {found[0]} }}}} where its value is to stand."
        return InventoryError(what, hint=hint, where=inventory.place(_path_of(part)))
    return None


def _path_of(part: Planner | Module) -> KeyPath:
    return ("modules", part.name, "prompt") if isinstance(part, Module) else ("planner", "prompt")
