"""chaos.py for some seconds, once with kills and once without.

$CHAOS_SEED chooses other acts, $CHAOS_SECONDS how long they go on (5); a
failure prints the seed that it had.
"""

import os
import subprocess
import unittest

from harness import ROOT, armada_python, patient

END_SECONDS_MAX = patient(240)


class Chaos(unittest.TestCase):
    def run_chaos(self, *arguments):
        seed = os.environ.get("CHAOS_SEED", "1")
        seconds = os.environ.get("CHAOS_SECONDS", "5")
        try:
            python = armada_python()
        except subprocess.CalledProcessError as error:
            self.skipTest(f"armada-client cannot be installed: {error}")
        done = subprocess.run(
            [python, str(ROOT / "tests/e2e/chaos.py"), "--seed", seed,
             "--seconds", seconds, *arguments],
            capture_output=True, text=True, check=False,
            timeout=float(seconds) + END_SECONDS_MAX)
        self.assertEqual(done.returncode, 0,
                         f"seed {seed}\n{done.stdout}{done.stderr}")

    def test_all_at_once_with_kills(self):
        self.run_chaos("--threads", "2")

    def test_all_at_once_without_kills(self):
        self.run_chaos("--no-kills", "--threads", "1")


if __name__ == "__main__":
    unittest.main()
