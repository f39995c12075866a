# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What is compiled is what was defined, whatever its file holds when it is looked at, and so is what the cache keeps."""

from __future__ import annotations

import importlib
import importlib.util
import json
import linecache
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annudf import UnsupportedError, ivf_flat
from annudf._frontend.source.definitions import is_edited, tree_of

MODULE = """\
import math
import numpy as np
from annudf import ivf_flat


def skipping(x):
    i = 0
    total = 0.0
    while i < 4:
        i += 1
        if i == 2:
            continue
        total += {k} * x
    return total


@ivf_flat.metric
def decorated(x, y, acc):
    i = 0
    while i < 4:
        i += 1
        if i == 2:
            continue
        acc += {k} * x
    return acc


def by_helper(x, y, acc):
    return acc + skipping(x)


def plain(x, y, acc):
    return acc + 3 * {k} * x


@ivf_flat.metric
class Fields:
    total: np.float32 = 0

    def update(self, x, y, ctx):
        self.total += 9 * {k} * math.sqrt(x * x)

    def finalize(self, ctx):
        return self.total / math.sqrt(9)


class Bare:
    total: np.float32 = 0

    def update(self, x, y, ctx):
        self.total += {k} * x

    def finalize(self, ctx):
        return self.total * 3


def indexed(x, y, acc, ctx):
    return acc + ctx.w[ctx.{index}]


by_lambda = lambda x, y, acc, ctx: acc + ctx.w[ctx.{index}]
"""
FIRST = MODULE.format(k=4, index="dim")
EDITED = MODULE.format(k=14, index="row")
TOLD = "the file was edited after"


def search(metric: Any) -> float:
    rows = np.ones((1, 1), np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    return float(ivf_flat.search(ivf_flat.SearchParams(metric=metric), index, rows, 1)[0].item())


PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
import held, test_edited
if len(sys.argv) > 2:
    open(held.__file__, "w").write(test_edited.EDITED)
found = {}
for name in ("decorated", "Fields", "plain", "by_helper", "Bare"):
    try:
        target = getattr(held, name)
        found[name] = test_edited.search(target if name in ("decorated", "Fields") else test_edited.ivf_flat.metric(target))
    except test_edited.UnsupportedError as error:
        found[name] = str(error)
print(json.dumps(found))
"""


def run(folder: Path, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-B", "-c", PROGRAM, str(folder), *arguments],
        env={**os.environ, "ANNUDF_CACHE_DIR": str(folder / "cache"),
             "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])},
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_file_that_is_edited_before_the_first_search(tmp_path: Path) -> None:
    file = tmp_path / "held.py"
    file.write_text(FIRST)
    first = run(tmp_path, "edit")
    # What was decorated has been looked at. Code tells what `plain` is, but not `continue` and `self`.
    assert (first["decorated"], first["Fields"], first["plain"]) == (12, 12, 12)
    assert f"{file}:6: error: {TOLD} skipping was defined" in first["by_helper"]
    assert f"{TOLD} class Bare was defined" in first["Bare"]
    # A process that sees the file as it was, and one that sees the other, with what that one left in the cache.
    file.write_text(FIRST)
    assert set(run(tmp_path).values()) == {12}
    file.write_text(EDITED)
    assert set(run(tmp_path).values()) == {42}


def held(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location("held_here", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_file_that_is_edited_and_reverted(tmp_path: Path) -> None:
    file = tmp_path / "held.py"
    file.write_text(FIRST)
    module = held(file)
    file.write_text(EDITED)
    with pytest.raises(UnsupportedError, match=TOLD):
        search(ivf_flat.metric(module.by_helper))
    file.write_text("def skipping(x:\n")
    with pytest.raises(UnsupportedError, match=TOLD):
        search(ivf_flat.metric(module.by_helper))
    file.write_text(FIRST)
    assert search(ivf_flat.metric(module.by_helper)) == 12
    file.write_text(EDITED)
    assert search(ivf_flat.metric(module.by_helper)) == 12
    assert search(ivf_flat.metric(held(file).by_helper)) == 42


def test_captures_are_indexed_as_the_code_does(tmp_path: Path) -> None:
    file = tmp_path / "held.py"
    file.write_text(FIRST)
    module = held(file)
    file.write_text(EDITED)
    captures = {"w": np.ones(3, np.float32)}
    for function in (module.indexed, module.by_lambda):
        assert tree_of(function.__code__) is None and is_edited(function.__code__)
        assert "w: dim x f32" in repr(ivf_flat.metric(captures=captures, symbol_name="m")(function))


def test_code_that_replaces_other_code(tmp_path: Path) -> None:
    """A notebook's autoreload gives functions that there are the code of the edited file."""
    file = tmp_path / "held.py"
    file.write_text(FIRST)
    module = held(file)
    assert search(ivf_flat.metric(module.by_helper)) == 12
    file.write_text(EDITED)
    module.skipping.__code__ = held(file).skipping.__code__
    assert search(ivf_flat.metric(module.by_helper)) == 42


CELL = """\
import math
def skipping(x):
    i = 0
    total = 0.0
    while i < 4:
        i += 1
        if i == 2:
            continue
        total += {k} * math.sqrt(x)
    return total
@ivf_flat.metric
class Fields:
    total: np.float32 = 0
    def update(self, x, y, ctx):
        self.total += {k} * math.sqrt(x)
    def finalize(self, ctx):
        return 3 * self.total
metric = ivf_flat.metric(lambda x, y, acc: acc + skipping(x))
"""


def test_cells_of_a_notebook() -> None:
    pytest.importorskip("IPython")
    shell = importlib.import_module("IPython.core.interactiveshell").InteractiveShell.instance()

    def run_cell(text: str) -> None:
        shell.run_cell(text).raise_error()

    run_cell("from __future__ import annotations")  # It holds for later cells, too.
    run_cell("import asyncio\nimport numpy as np\nfrom annudf import ivf_flat\nawait asyncio.sleep(0)")
    space: dict[str, Any] = shell.user_ns
    kept = []
    for k in (4, 14, 4):
        run_cell(CELL.format(k=k) + "await asyncio.sleep(0)")
        assert tree_of(space["skipping"].__code__) is not None
        assert (search(space["metric"]), search(space["Fields"])) == (3 * k, 3 * k)
        kept.append(space["metric"])
    assert [search(metric) for metric in kept] == [12, 42, 12]


def defined(text: str, name: str = "<a test of trees>") -> dict[str, Any]:
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"ivf_flat": ivf_flat, "np": np}
    exec(compile(text, name, "exec"), space)
    return space


