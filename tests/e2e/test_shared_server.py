"""The guide to a shared server: each of its commands, as it is written there.

Its four machines are four directories here; what changes the machine itself is
left out.  tools/shared-test does it all, on machines of their own.
"""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

import harness
import promtool
import shared_page

# Commands of the page, as far as a test may do them.
LEFT_OUT = ("apt-get", "chgrp")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Folders:
    """A directory for each machine."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-e2e-"))
        self.programs = {}
        self.grpc, self.http, self.prometheus = (
            f"localhost:{free_port()}" for _ in range(3))
        self.bins = [harness.CLIENTS / "src/main", harness.BUILD / "src/main"]
        self.missing = None  # why there is no Prometheus
        try:
            self.bins.append(
                pathlib.Path(promtool.program("promtool")).parent)
        except unittest.SkipTest as error:
            self.missing = str(error)
        for machine in (shared_page.SERVER, *shared_page.NODES):
            self.make(machine)

    def make(self, machine):
        folder = self.folder / machine
        for name in ("bin", "cron.daily", "prometheus", "backups"):
            (folder / name).mkdir(parents=True)
        stand_ins = {
            "hostname": f"echo {machine}",
            "scp": f'cp "$1" "{self.folder}/${{2%%:*}}/"',
            "systemctl": ":", **dict.fromkeys(LEFT_OUT, ":")}
        for name, text in stand_ins.items():
            shared_page.executable(folder / "bin" / name,
                                   f"#!/bin/sh\n{text}\n")

    def here(self, machine, text):
        """With the names of the machine's directory, and free ports."""
        folder = self.folder / machine
        rules = harness.ROOT / "deploy" / "prometheus"
        names = {  # longer ones first
            "/etc/berth": folder,
            "/etc/cron.daily": folder / "cron.daily",
            "/etc/prometheus": folder / "prometheus",
            "/var/backups": folder / "backups",
            "/usr/share/berth/prometheus": rules,
            "berth.example.org:50051": self.grpc,
            "berth.example.org": "localhost",
            "0.0.0.0:50051": self.grpc.replace("localhost", "127.0.0.1"),
            "127.0.0.1:8081": self.http.replace("localhost", "127.0.0.1"),
            "localhost:9090": self.prometheus,
            "scrape_interval: 15s": "scrape_interval: 1s"}
        return re.sub("|".join(map(re.escape, names)),
                      lambda found: str(names[found[0]]), text)

    def run(self, machine, text):
        folder = self.folder / machine
        path = ":".join(map(str, [folder / "bin", *self.bins]))
        script = shared_page.in_its_directory(self.here(machine, text),
                                              folder / ".directory")
        return subprocess.run(
            ["sh", "-euc", script], cwd=folder, text=True,
            capture_output=True, check=False, timeout=harness.patient(90),
            env={"HOME": str(folder), "PATH": f"{path}:{os.environ['PATH']}"})

    def restart(self, machine, unit):
        folder = self.folder / machine
        if unit == "prometheus":
            argv = [promtool.program("prometheus"),
                    f"--config.file={folder}/prometheus/prometheus.yml",
                    f"--storage.tsdb.path={folder}/data",
                    f"--web.listen-address={self.prometheus}"]
        else:
            config = "berth.yaml" if unit == "berthd" else "executor.yaml"
            argv = [harness.program(unit), "--config", str(folder / config),
                    "--data", str(folder / "data"),
                    *(["--stop-jobs"] if unit == "berth-executor" else [])]
        program = harness.Program(argv, folder / f"{unit}.log")
        self.programs[machine, unit] = program
        if unit == "berthd":  # of which systemd is told
            program.wait_ready()

    def close(self):
        for program in reversed(self.programs.values()):
            program.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class SharedServer(unittest.TestCase):
    def test_every_step_works(self):
        place = Folders()
        self.addCleanup(place.close)
        shared_page.follow(place, "prom" if place.missing else None)
        made = list((place.folder / shared_page.SERVER / "backups").glob(
            "berth-*/log.db"))
        self.assertEqual(len(made), 1)
        self.assertEqual(len(place.programs), 4 if place.missing else 5)
        if place.missing:
            self.skipTest(f"all but the monitoring works; {place.missing}")


if __name__ == "__main__":
    unittest.main()
