"""Assembles the PTX that LLVM's NVPTX backend makes of metrics, for every architecture."""

import subprocess
import sys
import tempfile
from pathlib import Path

ARCHS = [f"sm_{sm}" for sm in (75, 80, 86, 89, 90, 100, 103, 120, 121)]


def assemble(translate: str, metric: str, arch: str, folder: Path) -> bool:
    """Whether `ptxas` takes the metric's PTX; says what it does not."""
    ptx = folder / "metric.ptx"
    made = subprocess.run(
        [translate, metric, "--annudf-to-ptx", "--backend=nvptx", f"--arch={arch}", "-o", str(ptx)],
        capture_output=True, text=True, check=False,
    )
    if made.returncode == 0:
        made = subprocess.run(
            ["ptxas", "-c", f"-arch={arch}", str(ptx), "-o", str(folder / "metric.cubin")],
            capture_output=True, text=True, check=False,
        )
    if made.returncode != 0:
        print(metric, arch, made.stderr)
    return made.returncode == 0


translate, *metrics = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    results = [assemble(translate, metric, arch, Path(folder)) for metric in metrics for arch in ARCHS]
print(f"assembled {sum(results)} of {len(results)}")