def test_what_surrounds_a_function_is_compiled_with_it() -> None:
    space = defined("""\
from __future__ import annotations
__hidden, _Owner__hidden, shown = 100.0, 3.0, 1.0
class Owner:
    def update(x, y, acc, more=(lambda: 1.0)()):
        i = 0
        while i < 4:
            i += 1
            if i == 2:
                continue
            acc += __hidden * more
        return acc
    def nested():
        shown = 2.0
        def update(x, y, acc):
            i = 0
            while i < 4:
                i += 1
                if i == 2:
                    continue
                acc += __hidden * shown
            return acc
        return update
@ivf_flat.metric
class Fields:
    total: np.float32 = 0
    def update(self, x, y, ctx):
        self.total += __hidden
    def finalize(self, ctx):
        return self.total
_Fields__hidden = 7.0
""")
    assert search(ivf_flat.metric(lambda x, y, acc, helper=0: acc + x)) == 1
    owner = space["Owner"]
    space["update"] = owner.update
    helper = types.FunctionType(owner.update.__code__, space, "helper", owner.update.__defaults__)
    assert search(ivf_flat.metric(calling(helper))) == helper(1, 1, 0) == 9
    nested = owner.nested()
    assert search(ivf_flat.metric(nested)) == nested(1, 1, 0) == 18
    assert search(space["Fields"]) == 7


def calling(helper: Any) -> Any:
    def update(x, y, acc):  # type: ignore[no-untyped-def]
        return helper(x, y, acc)

    return update


def test_lambdas_of_one_line_are_told_apart() -> None:
    space = defined("a, b = (lambda x, c: c.v[c.dim]), (lambda x, c: c.v[c.row])\n")
    trees = [tree_of(space[name].__code__) for name in ("a", "b")]
    assert [tree.col_offset for tree in trees if tree is not None] == [8, 35]
