"""A restart of berthd loses no running job, no exit code and no history."""

import json
import os
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
        flag = self.berth.folder / "go"
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

    def test_job_that_ends_while_the_server_is_away_is_reported(self):
        flag = self.berth.folder / "go"
        done = self.berth.folder / "done"
        os.chmod(self.berth.folder, 0o777)
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
        self.assertLess(time.monotonic() - began, 5)
        self.berth.start()
        self.berth.ctl("cancel", "job-set", "q", "s")


if __name__ == "__main__":
    unittest.main()
