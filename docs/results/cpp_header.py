#!/usr/bin/env python3
# Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `#include <annudf/annudf.hpp>` costs: compile time of it, and of a traced metric, beside an empty program.

usage: cpp_header.py [--compilers g++-12 clang++-22] [--runs 5] [--most SECONDS]

Seconds of CPU time, which other programs on the machine disturb least; the least of the runs, in turns. With --most
the exit status is 1 if the header takes longer.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {
    "empty": "int main() {}\n",
    "header": "#include <annudf/annudf.hpp>\nint main() {}\n",
    "metric": """#include <annudf/annudf.hpp>
#include <vector>
int main() {
  const auto metric = annudf::metric("weighted_l2",
      [w = annudf::capture<float>("w", annudf::dim)](auto x, auto y, auto acc, auto ctx) {
        auto d = x - y;
        return acc + w[ctx.dim] * d * d;
      });
  const std::vector<float> w(4), base(16);
  const auto index = annudf::ivf_flat::build({.n_lists = 1}, annudf::matrix_view(base, 4));
  annudf::ivf_flat::search(index, annudf::matrix_view(base, 4), 1, {.metric = metric.bind({{"w", w}})});
}
""",
}


def cpu_seconds(command: list[str]) -> float:
    """CPU time of a process and of those that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compilers", nargs="+", default=["g++-12", "clang++-22"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--most", type=float, help="seconds that the header may take")
    options = parser.parse_args()
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, source in PROGRAMS.items():
            Path(folder, f"{name}.cpp").write_text(source, encoding="utf-8")
        print("| compiler | options | empty program | the header more | a metric and a search more |")
        print("|---|---|---|---|---|")
        for compiler in options.compilers:
            for level in ("-O0", "-O2"):
                times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
                for _ in range(options.runs):
                    for name in PROGRAMS:
                        file = str(Path(folder, name))
                        options_of_all = ["-std=c++20", level, f"-I{ROOT / 'include'}"]
                        times[name].append(cpu_seconds([compiler, *options_of_all, "-c", file + ".cpp", "-o", file]))
                least = {name: min(values) for name, values in times.items()}
                header, metric = (least[name] - least["empty"] for name in ("header", "metric"))
                print(
                    f"| {compiler} | {level} | {least['empty']:.2f} s | {header:.2f} s | {metric:.2f} s |", flush=True
                )
                if options.most is not None and header > options.most:
                    status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
