"""Armada's own Python client, its newest release, against a standalone server.

The client is installed into a virtual environment under the build folder; the
cases themselves are in armada_client_cases.py, which runs inside it.
"""

import os
import pathlib
import subprocess
import sys
import unittest

import harness

CONFIG = """
executor:
  process:
    resources: {cpu: 8, memory: 4Gi, ephemeral-storage: 8Gi}
"""


class ArmadaClient(unittest.TestCase):
    def test_all_cases(self):
        try:
            python = harness.armada_python()
        except subprocess.CalledProcessError as error:
            self.skipTest(f"armada-client cannot be installed: {error}")
        cases = pathlib.Path(__file__).with_name("armada_client_cases.py")
        with harness.Berth(CONFIG, arguments=["--stop-jobs"]) as berth:
            done = subprocess.run(
                [python, str(cases), "-v"], check=False,
                timeout=harness.patient(300),
                env={**os.environ, "BERTH_GRPC": berth.grpc},
                stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True)
            # The cases' own totals are counted by tools/check.
            sys.stdout.write(done.stdout)
            sys.stdout.flush()
            self.assertEqual(done.returncode, 0, berth.program.log())


if __name__ == "__main__":
    unittest.main()
