"""Serve a model in a GGUF file on 127.0.0.1 in OpenAI's protocol, with llama.cpp, and print the address.

pip install xllamacpp
OMP_WAIT_POLICY=passive python scripts/serve_gguf.py MODEL.gguf [PORT]
"""
import os
import sys
import time
from pathlib import Path
os.environ.setdefault("OMP_WAIT_POLICY","passive")
import xllamacpp
path = Path(sys.argv[1])
p = xllamacpp.CommonParams()
p.model.path = str(path); p.model_alias=[path.stem] if not isinstance(p.model_alias,str) else path.stem
p.n_ctx, p.n_parallel, p.kv_unified, p.use_jinja = 16384, 2, True, True
p.port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
p.hostnames = ["127.0.0.1"] if not isinstance(p.hostnames, str) else "127.0.0.1"
server = xllamacpp.Server(p)
print(f"{server.listening_address}/v1", flush=True)
time.sleep(10**6)
