"""Prometheus' promtool and prometheus, for tests of metrics and of rules.

They come from the machine, or from Debian's package, which is unpacked into the
build folder: installed it would start a server of its own.
"""

import fcntl
import shutil
import subprocess
import unittest

import harness

FOLDER = harness.BUILD / "prometheus"


def unpack():
    """Debian's package into the build folder; how it went."""
    FOLDER.mkdir(exist_ok=True)
    seconds = harness.patient(300)
    for prepare in ([], ["apt-get", "update", "-qq"]):
        if prepare:
            subprocess.run(prepare, capture_output=True, check=False,
                           timeout=seconds)
        done = subprocess.run(
            ["apt-get", "download", "-qq", "prometheus"], cwd=FOLDER,
            capture_output=True, text=True, check=False, timeout=seconds)
        packages = sorted(FOLDER.glob("prometheus_*.deb"))
        if done.returncode == 0 and packages:
            subprocess.run(["dpkg-deb", "-x", packages[-1], FOLDER],
                           check=True, timeout=seconds)
            return ""
    return done.stderr.strip().splitlines()[-1:] or "no package"


def program(name):
    """Path of `promtool` or `prometheus`; skips the test where there is none."""
    found = shutil.which(name)
    if found:
        return found
    path = FOLDER / "usr" / "bin" / name
    with open(harness.BUILD / "prometheus.lock", "w",
              encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            why = "" if path.exists() else unpack()
        except (OSError, subprocess.SubprocessError) as error:
            why = error
    if not path.exists():
        raise unittest.SkipTest(
            f"{name} is neither here nor to be had from Debian: {why}")
    return str(path)


def run(*arguments, text=None):
    return subprocess.run([program("promtool"), *arguments], input=text,
                          capture_output=True, text=True, check=False,
                          timeout=harness.patient(120))
