"""A hundred and more kills in two runs of crash.py, seeded.

$CRASH_SEED chooses other moments; a failure prints the seed that it had.
"""

import os
import subprocess
import unittest

from harness import ROOT, armada_python, patient

SECONDS_MAX = patient(280)


class Crash(unittest.TestCase):
    def run_crashes(self, *arguments):
        seed = os.environ.get("CRASH_SEED", "1")
        try:
            python = armada_python()
        except subprocess.CalledProcessError as error:
            self.skipTest(f"armada-client cannot be installed: {error}")
        done = subprocess.run(
            [python, str(ROOT / "tests/e2e/crash.py"),
             "--seed", seed, *arguments],
            capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0,
                         f"seed {seed}\n{done.stdout}{done.stderr}")

    def test_server_and_executor_are_killed_70_times(self):
        self.run_crashes("--kills", "70")

    def test_a_standalone_server_is_killed_40_times(self):
        self.run_crashes("--kills", "40", "--standalone")


if __name__ == "__main__":
    unittest.main()
