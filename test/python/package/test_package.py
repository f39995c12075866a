# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The package as a whole: what its import loads, configuration, logging, exceptions, examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import logging
import os
import pickle
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import annudf
from annudf import brute_force, errors, filters, ivf_flat
from annudf.filters import _bits


def python(program, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_import_of_the_source_tree_says_what_to_do(tmp_path):
    folder = tmp_path / "annudf"
    folder.mkdir()
    source = Path(annudf.__file__).resolve()
    (folder / "__init__.py").write_text(source.read_text())
    done = subprocess.run(
        [sys.executable, "-c", "import annudf"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: {folder / '__init__.py'} is annudf's source tree, which has no compiled part: start Python in "
        "another folder if annudf is installed (pip install .), or set PYTHONPATH to <build>/python"
    )


LATE = ("numba_cuda_mlir", "numba", "sklearn", "scipy", "torch", "cupy", "tqdm", "importlib.metadata", "ctypes.util")


def test_what_an_import_does_not_load():
    loaded = set(json.loads(python("import annudf, sys, json; print(json.dumps(sorted(sys.modules)))")))
    assert "annudf.ivf_flat" in loaded
    assert not loaded & set(LATE)


def test_what_a_search_does_not_load():
    loaded = set(
        json.loads(
            python(
                "import sys, json, numpy as np\n"
                "from annudf import ivf_flat\n"
                "index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.eye(4, dtype='f4'), progress=False)\n"
                "ivf_flat.search(ivf_flat.SearchParams(n_probes=1), index, np.eye(4, dtype='f4'), 1)\n"
                "print(json.dumps(sorted(sys.modules)))"
            )
        )
    )
    assert not loaded & {"numba_cuda_mlir", "sklearn", "scipy", "torch", "cupy", "tqdm", "numpy.ma"}


def test_cuvs_import_forms():
    from annudf.neighbors import ivf_flat as other

    assert other is ivf_flat


def test_decorators_are_at_the_top():
    assert annudf.metric is ivf_flat.metric and annudf.filter is ivf_flat.filter
    names = {}
    exec("from annudf import *", names)
    assert names["metric"] is annudf.metric
    assert "filter" not in names, "the builtin is left alone"


def test_everything_public_is_documented_and_there():
    for module in (annudf, ivf_flat, errors, annudf.neighbors):
        for name in module.__all__:
            member = getattr(module, name)
            if name != "__version__":
                assert (member.__doc__ or "").strip(), name
    with pytest.raises(AttributeError, match=r"module 'annudf.neighbors' has no attribute 'Missing'"):
        annudf.neighbors.Missing  # noqa: B018


def test_what_is_half_made_has_a_repr():
    """A debugger and a traceback with values show objects whose constructor was refused."""
    shown = {}
    for module in (annudf, errors, ivf_flat, filters, annudf.neighbors, brute_force):
        for member in map(module.__dict__.get, module.__all__):
            # A tuple is made whole or not at all.
            if isinstance(member, type) and not inspect.isabstract(member) and not issubclass(member, tuple):
                shown[member] = repr(member.__new__(member))
    half_made = {one.__name__ for one, text in shown.items() if text == f"<{one.__name__}, half made>"}
    assert half_made == {
        "Bitmap", "Claim", "CodeFilter", "DeviceFunction", "DeviceUDF", "Diagnostic", "Evaluation", "FieldProperties", "Form", "Index", "IndexParams", "Metric",
        "NearestNeighbors", "PackedBits", "Prefilter", "PreparedSearch", "Refine", "Properties", "Resources", "SearchParams", "SearchStats", "UDFCapture", "device_ndarray",
    }  # fmt: skip
    assert {ivf_flat.Index, brute_force.Index} <= shown.keys()
    # All others are Python's: exceptions, and the protocol Context.
    for one, text in shown.items():
        if one.__name__ not in half_made:
            assert text == f"{one.__name__}()" or (one is ivf_flat.Context and text.startswith("<annudf."))
    assert repr(_bits._Joined.__new__(_bits._Joined)) == "<_Joined, half made>"
    diagnostic = errors.Diagnostic("error", "L2", "leaves the array", "f.py", 7)
    assert repr(diagnostic) == (
        "Diagnostic(severity='error', rule='L2', message='leaves the array', file='f.py', line=7, column=0)"
    )


def test_show_config(capsys):
    annudf.show_config()
    text = capsys.readouterr().out
    assert text.startswith(f"annudf            {annudf.__version__}, LLVM ")
    for name in ("CPU search", "libNVVM", "architectures", "numpy", "cache"):
        assert f"\n{name}" in text
    found = annudf.show_config("dicts")
    assert found["annudf"] == annudf.__version__
    assert "sm_90" in found["archs"]
    json.dumps(found)
    with pytest.raises(errors.ArgumentError, match=r"mode is 'yaml', it must be 'stdout' or 'dicts'"):
        annudf.show_config("yaml")


def test_command():
    text = subprocess.run([sys.executable, "-m", "annudf"], capture_output=True, text=True, check=True).stdout
    assert text.startswith("annudf")
    text = subprocess.run([sys.executable, "-m", "annudf", "--json"], capture_output=True, text=True, check=True).stdout
    assert json.loads(text)["annudf"] == annudf.__version__


def test_log_level():
    program = (
        "import sys, annudf, numpy as np\n"
        "from annudf import ivf_flat\n"
        "if sys.argv[1]: annudf.set_log_level(sys.argv[1]); annudf.set_log_level(sys.argv[1])\n"
        "index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.eye(4, dtype='f4'))\n"
        "ivf_flat.search(ivf_flat.SearchParams(n_probes=1), index, np.eye(4, dtype='f4'), 1)\n"
    )

    def told(level):
        return subprocess.run(
            [sys.executable, "-c", program, level], capture_output=True, text=True, check=True, timeout=120
        ).stderr

    assert told("") == told("warning") == ""
    lines = told("DEBUG").splitlines()
    assert sum(line.startswith("annudf: DEBUG: metric l2 linked for the CPU in ") for line in lines) == 1
    assert sum(line.startswith("annudf: DEBUG: metric l2 for host from the ") for line in lines) == 1
    with pytest.raises(errors.ArgumentError, match=r"level is 'LOUD', it must be one of DEBUG, INFO"):
        annudf.set_log_level("LOUD")
    level = annudf._support.log.logger.level
    annudf.set_log_level(logging.ERROR)
    assert annudf._support.log.logger.level == logging.ERROR
    annudf._support.log.logger.setLevel(level)


WARNS = """
import logging, sys, annudf
from annudf._metric import cache
if sys.argv[1] == "root": logging.basicConfig(format="root %(message)s")
if sys.argv[1] == "own": logging.getLogger("annudf").addHandler(logging.NullHandler())
if sys.argv[1] == "level": annudf.set_log_level("INFO")
if sys.argv[1] == "none": sys.stderr = None
cache._warn_once("odd")
cache._warn_once("odd")
"""


@pytest.mark.parametrize(
    ("configured", "told"),
    [
        ("", "annudf: WARNING: odd\n"),
        ("root", "root odd\n"),
        ("own", ""),
        ("level", "annudf: WARNING: odd\n"),
        ("none", ""),
    ],
)
def test_warnings_are_seen_once_by_who_configured_nothing(configured, told):
    done = subprocess.run(
        [sys.executable, "-c", WARNS, configured], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == told


def test_compiler_warnings_are_told_once(caplog):
    from annudf._metric import definition

    warning = errors.Diagnostic("warning", "", "slow on purpose", "file.py", 3, 4)
    remark = errors.Diagnostic("remark", "", "narrowed", "file.py", 5, 6)
    with caplog.at_level(logging.DEBUG, "annudf"):
        for _ in range(3):
            definition.report("told", [warning, remark])
    assert caplog.text.count("metric told: file.py:3:4: slow on purpose") == 1
    assert caplog.text.count("metric told: remark: file.py:5:6: narrowed") == 3


def test_exceptions():
    assert issubclass(errors.DtypeError, (errors.ArgumentError,))
    assert issubclass(errors.DtypeError, TypeError)
    for kind in (errors.CaptureError, errors.DeviceError):
        assert issubclass(kind, errors.ArgumentError)
        assert issubclass(kind, ValueError)
    assert issubclass(errors.InputError, ValueError)
    assert issubclass(errors.UnavailableError, RuntimeError)
    assert issubclass(errors.UnsupportedError, errors.CompileError)
    for name in errors.__all__:
        member = getattr(errors, name)
        if name != "Diagnostic":
            assert issubclass(member, (errors.Error, Warning))
            assert getattr(annudf, name) is member
    diagnostic = errors.Diagnostic("error", "L2", "leaves the array", "f.py", 7, 3)
    assert str(diagnostic) == "f.py:7:3: error: [L2] leaves the array"
    assert (
        str(errors.Diagnostic("error", "L2", "[L2] leaves the array", "f.py", 7))
        == "f.py:7: error: [L2] leaves the array"
    )
    assert str(errors.Diagnostic("warning", "", "odd")) == "warning: odd"
    error = errors.UnsupportedError("f.py:7:3: error", [diagnostic])
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is errors.UnsupportedError
    assert (str(again), again.diagnostics) == (str(error), [diagnostic])


def modules():
    names = ["annudf"]
    for one in pkgutil.walk_packages(annudf.__path__, "annudf."):
        if not one.name.startswith(("annudf._frontend", "annudf.__main__", "annudf._core")):
            names.append(one.name)
    return names


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0
