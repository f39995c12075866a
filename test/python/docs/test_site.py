# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The site builds without a warning, every link in it leads somewhere, and it names all that is public."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

import annudf
from annudf import brute_force, distance, errors, filters, ivf_flat, metrics, neighbors
from annudf.dask import ivf_flat as dask_ivf

ROOT = Path(__file__).resolve().parents[3]
for package in ("mkdocs", "material", "mkdocstrings", "mkdocs_jupyter"):
    pytest.importorskip(package)


class Page(HTMLParser):
    """Targets and destinations of a page's links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif value is not None and (tag, name) in (
                ("a", "href"),
                ("img", "src"),
                ("script", "src"),
                ("link", "href"),
            ):
                self.links.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", out],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr and "Error" not in done.stderr, done.stderr
    return out


def test_every_link_leads_somewhere(site: Path) -> None:
    pages = {path: Page(path.read_text()) for path in site.rglob("*.html")}
    assert len(pages) > 25
    broken, checked = [], 0
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # Its links are from the root of a server.
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                assert parts.scheme in ("https", "data", "mailto"), f"{path.name}: {link}"
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            anchor = urllib.parse.unquote(parts.fragment)
            checked += 1
            if not target.is_file() or (target in pages and anchor not in pages[target].anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken, "\n".join(broken)
    assert checked > 1000


def test_the_reference_has_all_that_is_public(site: Path) -> None:
    anchors = Page((site / "use/api.html").read_text()).anchors
    modules = {"brute_force", "distance", "errors", "filters", "ivf_flat", "metrics", "neighbors"}
    public = {f"annudf.ivf_flat.{name}" for name in ivf_flat.__all__}
    public |= {f"annudf.neighbors.{name}" for name in set(neighbors.__all__) - modules}
    for module in (brute_force, dask_ivf, distance, filters, metrics):
        public |= {f"{module.__name__}.{name}" for name in module.__all__}
    public |= {f"annudf.errors.{name}" for name in errors.__all__}
    rest = set(annudf.__all__) - set(errors.__all__) - modules - {"__version__"}
    public |= {f"annudf.{name}" for name in rest | {"filter"}}
    # Other names of these.
    public -= {"annudf.ivf_flat.metric", "annudf.ivf_flat.filter", "annudf.neighbors.refine"}
    assert public <= anchors


@pytest.mark.skipif(shutil.which("doxygen") is None, reason="no doxygen: the C++ reference is NOT checked")
def test_the_cpp_reference_has_every_class(site: Path) -> None:
    """Each class, struct and enum at namespace scope of the headers, but what is inside namespaces of their own."""
    text = (site / "use/cpp-reference.html").read_text()
    shown = {heading.split("::")[-1] for heading in re.findall(r'<h3 id="[^"]+">([\w:]+)', text)}
    declared = set()
    for header in (ROOT / "include/annudf/cpp").glob("*.hpp"):
        public = re.sub(
            r"^namespace (detail|impl) \{.*?^\} // namespace \1$", "", header.read_text(), flags=re.S | re.M
        )
        declared |= set(
            re.findall(
                r"^(?:template <[^\n]*?> )?(?:class|struct|enum class) (\w+) (?:final |: [^;{]*)?\{", public, re.M
            )
        )
        declared |= set(re.findall(r"^inline [\w:<> &]+[ &](\w+)\(", public, re.M))
    assert len(declared) > 40 and {"search", "index", "metric", "matrix_view", "errc"} <= declared
    assert declared <= shown, declared - shown


def test_the_reference_shows_docstrings_as_text(site: Path) -> None:
    text = (site / "use/api.html").read_text()
    assert not re.search(r":(func|class|meth|mod|exc):", text)
    assert "Finds the" in text


def test_the_functions_are_those_of_the_frontend(site: Path) -> None:
    from annudf._frontend.source import composed, functions

    text = re.sub(r"<[^>]+>", " ", (site / "use/functions.html").read_text())
    words = set(re.findall(r"[\w.]+", text))
    expected = {f"math.{name}" for name in functions._MATH} | {f"np.{name}" for name in functions._NUMPY}
    short = {"numpy": "np", "math": "math", "scipy.special": "scipy.special"}
    expected |= {f"{short[module]}.{name}" for module, names in composed.COMPOSED.items() for name in names}
    expected |= {f"scipy.special.{name}" for name in functions._SCIPY_SAME}
    assert expected <= words
    assert {getattr(f, "__name__", "") for f in functions._BUILTINS} <= words


def labels(entries: list[object]) -> list[str]:
    found = []
    for entry in entries:
        assert isinstance(entry, dict)
        for label, target in entry.items():
            found += [label, *(labels(target) if isinstance(target, list) else [])]
    return found


def test_the_navigation_says_nothing_twice() -> None:
    names = labels(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    # A word of it may come again, as in "CPU" and "CPU backend", but no entry may.
    assert len(names) > 30 and len({name.lower() for name in names}) == len(names)


def test_no_code_of_the_home_page_is_cut() -> None:
    """A line of code has room for 76 characters beside the navigation and the table of contents."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", (ROOT / "docs/index.md").read_text(), re.DOTALL | re.MULTILINE)
    assert blocks and max(len(line) for block in blocks for line in block.splitlines()) <= 76


def test_signatures_are_wrapped(site: Path) -> None:
    text = (site / "use/api.html").read_text()
    shown = re.findall(r'<div class="doc-signature highlight"><pre>.*?</pre>', text, re.DOTALL)
    lines = [line for one in shown for line in re.sub(r"<[^>]+>", "", one).splitlines()]
    assert len(shown) > 30 and max(map(len, lines)) <= 80, max(lines, key=len)


def test_every_exception_is_explained() -> None:
    table = (ROOT / "docs/use/errors.md").read_text()
    for name in set(errors.__all__) - {"Diagnostic"}:
        assert f"| `{name}` |" in table


def test_a_function_of_unknown_group_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs/site/hooks.py")
    assert spec is not None and spec.loader is not None
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    monkeypatch.setattr(hooks, "_GROUPS", hooks._GROUPS[1:])
    with pytest.raises(AssertionError, match="does not know the group"):
        hooks.functions_table()


def test_names_of_cpp_are_those_of_the_headers() -> None:
    headers = "".join(
        path.read_text() for folder in ("annudf", "annudf-c") for path in (ROOT / "include" / folder).rglob("*.h*")
    )
    known = set(re.findall(r"\w+", headers))
    pages = [*(ROOT / "docs/use").rglob("*.md"), ROOT / "README.md"]
    gone = {
        f"{page.name}: {name}"
        for page in pages
        for name in re.findall(r"\b[A-Za-z_]\w*(?:::\w+)+", page.read_text())
        if not known.issuperset(name.split("::")) and not name.startswith(("std::", "cuvs::"))
    }
    assert not gone
