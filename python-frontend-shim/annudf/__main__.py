# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""``python -m annudf``: what this installation is and what it found; ``--json`` for programs."""

from __future__ import annotations

import argparse
import json
import sys

from annudf._config import show_config


def main(arguments: list[str] | None = None) -> int:
    """Prints the configuration."""
    parser = argparse.ArgumentParser(
        prog="python -m annudf", description="Versions, devices and libraries that annudf found."
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    if parser.parse_args(arguments).json:
        json.dump(show_config("dicts"), sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        show_config()
    return 0


if __name__ == "__main__":
    sys.exit(main())
