"""`berth-sim replay` makes the decisions of a server's log again."""

import json
import subprocess
import unittest

import harness
from test_berthctl import job_file

CONFIG = """
executor:
  runtime: fake
  fake:
    nodes: [{name: n, count: 2, resources: {cpu: 1, memory: 16Gi, ephemeral-storage: 10Gi}}]
    runTime: 50ms
"""


class Replay(unittest.TestCase):
    def setUp(self):
        self.berth = harness.Berth(CONFIG).start()
        self.addCleanup(self.berth.close)
        self.berth.ctl("create", "queue", "q")

    def submit(self, job_set, count):
        self.berth.ctl("submit", "-", input_text=job_file(
            "q", job_set, *["true"] * count))

    def waiting(self):
        jobs = json.loads(self.berth.ctl("get", "jobs", "-o", "json").stdout)
        return [job for job in jobs if job.get("state", "QUEUED") in
                ("QUEUED", "LEASED", "PENDING", "RUNNING")]

    def replay(self):
        done = subprocess.run(
            [harness.program("berth-sim"), "replay", str(self.berth.data),
             "--json"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_log_of_a_server_is_decided_again_beside_and_after_it(self):
        self.submit("first", 60)
        beside = self.replay()
        self.assertGreater(beside["records"], 2)
        self.assertEqual(self.berth.stop(), 0)
        self.berth.start()
        self.submit("second", 30)
        self.berth.ctl("cancel", "job-set", "q", "second")
        harness.wait_for("all has ended", lambda: not self.waiting())
        self.berth.stop()
        after = self.replay()
        self.assertTrue(after["is_same"])
        self.assertGreater(after["records"], beside["records"])
        # Each job was at least leased and ended, or cancelled.
        self.assertGreaterEqual(after["decisions"], 60 * 2 + 30)
        self.assertGreater(after["rounds"], 0)


if __name__ == "__main__":
    unittest.main()
