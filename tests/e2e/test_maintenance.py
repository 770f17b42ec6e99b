"""Before a maintenance window a node starts only what ends by then."""

import datetime
import json
import unittest

import harness
from test_reservations import job_file

CONFIG = """
executor:
  process:
    resources: {cpu: 2, memory: 1Gi, ephemeral-storage: 4Gi}
"""

HOUR_S = 3600


def time_in(seconds):
    now = datetime.datetime.now(datetime.timezone.utc)
    later = now + datetime.timedelta(seconds=seconds)
    return later.strftime("%Y-%m-%dT%H:%M:%SZ")


class Maintenance(unittest.TestCase):
    def setUp(self):
        self.berth = harness.Berth(CONFIG)
        self.berth.start()
        self.addCleanup(self.berth.close)
        self.berth.ctl("create", "queue", "q")

    def get(self, *arguments):
        return json.loads(
            self.berth.ctl("get", *arguments, "-o", "json").stdout)

    def windows(self):
        return self.get("maintenance-windows").get("windows", [])

    def jobs(self):
        """The states of all jobs, by id."""
        return {job["jobId"]: job.get("state") for job in self.get("jobs", "-n",
                                                               "0")}

    def submit(self, limit_s):
        before = self.jobs()
        self.berth.ctl("submit", "-", input_text=job_file(
            "q", 1, limit_s, command="true"))
        return harness.wait_for("the job is known", lambda: [
            job for job in self.jobs() if job not in before])[0]

    def job_row(self, job):
        return self.berth.ctl("get", "jobs", job).stdout.splitlines()[1]

    def explain(self, job):
        return json.loads(self.berth.ctl("explain", job, "-o", "json").stdout)

    def test_a_window_keeps_back_what_would_run_into_it(self):
        ctl = self.berth.ctl
        ctl("create", "maintenance-window", "cables", "--begin",
            time_in(HOUR_S), "--duration", "2h", "--all-nodes", "--reason",
            "new cables")
        harness.wait_for("the node is known",
                         lambda: self.windows()[0].get("nodeCount") == 1)
        late, in_time = self.submit(2 * HOUR_S), self.submit(60)
        harness.wait_for("the short job has run",
                         lambda: self.jobs()[in_time] == "SUCCEEDED")
        why = self.explain(late)
        self.assertEqual(why["reason"], "maintenanceWindow")
        self.assertEqual([w["name"] for w in why["maintenanceWindows"]],
                         ["cables"])
        self.assertIn("Maintenance window cables is from ",
                      ctl("explain", late).stdout)
        self.assertIn("new cables",
                      ctl("get", "maintenance-windows").stdout)

        self.berth.kill()  # the window is in the log
        self.berth.start()
        self.assertEqual(self.explain(late)["reason"], "maintenanceWindow")
        ctl("update", "maintenance-window", "cables", "--begin",
            time_in(3 * HOUR_S), "--duration", "2h")
        harness.wait_for("the other job has run",
                         lambda: self.jobs()[late] == "SUCCEEDED")
        ctl("delete", "maintenance-window", "cables")
        self.assertEqual(self.windows(), [])

    def test_a_forecast_knows_when_a_window_ends(self):
        ctl = self.berth.ctl
        ctl("create", "maintenance-window", "now", "--begin", time_in(-60),
            "--duration", "30m", "--all-nodes", "--repeat", "168h")
        harness.wait_for("the node is known",
                         lambda: self.windows()[0].get("nodeCount") == 1)
        self.assertTrue(self.windows()[0]["isOpen"])
        self.assertIn("168h", ctl("get", "maintenance-windows").stdout)
        said = ctl("submit", "-", "--when",
                   input_text=job_file("q", 1, 60)).stdout
        self.assertRegex(said, r"would start after about 2\dm")

    def test_what_makes_no_sense_is_refused(self):
        ctl = self.berth.ctl
        times = ("--begin", time_in(60), "--duration", "1h")
        for arguments, code, text in (
                (times, 6, "which nodes? Give --executors"),
                (("--all-nodes",), 6, "--begin: must be given"),
                (("--all-nodes", "--begin", "soon"), 2, "--begin takes"),
                ((*times, "--end", time_in(90), "--all-nodes"), 2, "not both"),
                (("--all-nodes", "--begin", time_in(-7200), "--duration",
                  "1h"), 6, "--end or --duration: must be in the future"),
        ):
            done = ctl("create", "maintenance-window", "w", *arguments,
                       check=False)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.returncode, code)
        done = ctl("create", "maintenance-window", "w", *times, "--all-nodes")
        self.assertNotIn("about no node", done.stderr)
        done = ctl("create", "maintenance-window", "v", *times, "--selector",
                   "zone=none")
        self.assertIn("window v is about no node", done.stderr)
        done = ctl("create", "maintenance-window", "w", *times, "--all-nodes",
                   check=False)
        self.assertIn("exists already", done.stderr)
        done = ctl("delete", "maintenance-window", "none", check=False)
        self.assertEqual(done.returncode, 3)


if __name__ == "__main__":
    unittest.main()
