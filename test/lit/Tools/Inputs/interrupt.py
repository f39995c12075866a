"""interrupt.py SECONDS COMMAND...: sends Ctrl-C after SECONDS, prints exit code and the last line of stderr."""

import signal
import subprocess
import sys

process = subprocess.Popen(sys.argv[2:], stderr=subprocess.PIPE, text=True)
try:
    process.wait(float(sys.argv[1]))
    print("ended before it could be interrupted")
except subprocess.TimeoutExpired:
    process.send_signal(signal.SIGINT)
print(process.communicate()[1].strip().splitlines()[-1])
print("exit", process.returncode)
