# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py SIGN COMMAND...: runs the command, sends it what Ctrl-C sends as soon as there is a file SIGN, and
ends as it does."""
import pathlib
import signal
import subprocess
import sys
import time

command = subprocess.Popen(sys.argv[2:])
while not pathlib.Path(sys.argv[1]).exists() and command.poll() is None:
    time.sleep(0.05)
command.send_signal(signal.SIGINT)
sys.exit(command.wait())
