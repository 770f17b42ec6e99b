"""The first process of a machine of which tools/hostile-v2 has made everything:
what jobs meet where control groups are of version 2 and have controllers.

It mounts what tests need, runs them, says on the console how each ended, and
switches the machine off.
"""

import ctypes
import fcntl
import os
import pathlib
import socket
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
MOUNTS = (("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"),
          ("tmpfs", "/dev/shm"), ("mqueue", "/dev/mqueue"),
          ("tmpfs", "/tmp"), ("tmpfs", "/run"), ("cgroup2", "/sys/fs/cgroup"))
POWER_OFF = 0x4321FEDC
FINIT_MODULE = 313
FLAGS_GET, FLAGS_SET, IS_UP = 0x8913, 0x8914, 1
HOSTILE = ("tests/e2e/guard.py", "tests/e2e/hostile/test_hostile_jobs.py")
TESTS = {
    "limits": ["build/tests/unit/executor/test_cgroup_limits"],
    "groups": ["build/tests/unit/executor/test_cgroup"],
    "contract": ["build/tests/contract/contract_runtime_process"],
    "hostile jobs of root": [
        sys.executable, *HOSTILE, "HostileJobs.test_as_root_with_cgroups"],
    "hostile jobs of root without namespaces": [
        sys.executable, *HOSTILE,
        "HostileJobs.test_as_root_without_namespaces"],
}


def mount_all(libc):
    for kind, path in MOUNTS:
        os.makedirs(path, exist_ok=True)
        if libc.mount(kind.encode(), path.encode(), kind.encode(), 0, None):
            raise OSError(ctypes.get_errno(), f"mount {path}")


def load_modules(libc):
    for path in sorted((ROOT / "modules").glob("*.ko")):
        with open(path, "rb") as file:
            if libc.syscall(FINIT_MODULE, file.fileno(), b"", 0):
                raise OSError(ctypes.get_errno(), f"load {path}")


def set_up_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, FLAGS_GET,
                                                     request))[1]
        fcntl.ioctl(any_socket, FLAGS_SET,
                    struct.pack("16sH14x", b"lo", flags | IS_UP))


def run_all():
    """How many tests failed."""
    failed = 0
    for name, argv in TESTS.items():
        print(f"guest: {name}", flush=True)
        code = subprocess.run(argv, check=False, cwd=ROOT,
                              stdin=subprocess.DEVNULL).returncode
        print(f"guest: {name}: {'ok' if code == 0 else f'failed: {code}'}",
              flush=True)
        failed += code != 0
    return failed


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    mount_all(libc)
    console = os.open("/dev/console", os.O_RDWR)
    for number in range(3):
        os.dup2(console, number)
    for path in ("/tmp", "/dev/shm"):
        os.chmod(path, 0o1777)
    load_modules(libc)
    set_up_loopback()
    with open("/proc/cmdline", encoding="utf-8") as file:
        words = dict(word.split("=", 1) for word in file.read().split()
                     if "=" in word)
    os.environ.update(
        PATH="/usr/sbin:/usr/bin:/sbin:/bin", HOME="/root", HOSTILE_FULL="1",
        HOSTILE_ROUNDS="1", HOSTILE_LOAD="0", BERTH_BUILD=str(ROOT / "build"),
        BERTH_CGROUP="v2", BERTH_PATIENCE=words["berth.patience"],
        BERTH_SHIM=str(ROOT / "build/src/main/berth-shim"))
    failed = run_all()
    print(f"guest: {len(TESTS) - failed} of {len(TESTS)} ok", flush=True)
    os.sync()
    libc.reboot(POWER_OFF)


if __name__ == "__main__":
    try:
        main()
    finally:
        # Where that failed: the kernel panics and so ends the machine.
        sys.stdout.flush()
