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

POOLS = """
scheduling:
  fullRoundPeriod: 100ms
planner:
  threads: 2
executor:
  runtime: fake
  fake:
    nodes:
      - {name: a, count: 2, labels: [a=true], resources: {cpu: 4, memory: 16Gi, ephemeral-storage: 10Gi}}
      - {name: b, count: 2, labels: [b=true], resources: {cpu: 4, memory: 16Gi, ephemeral-storage: 10Gi}}
      - {name: n, count: 1, resources: {cpu: 4, memory: 16Gi, ephemeral-storage: 10Gi}}
    runTime: 100ms
"""
POOL = """
apiVersion: resource.aibee.cn/v1alpha1
kind: Pool
metadata: {{name: {name}}}
spec:
  nodeSelector:
    matchLabels: {{{name}: "true"}}
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


class ReplayOfPools(Replay):
    """Each pool is planned in threads beside the leader, and lends."""

    def setUp(self):
        self.berth = harness.Berth(POOLS).start()
        self.addCleanup(self.berth.close)
        self.berth.ctl("create", "queue", "q")
        for name in ("a", "b"):
            self.berth.ctl("create", "-f", "-",
                           input_text=POOL.format(name=name))

    def submit(self, job_set, count):
        for pool in ("a", "b", None):
            file = json.loads(job_file("q", job_set, *["true"] * (count // 3)))
            for job in file["jobs"] if pool else ():
                job["annotations"] = {"resource.aibee.cn/pool": pool}
                for kind in ("requests", "limits"):
                    job["podSpec"]["containers"][0]["resources"][kind][
                        "cpu"] = "1"
            self.berth.ctl("submit", "-", input_text=json.dumps(file))

    def test_every_round_in_threads_is_made_again(self):
        for job_set in ("first", "second", "third"):
            self.submit(job_set, 120)
        harness.wait_for("all has ended", lambda: not self.waiting())
        self.berth.stop()
        after = self.replay()
        self.assertTrue(after["is_same"])
        self.assertGreater(after["rounds"], 20)
        self.assertEqual(after["unseen_rounds"], 0)


if __name__ == "__main__":
    unittest.main()
