"""Whether dashboards are what Grafana takes: its own types of them, and the
compiler that checks these.

Both come from npm's registry, and are unpacked into the build folder.
"""

import fcntl
import json
import shutil
import subprocess
import unittest

import harness

FOLDER = harness.BUILD / "grafana"
# The last of the series that Grafana 10 was released with.
PACKAGES = {"schema": "@grafana/schema@10.4.0",
            "typescript": "typescript@5.4.5"}
TYPES = "./schema/package/dist/esm/raw/dashboard/x/dashboard_types.gen"


def unpack():
    """Both packages into the build folder."""
    FOLDER.mkdir(exist_ok=True)
    for name, package in PACKAGES.items():
        if (FOLDER / name / "package").exists():
            continue
        done = subprocess.run(
            ["npm", "pack", "--silent", package], cwd=FOLDER, check=True,
            capture_output=True, text=True, timeout=harness.patient(120))
        (FOLDER / name).mkdir(exist_ok=True)
        subprocess.run(["tar", "-xzf", done.stdout.split()[-1], "-C", name],
                       cwd=FOLDER, check=True, timeout=harness.patient(60))


def faults(path):
    """What Grafana's types say against a dashboard, or ""; skips the test
    where they are not to be had."""
    if not shutil.which("npm") or not shutil.which("node"):
        raise unittest.SkipTest("npm and node are not here: no types of "
                                "dashboards to check against")
    with open(harness.BUILD / "grafana.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            unpack()
        except (OSError, subprocess.SubprocessError) as error:
            raise unittest.SkipTest(f"npm's registry is out of reach: {error}")
    source = FOLDER / f"{path.stem}.ts"
    source.write_text(
        f"import type {{ Dashboard }} from '{TYPES}';\n"
        "export const dashboard: Dashboard = "
        f"{json.dumps(json.loads(path.read_text()), indent=1)};\n")
    done = subprocess.run(
        ["node", "typescript/package/bin/tsc", "--noEmit", "--strict",
         "--skipLibCheck", "--target", "es2020", "--moduleResolution", "node",
         source.name],
        cwd=FOLDER, capture_output=True, text=True, check=False,
        timeout=harness.patient(120))
    return done.stdout + done.stderr
