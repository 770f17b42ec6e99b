"""The guide to a shared server: each of its commands, as it is written there."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

import harness

PAGE = harness.ROOT / "docs" / "guide" / "shared-server.md"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class SharedServer(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.grpc = f"localhost:{free_port()}"
        self.programs = []
        self.addCleanup(self.stop)
        text = PAGE.read_text()
        for there, here in {
                "/etc/berth": str(self.folder),
                "berth.example.org:50051": self.grpc,
                "berth.example.org": "localhost",
                "0.0.0.0:50051": self.grpc.replace("localhost", "127.0.0.1"),
                "127.0.0.1:8081": "127.0.0.1:0"}.items():
            self.assertIn(there, text)
            text = text.replace(there, here)
        self.blocks = iter(re.findall(r"(?s)```sh\n(.*?)```", text))

    def stop(self):
        for program in reversed(self.programs):
            program.stop()

    def step(self):
        """Run the next block; what it wrote."""
        return self.run_block(next(self.blocks))

    def run_block(self, block):
        """Run one as its reader would; what it wrote."""
        path = f"{harness.CLIENTS / 'src/main'}:{harness.BUILD / 'src/main'}"
        done = subprocess.run(
            ["sh", "-eu", "-c", block], cwd=self.folder, text=True,
            capture_output=True, check=False, timeout=harness.patient(90),
            env={"HOME": str(self.folder),
                 "PATH": f"{path}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def start(self, name, config, *arguments):
        program = harness.Program(
            [harness.program(name), "--config", str(self.folder / config),
             "--data", str(self.folder / name), *arguments],
            self.folder / f"{name}.log")
        self.programs.append(program)
        program.wait_ready()

    def test_every_step_works(self):
        self.step()  # the certificate
        self.step()  # hashes
        self.assertIn("the configuration is valid", self.step())
        self.start("berthd", "berth.yaml")
        self.assertIn("User: anna (administrator)", self.step())
        self.assertIn("yes\n", self.step())
        self.assertIn("not allowed", self.step())
        self.step()  # the executor's configuration
        self.start("berth-executor", "executor.yaml", "--stop-jobs")
        listing = next(self.blocks)
        harness.wait_for("the executor is live", lambda: re.search(
            r"node1 .*live", self.run_block(listing)))
        self.assertIn("it works", self.step())
        self.step()  # the backup
        self.assertTrue((self.folder / "nightly" / "log.db").exists())
        self.assertRaises(StopIteration, next, self.blocks)


if __name__ == "__main__":
    unittest.main()
