"""A restart of berthd loses no running job, no exit code and no history."""

import json
import os
import subprocess
import time
import unittest

import harness
from test_berthctl import job_file

CONFIG = """
executor:
  process:
    resources: {cpu: 4, memory: 2Gi, ephemeral-storage: 8Gi}
"""


class Restart(unittest.TestCase):
    def setUp(self):
        self.berth = harness.Berth(CONFIG).start()
        self.addCleanup(self.berth.close)
        self.berth.ctl("create", "queue", "q")

    def submit(self, *commands, job_set="s"):
        out = self.berth.ctl("submit", "-", input_text=job_file(
            "q", job_set, *commands)).stdout
        return [line.split()[4] for line in out.splitlines()]

    def job(self, job_id):
        return json.loads(self.berth.ctl("get", "jobs", job_id, "-o",
                                         "json").stdout)[0]

    def wait_state(self, job_id, state):
        return harness.wait_for(
            f"{job_id} is {state}", lambda: self.job(job_id)
            .get("state", "QUEUED") == state and self.job(job_id))

    def test_running_job_goes_on_and_its_exit_code_is_kept(self):
        flag = self.berth.meeting / "go"
        wait = f"until [ -e {flag} ]; do sleep 0.05; done"
        good, bad = self.submit(f"echo before; {wait}; echo after",
                                f"{wait}; exit 5")
        self.wait_state(good, "RUNNING")
        self.wait_state(bad, "RUNNING")
        self.assertEqual(self.berth.stop(), 0)
        self.berth.start()
        self.assertEqual(self.job(good)["state"], "RUNNING")
        flag.touch()
        self.wait_state(good, "SUCCEEDED")
        self.assertEqual(self.wait_state(bad, "FAILED")["exitCode"], 5)
        self.assertEqual(self.berth.ctl("logs", good).stdout,
                         "before\nafter\n")
        self.assertEqual(self.job(good)["runCount"], 1)

    def test_logs_are_followed_over_a_restart(self):
        flag = self.berth.meeting / "go"
        job_id, = self.submit(f"echo first; until [ -e {flag} ]; do "
                              "sleep 0.05; done; echo last")
        follower = subprocess.Popen(
            [harness.program("berthctl"), "--berthUrl", self.berth.grpc,
             "logs", "--follow", job_id], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(follower.stderr.close)
        self.addCleanup(follower.stdout.close)
        self.addCleanup(follower.kill)
        self.assertEqual(follower.stdout.readline(), "first\n")
        self.assertEqual(self.berth.stop(), 0)
        self.assertRegex(follower.stderr.readline(), "retrying")
        flag.touch()
        self.berth.start()
        out, _ = follower.communicate(timeout=harness.patient(30))
        self.assertEqual((follower.returncode, out), (0, "last\n"))

    def test_job_that_ends_while_the_server_is_away_is_reported(self):
        flag = self.berth.meeting / "go"
        done = self.berth.meeting / "done"
        job_id, = self.submit(f"until [ -e {flag} ]; do sleep 0.05; done; "
                              f"touch {done}; exit 9")
        self.wait_state(job_id, "RUNNING")
        self.assertEqual(self.berth.stop(), 0)
        flag.touch()
        harness.wait_for("the job has ended", done.exists)
        self.berth.start()
        self.assertEqual(self.wait_state(job_id, "FAILED")["exitCode"], 9)

    def test_store_is_rebuilt_from_the_log(self):
        ids = self.submit("true", "exit 4")
        self.wait_state(ids[0], "SUCCEEDED")
        self.wait_state(ids[1], "FAILED")
        before = [self.job(job_id) for job_id in ids]
        self.berth.stop()
        for path in self.berth.data.glob("store.db*"):
            path.unlink()
        self.berth.start()
        harness.wait_for("the store is rebuilt", lambda: len(json.loads(
            self.berth.ctl("get", "jobs", "-o", "json").stdout)) == 2)
        self.assertEqual([self.wait_state(ids[0], "SUCCEEDED"),
                          self.wait_state(ids[1], "FAILED")], before)

    def test_events_go_on_from_an_id_after_a_restart(self):
        self.submit("true")
        first = self.berth.ctl("watch", "q", "s", "--exit-if-inactive").stdout
        self.berth.stop()
        self.berth.start()
        again = self.berth.ctl("watch", "q", "s", "--exit-if-inactive").stdout
        self.assertEqual(again, first)

    def test_stop_jobs_ends_them(self):
        self.berth.stop()
        self.berth.arguments.append("--stop-jobs")
        self.berth.start()
        job_id, = self.submit("sleep 100")
        self.wait_state(job_id, "RUNNING")
        self.assertEqual(self.berth.stop(), 0)
        self.berth.start()
        harness.wait_for("it has ended", lambda: self.job(job_id).get(
            "state", "QUEUED") not in ("QUEUED", "LEASED", "PENDING",
                                       "RUNNING"))

    def test_stop_takes_less_than_five_seconds(self):
        self.submit(*["sleep 100"] * 20)
        began = time.monotonic()
        self.assertEqual(self.berth.stop(), 0)
        self.assertLess(time.monotonic() - began, harness.patient(5))
        self.berth.start()
        self.berth.ctl("cancel", "job-set", "q", "s")


FLOW = """
scheduling:
  pools:
    - name: default
      profile: flow
      costWeights: {cpu: 1}
      flowHalfTime: 1h
executor:
  process:
    resources: {cpu: 4, memory: 2Gi, ephemeral-storage: 8Gi}
"""

FLOW_JOB = """
queue: {queue}
jobSetId: s
jobs:
  - namespace: default
    priority: 0
    annotations: {{berth.dev/lifetimeSeconds: "600"}}
    podSpec:
      priorityClassName: armada-preemptible
      containers:
        - name: c
          image: x
          command: [sleep, "300"]
          resources:
            requests: {{cpu: {cores}, memory: 16Mi}}
            limits: {{cpu: {cores}, memory: 16Mi}}
"""


class Flow(unittest.TestCase):
    """Flows and charges are in the log and its checkpoints."""

    def setUp(self):
        self.berth = harness.Berth(FLOW).start()
        self.addCleanup(self.berth.close)
        for queue in ("a", "b"):
            self.berth.ctl("create", "queue", queue)

    def share(self, queue):
        shares = json.loads(self.berth.ctl("get", "shares", "-o",
                                           "json").stdout)["shares"]
        return next(share for share in shares if share["queue"] == queue)

    def start_job(self, queue, cores):
        before = self.share(queue).get("usage", 0)
        out = self.berth.ctl("submit", "-", input_text=FLOW_JOB.format(
            queue=queue, cores=cores)).stdout
        harness.wait_for("the job is leased", lambda: self.share(queue).get(
            "usage", 0) > before)
        return out.split()[4]

    def test_flows_and_charges_outlive_a_restart(self):
        self.start_job("b", 1)
        within = self.start_job("a", 2)
        above = self.start_job("a", 1)
        # A core above the share of two, for ten minutes; the budget is an
        # hour of the share.
        self.assertEqual(self.share("a")["budget"], 120)
        self.assertEqual(self.share("a")["budgetLeft"], 110)
        self.berth.ctl("cancel", "job", "a", "s", within)
        harness.wait_for("usage falls",
                         lambda: self.share("a")["usage"] == 0.25)
        self.assertEqual(self.berth.stop(), 0)
        self.berth.start()
        harness.wait_for("the nodes are back",
                         lambda: self.share("a").get("usage") == 0.25)
        self.assertEqual(self.share("a")["budgetLeft"], 110)
        self.assertGreater(self.share("a")["flow"], 0.7)
        self.assertLess(self.share("a")["flow"], 0.75)
        self.berth.ctl("cancel", "job", "a", "s", above)
        harness.wait_for("the charge is given back",
                         lambda: self.share("a")["budgetLeft"] == 120)


if __name__ == "__main__":
    unittest.main()
