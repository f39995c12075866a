"""reseal.py FROM TO FIELD=VALUE: changes a field of an artifact's manifest and writes the digest that fits.

FIELD is a path (abi.minor, payloads.0.version); no VALUE takes the field out. Numbers stay numbers, \\x1b is one byte;
a new field is true, in its place.
"""

import hashlib
import sys


def decode(data, at):
    major, info = data[at] >> 5, data[at] & 31
    at += 1
    if major == 7:
        return {20: False, 21: True, 22: None}[info], at
    if info < 24:
        value = info
    else:
        width = 1 << (info - 24)
        value = int.from_bytes(data[at : at + width], "big")
        at += width
    if major == 0:
        return value, at
    if major == 1:
        return -1 - value, at
    if major in (2, 3):
        raw = data[at : at + value]
        return (bytes(raw) if major == 2 else raw.decode()), at + value
    if major == 4:
        items = []
        for _ in range(value):
            item, at = decode(data, at)
            items.append(item)
        return items, at
    pairs = {}
    for _ in range(value):
        key, at = decode(data, at)
        pairs[key], at = decode(data, at)
    return pairs, at


def head(major, value):
    if value < 24:
        return bytes([major << 5 | value])
    for info, width in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if value < 1 << (8 * width):
            return bytes([major << 5 | info]) + value.to_bytes(width, "big")


def encode(value):
    if value is None or isinstance(value, bool):
        return bytes([{False: 0xF4, True: 0xF5, None: 0xF6}[value]])
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        raw = value.encode()
        return head(3, len(raw)) + raw
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(encode(item) for item in value)
    return head(5, len(value)) + b"".join(encode(key) + encode(item) for key, item in value.items())


def main():
    source, target, change = sys.argv[1:]
    with open(source, "rb") as file:
        outer, _ = decode(file.read(), 0)
    body, _ = decode(outer["body"], 0)
    field, _, text = change.partition("=")
    *path, last = field.split(".")
    at = body["manifest"]
    for step in path:
        at = at[int(step) if isinstance(at, list) else step]
    if isinstance(at, list):
        last = int(last)
    if text == "":
        del at[last]
    elif isinstance(at, dict) and last not in at:
        fields = sorted([*at.items(), (last, True)])
        at.clear()
        at.update(fields)
    else:
        at[last] = int(text) if isinstance(at[last], int) else text.encode().decode("unicode_escape")
    outer["body"] = encode(body)
    outer["sha256"] = hashlib.sha256(outer["body"]).digest()
    with open(target, "wb") as file:
        file.write(encode(outer))


main()
