"""interrupt.py SECONDS COMMAND...: sends Ctrl-C SECONDS after it is listened for, prints exit code and the last line of stderr."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

# In the background SIGINT is ignored, and a command keeps it so.
signal.signal(signal.SIGINT, signal.SIG_DFL)
process = subprocess.Popen(sys.argv[2:], stderr=subprocess.PIPE, text=True)
# A loaded machine may take longer than that to start the command.
caught = 0
while process.poll() is None and not caught >> (signal.SIGINT - 1) & 1:
    time.sleep(0.01)
    found = re.search(r"SigCgt:\s*([0-9a-f]+)", Path(f"/proc/{process.pid}/status").read_text())
    caught = int(found[1], 16) if found else 0
try:
    process.wait(float(sys.argv[1]))
    print("ended before it could be interrupted")
except subprocess.TimeoutExpired:
    process.send_signal(signal.SIGINT)
print(process.communicate()[1].strip().splitlines()[-1])
print("exit", process.returncode)
