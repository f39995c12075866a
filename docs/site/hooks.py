# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What mkdocs does beside its configuration: generated tables, and links to files of the source tree."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]

# Groups of functions.py: what they are called, and the type of their result.
_GROUPS = (
    ("FLOAT_UNARY", "Of one number", "floats keep their type, integers give float32"),
    ("SAME_UNARY", "Of one number", "the argument's type (`fabs` of an integer: float32)"),
    ("INT_UNARY", "Rounding to an integer", "Python int"),
    ("PREDICATES", "Tests", "bool"),
    ("FLOAT_BINARY", "Of two numbers", "their common type, float32 for integers"),
    ("ARITHMETIC_BINARY", "Operators as functions", "as the operator"),
    ("EXTREMES", "Extremes", "the common type of the arguments"),
    ("CASTS", "Conversions", "the type that is named"),
    ("OF_ARRAYS", "Of [whole vectors](whole-vector-metrics.md)", "one number"),
    ("OTHERS", "Others", "see their own documentation in Python and NumPy"),
)


def _frontend(file: str) -> ModuleType:
    # By its path: the package itself needs its compiled part, and the site is also built without it.
    path = ROOT / "python-frontend-shim/annudf/_frontend" / file
    spec = importlib.util.spec_from_file_location(f"{path.stem}_of_a_metric", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def functions_table() -> str:
    """Markdown table of every function that a metric may call, out of the frontend's own tables."""
    functions = _frontend("source/functions.py")
    spellings: dict[str, list[str]] = {name: [] for name in functions.STUBS}
    for builtin, name in functions._BUILTINS.items():
        spellings[name].append(builtin.__name__)
    for builtin, name in functions._BUILTINS_OF_VECTORS.items():
        spellings[name].append(builtin.__name__)
    for prefix, table in (
        ("math", functions._MATH),
        ("np", functions._NUMPY),
        ("np", functions.REDUCTIONS),
        ("np.linalg", {"norm": "norm"}),
    ):
        for attribute, name in table.items():
            spellings[name].append(f"{prefix}.{attribute}")
    lines = ["| group | functions | type of the result |", "|---|---|---|"]
    told = set(functions.OF_SCRATCH)  # Nobody calls them by these names.
    for group, title, result in _GROUPS:
        names = getattr(functions, group)
        told.update(names)
        cell = ", ".join(" = ".join(f"`{s}`" for s in spellings[name]) for name in names if spellings[name])
        lines.append(f"| {title} | {cell} | {result} |")
    missing = set(functions.STUBS) - told
    assert not missing, f"docs/site/hooks.py does not know the group of {sorted(missing)}"
    short = {"numpy": "np", "math": "math", "scipy.special": "scipy.special"}
    composed = [
        f"`{short[module]}.{name}`" for module, names in _frontend("source/composed.py").COMPOSED.items() for name in names
    ]
    lines.append(f"| Written out of the others | `divmod`, {', '.join(composed)} | as there |")
    spelled = ", ".join(f"`scipy.special.{name}`" for name in functions._SCIPY_SAME)
    lines.append(f"| SciPy's, as those of `math` and NumPy | {spelled} | as there |")
    constants = ", ".join(f"`math.{c}`" for c in functions._CONSTANTS if hasattr(functions.math, c))
    return (
        "\n".join(lines) + f"\n\nConstants: {constants}, and those of the same names of NumPy (`np.euler_gamma` too).\n"
    )


def cpp_reference() -> str:
    """The C++ API's reference of the headers' comments; where there is no Doxygen the page says so."""
    # Named without .py, as every script.
    loader = importlib.machinery.SourceFileLoader("cpp_reference", str(ROOT / "scripts/cpp-reference"))
    spec = importlib.util.spec_from_loader("cpp_reference", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    try:
        return str(module.reference())
    except FileNotFoundError:
        return "This site was built without Doxygen, which reads the headers' comments: see the headers themselves.\n"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Fills in tables, and turns links out of docs/ into links to copies under source/, without anchors."""
    markdown = markdown.replace("<!-- functions -->", functions_table())
    if "<!-- c++ reference -->" in markdown:
        markdown = markdown.replace("<!-- c++ reference -->", cpp_reference())
    folder = (Path(config["docs_dir"]) / page.file.src_uri).parent

    def replace(match: re.Match[str]) -> str:
        target = (folder / match[1]).resolve()
        if not target.is_file() or not target.is_relative_to(ROOT):
            return match[0]  # mkdocs says that it is broken.
        copy = f"source/{target.relative_to(ROOT).as_posix()}.txt"
        if files.get_file_from_path(copy) is None:
            files.append(File.generated(config, copy, content=target.read_bytes()))
        up = "../" * page.file.src_uri.count("/")
        return f"]({up}{copy})"

    outside = "../" * (page.file.src_uri.count("/") + 1)
    return re.sub(rf"\]\(({re.escape(outside)}[^)#\s]+)(?:#[^)\s]*)?\)", replace, markdown)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Turns the Sphinx roles of docstrings (:func:`metric`) into links, and links of notebooks to pages' names here."""
    if page.file.src_uri.endswith(".ipynb"):
        html = re.sub(r'href="(?!https?:)([^"#]*?)README\.md"', r'href="\1index.html"', html)
    anchors = re.findall(r'id="(annudf[\w.]*)"', html)

    def link(match: re.Match[str]) -> str:
        name = match[1].lstrip("~")
        found = [anchor for anchor in anchors if anchor == name or anchor.endswith(f".{name}")]
        shown = f"<code>{name}</code>"
        return f'<a href="#{min(found, key=len)}">{shown}</a>' if found else shown

    return re.sub(r":(?:func|class|meth|mod|exc|attr|data):<code>([^<]+)</code>", link, html)
