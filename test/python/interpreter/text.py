# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads text of the annudf dialect, as annudf prints it, into plain Python objects.

Shares no code with MLIR: this is the first half of an oracle. It knows the printed form of the ops
that a body may hold and nothing else; what it does not know it refuses, so that a new op cannot be
tested by accident only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass
class Op:
    """One operation: its name, results, operands, what its text says besides, and its regions."""

    name: str
    results: list[str]
    operands: list[str]
    attribute: str = ""
    types: list[str] = field(default_factory=list)
    regions: list[Block] = field(default_factory=list)


@dataclass
class Block:
    """Arguments as (name, type), and operations; the last one is the terminator."""

    arguments: list[tuple[str, str]] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)


@dataclass
class Capture:
    """A capture: the name it is bound by, its type as text, and its value where it is baked in."""

    name: str
    type: str
    value: str | None


@dataclass
class Metric:
    """Hooks by name, captures by SSA name, and the helpers of the module. A filter's hook is "keep"."""

    name: str
    header: str
    captures: dict[str, Capture]
    hooks: dict[str, Block]
    helpers: dict[str, Block]


class _Lines:
    def __init__(self, text: str) -> None:
        stripped = (re.sub(r"\s*loc\(.*$|\s*//.*$", "", line).strip() for line in text.splitlines())
        self.lines = [line for line in stripped if line and not line.startswith(("module", "#"))]
        self.at = 0

    def peek(self) -> str:
        return self.lines[self.at] if self.at < len(self.lines) else ""

    def next(self) -> str:
        line = self.peek()
        self.at += 1
        return line


_NAMES = re.compile(r"%[\w$.#-]+")
_ARGUMENTS = re.compile(r"(%[\w$.-]+): ([\w!.<> ]+?)(?=[,)])")
_FLAGS = re.compile(r" (?:fastmath|overflow)<[\w, ]*>| to_nearest_even")


def _for(body: str, results: list[str]) -> tuple[Op, list[tuple[str, str]]]:
    """``scf.for [unsigned] %i = %a to %b step %c [iter_args(%x = %y) -> (f32)] [: i32] {``."""
    found = re.match(
        r"scf\.for (unsigned )?(%[\w$.-]+) = (%[\w$.#-]+) to (%[\w$.#-]+) step (%[\w$.#-]+)"
        r"(?: iter_args\((.*?)\) -> \((.*?)\))?(?:\s+: (\w+))?\s+\{$",
        body,
    )
    assert found, body
    pairs = [pair.split(" = ") for pair in (found[6] or "").split(", ") if pair]
    types = [t.strip() for t in (found[7] or "").split(",") if t.strip()]
    op = Op("scf.for", results, [found[3], found[4], found[5], *(p[1] for p in pairs)], found[1] or "", types)
    counter = (found[2], found[8] or "index")
    return op, [counter, *((p[0], t) for p, t in zip(pairs, types, strict=True))]


def _results(text: str) -> list[str]:
    names = []
    for name in text.split(", "):
        base, _, count = name.partition(":")
        names += [f"{base}#{i}" for i in range(int(count))] if count else [base]
    return names


def _simple(body: str, results: list[str]) -> Op:
    """An operation without regions: ``name [word,] %a, %b[...] : type [to type]``."""
    body = _FLAGS.sub("", body)
    head, _, types = body.partition(" : ")
    name, _, rest = head.partition(" ")
    name = {"return": "func.return", "call": "func.call"}.get(name, name)
    if name == "func.call":
        found = re.match(r"@([\w$.]+)\((.*)\)$", rest)
        assert found, body
        return Op(name, results, _NAMES.findall(found[2]), found[1], [types])
    if name == "arith.constant":
        types = types or "i1"
        return Op(name, results, [], rest, [types])
    attribute = rest.split(",")[0].strip() if name in ("arith.cmpi", "arith.cmpf", "annudf.index") else ""
    return Op(name, results, _NAMES.findall(rest), attribute, types.split(" to ") if types else [])


def _block(lines: _Lines, arguments: list[tuple[str, str]]) -> Block:
    """The operations up to the closing brace, which is left."""
    block = Block(arguments)
    while not lines.peek().startswith("}"):
        line = lines.next()
        assert line, "a block does not end"
        results: list[str] = []
        found = re.match(r"(%[\w$.:#-]+(?:, %[\w$.:#-]+)*) = (.*)$", line)
        if found:
            results, line = _results(found[1]), found[2]
        if line.startswith("scf.for "):
            op, inner = _for(line, results)
            op.regions.append(_block(lines, inner))
            lines.next()
        elif line.startswith("scf.if "):
            op = Op("scf.if", results, _NAMES.findall(line)[:1])
            op.regions.append(_block(lines, []))
            if lines.next() == "} else {":
                op.regions.append(_block(lines, []))
                lines.next()
        else:
            op = _simple(line, results)
        block.ops.append(op)
    return block


def parse(text: str) -> Metric:
    """The one metric or filter of a module, with its helpers."""
    lines = _Lines(text)
    metric: Metric | None = None
    helpers: dict[str, Block] = {}
    while lines.peek():
        line = lines.next()
        if line == "}":
            continue
        found = re.match(r"func\.func private @([\w$.]+)\((.*)\) -> (\w+) \{$", line)
        if found:
            helpers[found[1]] = _block(lines, _ARGUMENTS.findall(found[2] + ")"))
            lines.next()
            continue
        found = re.match(r"annudf\.(?:metric|filter) @([\w$.]+)(.*) \{$", line)
        assert found and metric is None, line
        metric = Metric(found[1], found[2], {}, {}, helpers)
        while lines.peek() != "}":
            line = lines.next()
            capture = re.match(r'(%[\w$.-]+) = annudf\.capture "(\w+)"(?: = (.*?))? : (!annudf\.capture<.*>)$', line)
            hook = re.match(r"annudf\.(init|update|finalize|keep)\s*(?:\((.*)\))? \{$", line)
            if capture:
                metric.captures[capture[1]] = Capture(capture[2], capture[4], capture[3])
            else:
                assert hook, line
                metric.hooks[hook[1]] = _block(lines, _ARGUMENTS.findall((hook[2] or "") + ")"))
                lines.next()
        lines.next()
    assert metric is not None, "no metric or filter"
    return metric
