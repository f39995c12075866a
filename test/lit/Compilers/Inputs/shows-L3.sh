#!/bin/sh
# Whether a module is still refused for rule L3: what annudf-reduce is to keep.
if annudf-opt --annudf-verify-abi "$1" 2>&1 | grep -q '\[L3\]'; then exit 1; fi
exit 0
