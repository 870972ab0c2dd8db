"""Inventories with one fault each."""

# ruff: noqa: E501 - one case, one line

from __future__ import annotations

BASE = """\
name: mine
planner: {use: fixed, plan: [answer_generator]}
"""
GOOD = f"""{BASE}modules:
  answer_generator: {{}}
  solution_generator: {{}}
"""

# What is wrong: the file, the line that is told (0: the file alone), and what is told.
FAULTS: dict[str, tuple[str, int, str]] = {
    "an unknown key": (f"{GOOD}moduls: {{}}", 6, "unknown key 'moduls'. Did you mean 'modules'?"),
    "an unknown key in place of a missing one": (
        "name: mine\nplaner: {use: fixed, plan: [answer_generator]}\nmodules: {}",
        2,
        "unknown key 'planer'. Did you mean 'planner'?",
    ),
    "a removed module that a fallback names": (
        "extends: tabmwp\nmodules:\n  row_lookup: null\n  program_executor: null",
        4,
        "the module 'program_executor' is removed here, and fallback (",
    ),
    "a removed module that a rule of another names": (
        "extends: tabmwp\nfallback: []\nmodules:\n  program_executor: null",
        4,
        "rules.next.program_verifier (",
    ),
    "a fixed plan that ends wrongly": (
        f"{BASE}rules: {{last: solution_generator}}\nmodules: {{answer_generator: {{}}, solution_generator: {{}}}}",
        2,
        "the plan answer_generator breaks a rule: the plan ends with answer_generator",
    ),
    "a fixed plan of a planner within a planner": (
        "name: mine\nplanner:\n  use: replanning\n  planner:\n    use: fixed\n    plan: [nobody]\nmodules: {answer_generator: {}}",
        6,
        "the plan nobody breaks a rule: there is no module 'nobody'",
    ),
    "a fallback that breaks a rule": (
        f"{GOOD}rules: {{once: [answer_generator]}}\nfallback:\n  [answer_generator, answer_generator]",
        7,
        "breaks a rule: answer_generator occurs 2 times",
    ),
    "the plan of a rule": (
        "name: mine\nplanner:\n  use: rules\n  rules:\n    - plan: [answer_generator]\n    - plan: [nobody]\nmodules: {answer_generator: {}}",
        6,
        "the plan nobody breaks a rule",
    ),
    "an unknown key in prices": (
        f"{GOOD}llm:\n  prices:\n    inptu: 1\n    input: 1\n    output: 1",
        8,
        "unknown key 'llm.prices.inptu'. Did you mean 'input'?",
    ),
    "an unknown key in repair": (
        f"{GOOD}repair:\n  answer_generator:\n    redo: answer_generator\n    attempt: 3",
        9,
        "unknown key 'repair.answer_generator.attempt'. Did you mean 'attempts'?",
    ),
    "an unknown parameter": (
        f"{BASE}modules:\n  answer_generator: {{}}\n  row_lookup:\n    min_row: 3",
        6,
        "RowLookup has no parameter 'min_row'. Did you mean 'min_rows'?",
    ),
    "an unknown key in a module's llm": (
        f"{GOOD}  row_lookup:\n    llm:\n      max_token: 3",
        8,
        "unknown key 'modules.row_lookup.llm.max_token'. Did you mean 'max_tokens'?",
    ),
    "an unknown parameter of an inner planner": (
        "name: mine\nplanner:\n  use: then\n  planners:\n    - use: fixed\n      plan: [a]\n    - use: fixed\n      plann: [a]\nmodules: {}",
        8,
        "planner.planners.1.plann: Fixed has no parameter 'plann'. Did you mean 'plan'?",
    ),
    "an inner planner that is no mapping": (
        "name: mine\nplanner:\n  use: replanning\n  planner: one_shot\nmodules: {}",
        4,
        'planner.planner is "one_shot"',
    ),
    "a missing parameter": (
        "name: mine\nplanner: {use: fixed}\nmodules: {}",
        2,
        "Fixed cannot be made: Fixed.__init__() missing 1 required positional argument: 'plan'",
    ),
    "an empty plan": (
        "name: mine\nplanner: {use: fixed, plan: []}\nmodules: {}",
        2,
        "a fixed plan needs at least one module",
    ),
    "a wrong type of parameter": (
        f"{GOOD}  row_lookup: {{min_rows: many}}",
        6,
        "min_rows is 'many': Input should be a valid integer",
    ),
    "a module as text": (
        f"{BASE}modules:\n  answer_generator: yes please",
        4,
        'modules.answer_generator is "yes please"',
    ),
    "a module name with a space": (
        f"{BASE}modules:\n  answer generator: {{}}",
        4,
        "letters, digits and underscores",
    ),
    "a planner as text": ("name: mine\nplanner: one_shot\nmodules: {}", 2, 'planner is "one_shot"'),
    "no planner": ("name: mine\nmodules: {}", 0, "the key 'planner' is missing"),
    "no modules": (BASE, 0, "the key 'modules' is missing"),
    "an input type that is none": (
        f"{GOOD}input: {{table: Tabel}}",
        6,
        "an input is one of str, Table, list",
    ),
    "negative attempts": (
        f"{GOOD}repair:\n  answer_generator: {{redo: answer_generator, attempts: -1}}",
        7,
        "greater than 0",
    ),
    "an on_error that is none": (
        f"{GOOD}  row_lookup: {{on_error: retry}}",
        6,
        'modules.row_lookup.on_error is "retry"',
    ),
    "a key that is a list": (f"{GOOD}? [a, b]\n: c", 6, "a key is a name, not a list or a mapping"),
    "a key of aliases in aliases": (
        f"{GOOD}? &k1 [&k0 [x, x], *k0, *k0]\n: &k2 [*k1, *k1]",
        6,
        "a key is a name, not a list or a mapping",
    ),
    "no timestamp": (f"{GOOD}about: !!timestamp x", 6, "this is no timestamp"),
    "a key twice": (f"{GOOD}about: a\nabout: b", 7, "the key 'about' stands twice"),
    "a prompt for a module without a model": (
        f"{BASE}modules:\n  answer_generator: {{prompt: x}}",
        4,
        "AnswerGenerator asks no model and has no 'prompt'",
    ),
    "a module that there is not": (
        f"{GOOD}  row_lokup: {{}}",
        6,
        "there is no module 'row_lokup'. Did you mean 'row_lookup'?",
    ),
    "a planner that there is not": (
        "name: mine\nplanner: {use: oneshot}\nmodules: {}",
        2,
        "there is no planner 'oneshot'. Did you mean 'one_shot'?",
    ),
    "a fallback to nobody": (
        f"{GOOD}fallback:\n  - solution_generator\n  - answer_generater",
        8,
        "fallback.1 names a module 'answer_generater' that the inventory does not have. Did you mean 'answer_generator'?",
    ),
    "a last module that is nobody": (
        f"{GOOD}rules:\n  last: nobody",
        7,
        "rules.last names a module 'nobody'",
    ),
    "needs of nobody": (
        f"{GOOD}rules:\n  needs:\n    nobody: answer_generator",
        8,
        "rules.needs.nobody names a module 'nobody'",
    ),
    "repair of nobody": (
        f"{GOOD}repair:\n  nobody: {{redo: answer_generator}}",
        7,
        "repair.nobody names a module 'nobody'",
    ),
    "repair by nobody": (
        f"{GOOD}repair:\n  answer_generator:\n    redo: nobody",
        8,
        "repair.answer_generator.redo names a module 'nobody'",
    ),
    "an on_error plan of nobody": (
        f"{GOOD}  row_lookup:\n    on_error:\n      - nobody",
        8,
        "modules.row_lookup.on_error.0 names a module 'nobody'",
    ),
    "a prompt that there is not": (
        f"{GOOD}  row_lookup: {{prompt: no/such}}",
        0,
        "there is no prompt 'no/such'",
    ),
    "a tab": ("name: mine\n\tplanner: x", 2, "not valid YAML"),
    "a bracket left open": ("name: [mine", 1, "not valid YAML"),
    "an unknown tag": ("name: !!python/object/apply:os.system ['true']", 1, "not valid YAML"),
    "two documents": (f"{GOOD}---\n{GOOD}", 6, "not valid YAML"),
    "nothing": ("", 0, "an inventory is a mapping"),
    "an extends that is no name": ("extends: [a]", 1, "extends names one inventory"),
    "an extends of nobody": ("extends: tabmpw", 0, "there is no inventory 'tabmpw'. Did you mean 'tabmwp'?"),
    "an extends of no file": ("extends: other.yaml", 0, "no such inventory file"),
    "an extends of itself": ("extends: mine", 0, "extends goes round in a circle: mine → mine"),
}
