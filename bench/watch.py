"""Runs one command and tells how it went: `watch.py DESCRIPTOR TIMEOUT COMMAND…` writes exit code, seconds and peak
memory as JSON to the descriptor. A process of its own, because a command is charged with the memory of the process
that starts it: this one is small, one that has read large reports is not."""

import json
import os
import subprocess
import sys
import time


def main(descriptor, timeout, *command):
    start = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    status, usage = wait(child, start + float(timeout))
    seconds = time.monotonic() - start
    megabytes = usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)
    with os.fdopen(int(descriptor), "w") as told:
        json.dump({"status": status, "seconds": seconds, "megabytes": megabytes}, told)


def wait(child, deadline):
    while time.monotonic() < deadline:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode, usage
        time.sleep(0.005)
    child.kill()
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = -9
    return None, usage


if __name__ == "__main__":
    main(*sys.argv[1:])
