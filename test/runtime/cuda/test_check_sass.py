#!/usr/bin/env python3
# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_sass.py on text that is as nvdisasm's: what is weakened must be seen. Needs no nvdisasm."""

import contextlib
import io
import unittest

from check_sass import calls, check_speed

KERNEL = "annudf_scan_staged"


def sass(*loop, outside=("MOV R1, R2 ;",)):
    """A kernel with an outer loop, which copies, around one that computes."""
    lines = [".text.other:", "        /*0000*/                   LDL R1, [R1] ;", f".text.{KERNEL}:", ".L_x_1:"]
    lines += [f"        /*{i:04x}*/                   {text}" for i, text in enumerate(outside)]
    lines += [".L_x_2:"]
    lines += [f"        /*{i:04x}*/                   {text}" for i, text in enumerate(loop, len(outside))]
    lines += ["        /*0100*/              @P0 BRA `(.L_x_2) ;", "        /*0110*/              @!P1 BRA `(.L_x_1) ;"]
    return "\n".join([*lines, "        /*0120*/                   EXIT ;"])


HOT = ["FADD R1, R2, -R3 ;", "@P0 FFMA.FTZ R4, R1, R1, R4 ;"] * 10


class CheckSass(unittest.TestCase):
    def check(self, text, share=90):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            wrong = check_speed(text, KERNEL, share)
        return wrong, said.getvalue()

    def test_a_loop_of_arithmetic_passes(self):
        wrong, said = self.check(sass(*HOT, "LDS R1, [R2] ;"))
        self.assertEqual(wrong, [])
        self.assertEqual(said, f"{KERNEL}: 20 of the 22 instructions of the hot loop are FADD, FMUL or FFMA (90.9 %)\n")

    def test_other_instructions_in_the_loop(self):
        weak = ["LDS R1, [R2] ;", "IMAD R1, R2, R3, R4 ;"]
        said = f"{KERNEL}: 87.0 % of the hot loop is arithmetic, 90 % are wanted"
        self.assertEqual(self.check(sass(*HOT, *weak))[0], [said])
        self.assertEqual(self.check(sass(*HOT, *weak), 86)[0], [])

    def test_local_memory_anywhere(self):
        said = f"{KERNEL} uses local memory: 1 of its 24 instructions are LDL or STL"
        self.assertEqual(self.check(sass(*HOT, outside=["STL.64 [R1+0xc], R0 ;"]))[0], [said])
        self.assertEqual(
            self.check(sass(*HOT[:-1], "@P2 LDL R1, [R1] ;", "FMUL R1, R2, R3 ;", outside=[]), 0)[0], [said]
        )

    def test_no_loop(self):
        text = sass(*HOT).replace("BRA", "NOP")
        self.assertEqual(self.check(text)[0], [f"{KERNEL}: 0.0 % of the hot loop is arithmetic, 90 % are wanted"])
        self.assertEqual(self.check(text, 0), ([], ""))

    def test_calls(self):
        text = sass("CALL.REL.NOINC `($__internal_0_$__cuda_sm70_shflsync_idx_p) ;", "CALL.REL.NOINC `(hook) ;")
        self.assertEqual(calls(text), ({KERNEL, "other"}, [(KERNEL, "hook")]))


if __name__ == "__main__":
    unittest.main()
