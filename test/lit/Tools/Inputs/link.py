# Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes linked.mlir anew, its function linked from a file: link.py KIND FILE > METRIC.mlir"""

import sys
from pathlib import Path

kind, file = sys.argv[1:]
text = Path(__file__).with_name("linked.mlir").read_text(encoding="utf-8")
escaped = "".join(
    chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in Path(file).read_bytes()
)
before, rest = text.split("link(", 1)
print(f'{before}link({kind} "{escaped}")\n{rest.split(chr(10), 1)[1]}', end="")
