"""Speaks the language server protocol with the server given as arguments, as an editor does, and prints what it says.

An open text without mistakes of structure is verified; a change makes it right; completion; a text of another dialect.
"""

import json
import subprocess
import sys

METRIC = """annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<16 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<16 x f32>
    %r = arith.addf %acc, %v : f32
    annudf.yield %r : f32
  }
}
"""
KERNEL = """module attributes {gpu.container_module} {
gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
%s
gpu.func @begin(%%out: memref<1xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
  %%zero = arith.constant 0 : index
  %%acc = annudf.call_init @m() : () -> f32
  memref.store %%acc, %%out[%%zero] : memref<1xf32>
  gpu.return
}
}
func.func @of_others() attributes {others.note} {
  return
}
}
"""
URI = "file:///tmp/annudf-metric.mlir"

server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def send(method, params, number=None):
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    text = json.dumps(message).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
    server.stdin.flush()


def receive():
    size = int(server.stdout.readline().split()[-1])
    assert server.stdout.readline() == b"\r\n"
    return json.loads(server.stdout.read(size))


def tell(what):
    """The diagnostics of the next message, a line each."""
    diagnostics = receive()["params"]["diagnostics"]
    print(f"{what}: {len(diagnostics)} diagnostics")
    for found in diagnostics:
        start, end = found["range"]["start"], found["range"]["end"]
        print(f"  {start['line']}:{start['character']}-{end['line']}:{end['character']}", found["severity"], found.get("source"),
              found.get("code"), found.get("codeDescription", {}).get("href"), found["message"])


def change(version, text):
    """The server asks for whole texts, not for edits of them."""
    send("textDocument/didChange", {"textDocument": {"uri": URI, "version": version}, "contentChanges": [{"text": text}]})


send("initialize", {"processId": 1, "rootPath": "/", "capabilities": {}, "trace": "off"}, 0)
assert "capabilities" in receive()["result"]
send("textDocument/didOpen", {"textDocument": {"uri": URI, "languageId": "mlir", "version": 1, "text": METRIC}})
tell("rule")
change(2, METRIC.replace("16 x", "dim x"))
tell("mended")
change(3, METRIC.replace("yield %r", "yield %d").replace("yield %d : f32", "yield %d : index"))
tell("structure")
change(4, "// Nothing.\n// -----\n" + METRIC + "// -----\n" + METRIC.replace("16 x", "dim x"))
tell("second part")
change(5, METRIC.replace("    %r = arith", "    annudf.\n    %r = arith"))
tell("incomplete")
send("textDocument/completion", {"textDocument": {"uri": URI}, "position": {"line": 9, "character": 11},
                                 "context": {"triggerKind": 1}}, 1)
items = receive()["result"]["items"]
print("completes:", *sorted(item["label"] for item in items if item["label"] in ("index", "load", "yield", "capture", "update")))
change(6, "func.func private @f(%x: f32) -> f32 {\n  return %x : f32\n}\n")
tell("no metric")
change(7, KERNEL % METRIC.replace("16 x", "dim x"))
tell("kernel")
change(8, KERNEL % METRIC)
tell("rule in a kernel's module")
change(9, "module attributes {gpu.container_module} {\n" + METRIC.replace("16 x", "dim x") + "func.func @of_others() {\n  return\n}\n}\n")
tell("beside a function")
send("shutdown", None, 2)
assert receive()["id"] == 2
send("exit", None)
print("exit", server.wait(timeout=20))
