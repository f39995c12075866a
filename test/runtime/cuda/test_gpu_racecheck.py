#!/usr/bin/env python3
# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/gpu racecheck over stand-ins for a GPU, a compute-sanitizer and the searches: what it must not pass over."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[3] / "scripts" / "gpu"

# As much of gtest as the script reads. The test `b` is another kernel's on this GPU.
PROGRAM = """#!/bin/bash
case "$*" in
*list_tests*) printf 'CudaSanitized.\\n  Builds\\nEvery/CudaSanitizedFamily.\\n  Searches/a  # GetParam()\\n  Searches/b\\n' ;;
*Searches/b*) printf 'x.cpp: Skipped\\nsm_80 has no kernels of b: they are NOT checked\\n[  SKIPPED ] 1 test\\n' ;;
*) echo "[  PASSED  ] 1 test." ;;
esac
"""
# Runs the program after its own options; finds planted faults, and those of the test and tool that FAULTY names.
SANITIZER = """#!/bin/bash
tool=$2
shift 4
[ "$BLIND" = "$tool" ] || case "$*" in
*PlantedRace*) [ $tool != racecheck ] || { echo "Error: Race reported between Write access"; exit 9; } ;;
*PlantedRead*) [ $tool != memcheck ] || { echo "Invalid __global__ read of size 4 bytes"; exit 9; } ;;
esac
"$@" || exit
if [[ "$tool $*" == $FAULTY ]]; then echo "Error: Race reported between Read access"; exit ${FAULT_CODE-9}; fi
if [[ "$tool $*" == $SILENT ]]; then exit 0; fi
[ $tool = racecheck ] && echo "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)" || echo "ERROR SUMMARY: 0 errors"
"""


class GpuRacecheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.executable("nvidia-smi", "#!/bin/bash\necho 'GPU 0: a stand-in'\n")
        self.executable("compute-sanitizer", SANITIZER)
        self.program = self.executable("program", PROGRAM)

    def executable(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def run_script(self, *arguments, **environment):
        unset = {"ANNUDF_REQUIRE_GPU", "ANNUDF_COMPUTE_SANITIZER", "ANNUDF_PRESET"}
        env = {name: value for name, value in os.environ.items() if name not in unset}
        env |= {"PATH": f"{self.folder}:/usr/bin:/bin", "TMPDIR": str(self.folder), "CUDA_HOME": "/nonexistent"}
        env |= {"BLIND": "", "FAULTY": "", "SILENT": ""} | environment
        command = [SCRIPT, "racecheck", "--program", self.program, *arguments]
        done = subprocess.run(command, env=env, check=False, capture_output=True, text=True, timeout=50)
        return done.returncode, done.stdout, done.stderr

    def verdicts(self, out):
        return sorted(re.findall(r"^(racecheck|memcheck) +(\S+) +\d+ s  (clean|not run|FOUND)", out, re.M))

    def test_nothing_is_found(self):
        code, out, err = self.run_script()
        self.assertEqual((code, err), (0, ""))
        expected = [
            (tool, test, "not run" if test.endswith("b") else "clean")
            for tool in ("memcheck", "racecheck")
            for test in (
                "CudaSanitized.Builds",
                "Every/CudaSanitizedFamily.Searches/a",
                "Every/CudaSanitizedFamily.Searches/b",
            )
        ]
        self.assertEqual(self.verdicts(out), expected)
        self.assertIn("racecheck finds the fault that is planted for it\nmemcheck finds the fault", out)
        self.assertIn("scripts/gpu racecheck: 6 of 6 runs, 2 of them without kernels for this GPU, 0 with faults", out)

    def test_names_choose(self):
        code, out, _ = self.run_script("-j", "1", "Builds")
        self.assertEqual(code, 0)
        self.assertEqual([test for _, test, _ in self.verdicts(out)], ["CudaSanitized.Builds"] * 2)
        code, _, err = self.run_script("nothing")
        self.assertEqual((code, err), (2, f"{self.program} has no test of such a name: nothing\n"))

    def test_a_race_in_one_search(self):
        for fault_code in ("9", "0"):  # Also where the tool would not tell by its code.
            code, out, err = self.run_script(FAULTY="racecheck *Searches/a*", FAULT_CODE=fault_code)
            self.assertEqual(code, 1)
            self.assertEqual(
                [row for row in self.verdicts(out) if row[2] == "FOUND"],
                [("racecheck", "Every/CudaSanitizedFamily.Searches/a", "FOUND")],
            )
            self.assertIn("1 with faults", out)
            self.assertIn("Race reported between Read access", err)

    def test_silence_is_no_summary(self):
        code, out, _ = self.run_script(SILENT="memcheck *Builds*")
        self.assertEqual(code, 1)
        self.assertIn(("memcheck", "CudaSanitized.Builds", "FOUND"), self.verdicts(out))

    def test_a_search_that_fails(self):
        self.executable("program", PROGRAM.replace('*) echo "[  PASSED', '*/a*) exit 1 ;;\n*) echo "[  PASSED'))
        code, out, _ = self.run_script("Searches/a")
        self.assertEqual(code, 1)
        self.assertEqual([verdict for *_, verdict in self.verdicts(out)], ["FOUND", "FOUND"])

    def test_a_tool_that_is_blind(self):
        for tool in ("racecheck", "memcheck"):
            code, out, err = self.run_script(BLIND=tool)
            self.assertEqual(code, 3)
            self.assertEqual(self.verdicts(out), [])
            self.assertIn(f"{tool} does not find the fault that is planted for it (exit 0)", err)

    def test_without_a_gpu_or_a_sanitizer(self):
        for missing, why in (
            ("nvidia-smi", "no GPU on this machine (nvidia-smi -L lists none)"),
            ("compute-sanitizer", "no compute-sanitizer on this machine"),
        ):
            text = (self.folder / missing).read_text()
            self.executable(missing, "#!/bin/bash\nexit 9\n") if missing == "nvidia-smi" else (
                self.folder / missing
            ).unlink()
            said = f"scripts/gpu racecheck: SKIPPED, nothing was checked: {why}\n"
            self.assertEqual(self.run_script(), (77, "", said))
            self.assertEqual(self.run_script(ANNUDF_REQUIRE_GPU="1"), (1, "", said))
            self.executable(missing, text)

    def test_usage(self):
        code, out, err = self.run_script("--help")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("usage: scripts/gpu racecheck [-j JOBS] [--program FILE] [NAME...]", out)
        self.assertIn("77 skipped: no GPU or no compute-sanitizer", out)
        for wrong in (("-x",), ("-j",), ("-j", "0")):
            self.assertEqual(self.run_script(*wrong)[0], 2)
        self.program.unlink()
        self.assertEqual(self.run_script()[::2], (2, f"{self.program}: not built; run scripts/gpu check first\n"))

    def test_subcommands(self):
        def run(*words):
            return subprocess.run([SCRIPT, *words], check=False, capture_output=True, text=True, timeout=50)

        listed = run("--help")
        self.assertEqual((listed.returncode, listed.stderr), (0, ""))
        names = re.findall(r"^  (\w+) ", listed.stdout, re.M)
        self.assertEqual(names, ["artifacts", "check", "memcheck", "racecheck", "compare"])
        for name in names:
            done = run(name, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout.startswith(f"usage: scripts/gpu {name} "), done.stdout)
            if name != "racecheck":
                self.assertEqual(run(name).returncode, 2)
        self.assertEqual(run().returncode, 2)
        wrong = run("chek")
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
        self.assertIn("scripts/gpu: there is no subcommand 'chek'\n", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
