"""Metrics with a name, a string and a list of any length: make_long.py FOLDER."""
import sys
from pathlib import Path

METRIC = """annudf.metric @{0} order(min) coarse(l2) elements(f32) {1} {{
  annudf.init {{
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }}
  annudf.update (%acc: f32, %x: f32, %y: f32) {{
    annudf.yield %acc : f32
  }}
}}
"""
folder = Path(sys.argv[1])
(folder / "name.mlir").write_text(METRIC.format("n" * 9_000_000, ""))
(folder / "string.mlir").write_text('"x.y"() {a = "%s"} : () -> ()\n' % ("s" * 9_000_000))
(folder / "many.mlir").write_text("".join(METRIC.format(f"m{i}", "") for i in range(2000)))
(folder / "wrong.mlir").write_text("".join(METRIC.format(f"m{i}", "dims(2000000)") for i in range(2000)))
(folder / "escape.mlir").write_text('annudf.metric @"\x1b[31m" order(best)\n')
