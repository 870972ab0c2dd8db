#!/usr/bin/env bash
# Run every test that there is, also those that are too long for .ci/run, each group in an environment of its own:
#   scripts/full_tests.sh [STEP…]
# Steps: suite (all tests, without heavy packages, with more examples), ray (a Ray cluster, Inspect, PostgreSQL),
# pictures (text in pictures), torch (captions, embeddings, a real model server), docs (the site, its links inside), notebooks.
# Without one all run, about half an hour on two cores. Packages come from the network; the tests do not use it.
set -euo pipefail
cd "$(dirname "$0")/.."

STEPS=(suite ray pictures torch docs notebooks)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

die() {
  printf '%s\n' "$*" >&2
  exit 2
}

environment() { # NAME REQUIREMENT…: make $work/NAME once, and add to it
  local name=$1
  shift
  [ -d "$work/$name" ] || python3 -m venv "$work/$name"
  "$work/$name/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}

tests() { # NAME ARGUMENT…: pytest in the environment NAME
  local name=$1
  shift
  "$work/$name/bin/python" -m pytest -q "$@"
}

run_suite() {
  environment suite -e '.[test]'
  HYPOTHESIS_PROFILE=thorough tests suite
}

run_ray() {
  environment ray -e '.[dev]'
  tests ray -n0 tests/interop/test_ray.py
  tests ray -n0 tests/interop/test_inspect_log.py tests/table/test_databases.py
}

run_pictures() {
  environment pictures -e '.[test,ocr]'
  tests pictures tests/pictures tests/modules/vision tests/e2e/test_scienceqa_runs.py \
    tests/test_documents.py
}

run_torch() {
  environment torch 'torch==2.13.0' 'transformers[serving]>=5' -e '.[test,ocr,embeddings]'
  tests torch -n0 tests/modules/vision tests/modules/reports/test_report_retriever.py tests/planners/test_shortlist.py \
    tests/retrieval tests/served
}

run_docs() {
  environment site -e '.[test,docs]'
  tests site -n0 tests/test_docs_site.py
}

run_notebooks() {
  environment site -e '.[test,docs]'
  tests site -n0 tests/test_notebooks.py
}

for step in "$@"; do
  [[ " ${STEPS[*]} " == *" $step "* ]] || die "there is no step '$step'. Steps: ${STEPS[*]}"
done
[ $# -gt 0 ] || set -- "${STEPS[@]}"
failed=()
for step in "$@"; do
  printf '\n== %s (%ss)\n' "$step" "$SECONDS"
  set +e # a step that fails ends itself, and not the others
  (set -e; "run_$step")
  code=$?
  set -e
  [ $code = 0 ] || failed+=("$step")
done
printf '\n== done (%ss)\n' "$SECONDS"
[ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}"
