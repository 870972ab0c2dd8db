"""Serve a model on 127.0.0.1 over OpenAI's protocol with llama.cpp; print the address once it is ready.

    pip install xllamacpp
    python scripts/serve_gguf.py MODEL.gguf [--port 8080] [--context 8192] [--slots 2]

`--context` is the size per slot; `--slots` is the number of concurrent requests.
"""

import argparse
import os
from contextlib import suppress
from pathlib import Path
from threading import Event

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # on a busy machine: 26 tokens a second instead of 2


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", type=Path)
    for name, default in (("port", 0), ("context", 8192), ("slots", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = str(given.model), [given.model.stem]
    params.n_ctx, params.n_parallel = given.context * given.slots, given.slots
    params.kv_unified, params.use_jinja = True, True
    params.port, params.hostnames = given.port, ["127.0.0.1"]
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    with suppress(KeyboardInterrupt):
        Event().wait()


if __name__ == "__main__":
    main()
