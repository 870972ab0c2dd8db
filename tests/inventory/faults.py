"""Inventories with one fault each."""

from __future__ import annotations

FIXED = "name: mine\nplanner: {use: fixed, plan: [solution_generator, answer_generator]}\n"
GOOD = f"{FIXED}modules:\n  answer_generator: {{}}\n  solution_generator: {{}}\n"
TABLE = "input: {question: str, table: Table}"  # which the prompt of solution_generator shows
ONE = "modules: {answer_generator: {}}"
STEPS = "name: mine\nplanner:\n  use: fixed\n  plan:\n  - answer_generator\n  - "
REPLAN = "name: mine\nplanner:\n  use: replanning\n  planner: "
SHOP = f"{FIXED}modules:\n  shop:\n    inventory: tables_offline"
TWICE = "rules: {once: [answer_generator]}\nfallback:\n  [answer_generator, answer_generator]"
THEN = "planner:\n  use: then\n  planners:\n    - one_shot\n    - {use: react, prompt: plan.md}"

# The file, the line that is reported (0: the file alone), and what is said of it.
FAULTS: list[tuple[str, int, str]] = [
    (f"name: mine\nplaner: {{use: fixed}}\n{ONE}", 2, "unknown key 'planer'. Did you mean 'planner'?"),
    ("extends: tabmwp\nmodules:\n  row_lookup: null\n  program_executor: null", 4, "is removed here, but f"),
    (f"{GOOD}rules: {{last: solution_generator}}\n{TABLE}", 2, "breaks a rule: the plan ends with answer"),
    (f"{STEPS}answer_generater\n{ONE}", 6, "step 2 of the plan answer_generator → answer_generater: there"),
    (f"{STEPS}modul: answer_generator\n{ONE}", 6, "planner.plan.1: a step has no key 'modul'. Did you mean"),
    (f"{REPLAN}{{use: fixed, plan: [nobody]}}\n{ONE}", 2, "step 1 of the plan nobody: there is no module"),
    (f"{GOOD}llm:\n  prices:\n    inptu: 1\n    output: 1", 8, "'llm.prices.inptu'. Did you mean 'input'?"),
    (f"{FIXED}modules:\n  row_lookup:\n    min_row: 3", 5, "no parameter 'min_row'. Did you mean 'min_rows'"),
    (f"{REPLAN}3\n{ONE}", 4, "planner.planner is 3"),
    ("name: mine\nplanner: {use: fixed}\nmodules: {}", 2, "planner: Fixed lacks the parameter 'plan'"),
    ("name: mine\nplanner: one_shot\nmodules: [a]", 3, 'modules is ["a"]: input should be a valid dict'),
    (f"{GOOD}on_error: {{answer_generator: skip}}", 6, "'on_error'. It belongs to a module: `modules: {"),
    (f"{GOOD}  row_lookup: {{min_rows: many}}", 6, "min_rows is 'many': Input should be a valid integer"),
    (f"{FIXED}modules:\n  answer_generator: 7", 4, "modules.answer_generator is 7"),
    ("name: mine\nmodules: {}", 0, "the key 'planner' is missing"),
    (f"{GOOD}input: {{table: Tabel}}", 6, "an input is one of str, Table, list"),
    (f"{GOOD}repair:\n  answer_generator: {{redo: answer_generator, attempts: -1}}", 7, "greater than 0"),
    (f"{GOOD}? [a, b]\n: c", 6, "a key must be a name, not a list or a mapping"),
    (f"{GOOD}about: !!timestamp x", 6, "not a valid timestamp"),
    (f"{GOOD}about: a\nabout: b", 7, "the key 'about' occurs twice"),
    (f"{FIXED}modules:\n  answer_generator: {{prompt: x}}", 4, "AnswerGenerator asks no model and takes no"),
    (f"{GOOD}  row_lokup: {{}}", 6, "there is no module 'row_lokup'. Did you mean 'row_lookup'?"),
    ("name: mine\nplanner: {use: oneshot}\nmodules: {}", 2, "no planner 'oneshot'. Did you mean 'one_shot'?"),
    (f"{GOOD}fallback:\n  - solution_generator\n  - answer_generater", 8, "fallback names a module 'answer_"),
    (f"{GOOD}{TWICE}\n{TABLE}", 7, "occurs 2 times"),
    (f"{GOOD}repair:\n  answer_generator:\n    redo: nobody", 8, "repair.answer_generator.redo names a modu"),
    (f"{GOOD}  row_lookup:\n    on_error:\n      - nobody", 8, "modules.row_lookup.on_error names a modu"),
    (f"{GOOD}rules:\n  needs:\n    nobody: answer_generator", 8, "rules.needs.nobody names a module 'nob"),
    (f"{GOOD}  row_lookup:\n    prompt: tabmwp/row_lokup", 7, "'tabmwp/row_lokup'. Did you mean 'tabmwp/row"),
    (f"name: mine\n{THEN}\n{ONE}", 6, "planner.planners.1.prompt: there is no prompt 'plan.md'. Looked in /"),
    ("name: [mine", 1, "not valid YAML"),
    (f"{GOOD}\trow_lookup: {{}}", 6, "found character '\\t' that cannot start any token. Indent with spaces"),
    (f"{GOOD} row_lookup: {{}}", 6, "Indent this line like those above it."),
    (f"{GOOD}about: adds: all", 6, "Quote the text if it has a colon; else indent"),
    (f"{GOOD}about: [adds", 6, "Close the bracket, and put commas"),
    (f"{GOOD}about: 'adds", 6, "found unexpected end of stream. Close the quotes."),
    (f"{GOOD}about: @home", 6, "Quote a text that starts with this character."),
    (f"{GOOD}about\nllm: {{}}", 7, "could not find expected ':'. Write `KEY: VALUE`, or indent a text"),
    ("name: !!python/object/apply:os.system ['true']", 1, "not valid YAML"),
    ("", 0, "an inventory must be a mapping"),
    ("extends: [a]", 1, "extends must name one inventory"),
    ("extends: tabmpw", 1, "there is no inventory 'tabmpw'. Did you mean 'tabmwp'?"),
    ("extends: other.yaml", 1, "no such inventory file: other.yaml"),
    (f"{FIXED}modules:\n  shop: shop.yaml", 4, "as a module, write {inventory: shop.yaml}."),
    (f"{FIXED}modules:\n  shop: {{inventory: shp.yaml}}", 4, "modules.shop: no such inventory file: shp.y"),
    (f"{SHOP}\n    prompt: x", 6, "modules.shop.prompt: an inventory as a module takes no 'prompt'"),
    (f"{SHOP}\n    llm: {{timeout: 5}}", 4, "llm.timeout needs a model next to it"),
    (f"{FIXED}modules: {{plain: tl.plain}}", 3, "there is no module 'tl.plain'. Did you mean 'tl:plain'?"),
    (f"{GOOD}  row_lookup: {{max_text_tokens: 0}}", 6, "max_text_tokens is 0"),
    (f"name: mine\nplanner: {{use: one_shot, max_text_tokens: many}}\n{ONE}", 2, "max_text_tokens is 'many'"),
    (f"{GOOD}  row_lookup: {{description: [a, b]}}", 6, "description"),
    (f"{FIXED}modules:\n  solution_generator: {{structured: auto}}", 4, "SolutionGenerator replies in text"),
    ("extends: mine", 0, "inventories extend one another in a circle: mine → mine"),
]
