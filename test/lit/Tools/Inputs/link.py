# Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes linked.mlir anew, its function linked from files: link.py KIND FILE [KIND FILE]... > METRIC.mlir"""

import sys
from pathlib import Path

text = Path(__file__).with_name("linked.mlir").read_text(encoding="utf-8")


def escape(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in data)


pieces = [
    f'{kind} "{escape(Path(file).read_bytes())}"' for kind, file in zip(sys.argv[1::2], sys.argv[2::2], strict=True)
]
before, rest = text.split("link(", 1)
print(f"{before}link({', '.join(pieces)})\n{rest.split(chr(10), 1)[1]}", end="")
