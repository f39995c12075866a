# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Writes groups.npy, the group of each of 200 rows; with an argument tells how many groups each query found.

usage: make_groups.py [FOUND.ibin]
"""

import struct
import sys

groups = [row * 7 % 23 - 3 for row in range(200)]
if len(sys.argv) > 1:
    with open(sys.argv[1], "rb") as file:
        rows, k = struct.unpack("<2I", file.read(8))
        ids = struct.unpack(f"<{rows * k}i", file.read())
    found = {len({groups[row] for row in ids[at : at + k]}) for at in range(0, rows * k, k)}
    print(*sorted(found), "groups a query")
    sys.exit()
header = "{'descr': '<i4', 'fortran_order': False, 'shape': (200,), }"
header += " " * (-(len(header) + 11) % 64) + "\n"
with open("groups.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<200i", *groups))
