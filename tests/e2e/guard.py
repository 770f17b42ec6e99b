"""Run a test program, and fail if it leaves a process behind.

    guard.py PROGRAM [ARGUMENT...]

Whatever the program starts becomes this one's child when its parent ends, as
it would otherwise become init's; so nothing escapes, and what has ended is
reaped at once.  What is left in the end is named and killed.
"""

import ctypes
import os
import signal
import sys
import time

import harness

PR_SET_CHILD_SUBREAPER = 36
END_SECONDS_MAX = 2  # what was killed needs a moment
FAILED = 1


def reap(pid, flags=0):
    """Take the ends of children; the exit code of `pid` if it is one."""
    while True:
        try:
            child, status = os.waitpid(-1, flags)
        except ChildProcessError:
            return None
        if child == pid:
            return os.waitstatus_to_exitcode(status)
        if child == 0:
            return None


def left_behind():
    """The commands of the children that do not end; they are killed."""
    deadline = time.monotonic() + harness.patient(END_SECONDS_MAX)
    found = {}
    while True:
        reap(None, os.WNOHANG)
        children = harness.children_of(os.getpid())
        if not children:
            return list(found.values())
        if time.monotonic() > deadline:
            for pid in children:
                found[pid] = f"{pid}: {harness.command_of(pid)}"
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no subreaper")
    sys.stdout.flush()
    pid = os.posix_spawn(sys.executable, [sys.executable, *sys.argv[1:]],
                         os.environ)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda got, _: os.kill(pid, got))
    code = reap(pid)
    left = left_behind()
    for process in left:
        print(f"left behind: {process}", file=sys.stderr)
    if left and code == 0:
        code = FAILED
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
