#!/usr/bin/env python3
"""Starts a real API server for bench_kube.

usage: kube_rate.py BUILD [PODS]
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "kube"))
import control_plane  # noqa: E402 pylint: disable=C0413


def main():
    build, *pods = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, \
            control_plane.ControlPlane(folder) as plane:
        config = plane.write_kubeconfig()
        plane.add_nodes("n1")
        return subprocess.run(
            [pathlib.Path(build) / "bench/bench_kube", config, *pods],
            check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
