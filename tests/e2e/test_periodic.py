"""Schedules submit jobs: at their moments, once each, however the server fares
between them."""

import json
import os
import pathlib
import time
import unittest

import harness

CONFIG = """
executor:
  process:
    resources: {cpu: 4, memory: 1Gi, ephemeral-storage: 40Gi}
"""

DAY_S = 86400
SMALL = ("--cpu", "0.1", "--memory", "10Mi", "--storage", "10Mi")

CRON_JOB = """
apiVersion: batch/v1
kind: CronJob
metadata:
  name: nightly
  annotations: {armadaproject.io/queue: q}
spec:
  schedule: "30 2 * * mon-fri"
  timeZone: Europe/Berlin
  concurrencyPolicy: Forbid
  successfulJobsHistoryLimit: 3
  jobTemplate:
    spec:
      template:
        spec:
          containers:
          - {name: main, image: none, command: ["true"],
             resources: {limits: {cpu: 100m, memory: 10Mi},
                         requests: {cpu: 100m, memory: 10Mi}}}
"""


class Periodic(unittest.TestCase):
    def setUp(self):
        self.berth = harness.Berth(CONFIG)
        self.addCleanup(self.berth.close)
        self.addCleanup(os.environ.pop, "LD_PRELOAD", None)
        self.addCleanup(os.environ.pop, "CLOCK_SHIFT_S", None)
        self.shift_s = 0

    def start_at(self, second, later_s=0):
        """Start the server in that second of a minute, at least so much later
        than it would be."""
        shift = self.shift_s + later_s
        shift += (second - (time.time() + shift)) % 60
        self.shift_s = int(shift)
        library = (pathlib.Path(os.environ["BERTH_BUILD"]) /
                   "tests/e2e/libclock_shift.so")
        os.environ["CLOCK_SHIFT_S"] = str(self.shift_s)
        os.environ["LD_PRELOAD"] = str(library)
        os.environ["ASAN_OPTIONS"] = (os.environ.get("ASAN_OPTIONS", "") +
                                      ":verify_asan_link_order=0")
        self.berth.start()
        del os.environ["LD_PRELOAD"]

    def get(self, name):
        found = json.loads(self.berth.ctl("get", "periodic-jobs", name, "-o",
                                          "json").stdout)
        return found["periodicJobs"][0]

    def jobs(self, name):
        """The jobs of its runs, oldest first."""
        jobs = json.loads(self.berth.ctl(
            "get", "jobs", "-l", f"berth.dev/periodicJob={name}", "-n", "0",
            "--members", "-o", "json").stdout)
        return sorted(jobs, key=lambda job: job["jobId"])

    def runs(self, name):
        return [job.get("state", "").lower() for job in self.jobs(name)]

    def run_each_minute(self, name, *arguments, command=("true",)):
        self.berth.ctl("run", "--queue", "q", "--name", name, "--schedule",
                       "* * * * *", *arguments, *SMALL, "--", *command)

    def wait_for_moment(self, name, before):
        return harness.wait_for(
            f"a moment of {name} is dealt with", lambda: [
                p for p in [self.get(name)]
                if p.get("lastRun", "") > before], 90)[0]

    def test_moments_become_runs_once_each(self):
        self.start_at(50)
        ctl = self.berth.ctl
        ctl("create", "queue", "q")
        self.run_each_minute("fast")
        self.run_each_minute("kept", "--concurrency", "Forbid",
                             command=("sleep", "1000"))
        self.run_each_minute("swapped", "--concurrency", "Replace",
                             command=("sleep", "1000"))
        self.run_each_minute("idle")
        self.run_each_minute("many", "--array", "0-2%1")
        ctl("suspend", "periodic-job", "idle")
        first = {name: self.wait_for_moment(name, "")
                 for name in ("fast", "kept", "swapped", "many")}
        for status in first.values():
            self.assertEqual(status["lastOutcome"], "Submitted")
        harness.wait_for("the runs go on", lambda: (
            self.runs("fast") == ["succeeded"]
            and self.runs("kept") == self.runs("swapped") == ["running"]))

        # A restart in the same minute runs nothing again; the next does.
        self.berth.kill()
        self.start_at(56)
        second = {name: self.wait_for_moment(name, status["lastRun"])
                  for name, status in first.items()}
        ctl("suspend", "periodic-job", "fast", "many")
        self.assertEqual(second["fast"]["lastOutcome"], "Submitted")
        self.assertEqual(second["kept"]["lastOutcome"], "Skipped")
        self.assertIn("Forbid", second["kept"]["lastMessage"])
        harness.wait_for("the run is replaced", lambda: self.runs(
            "swapped") == ["cancelled", "running"])
        harness.wait_for("the second run ends", lambda: self.runs(
            "fast") == ["succeeded", "succeeded"])

        harness.wait_for("both arrays end", lambda: self.runs(
            "many") == ["succeeded"] * 6)
        arrays = {job["arrayId"] for job in self.jobs("many")}
        self.assertEqual(len(arrays), 2, arrays)

        # Two days of moments pass without the server: one becomes a run.
        ctl("resume", "periodic-job", "fast")
        self.berth.stop()
        self.start_at(10, later_s=2 * DAY_S)
        self.wait_for_moment("fast", second["fast"]["lastRun"])
        harness.wait_for("the third run ends", lambda: self.runs(
            "fast") == ["succeeded"] * 3)
        self.assertEqual(self.runs("idle"), [])
        self.assertNotIn("nextRun", self.get("idle"))

    def test_files_and_cron_jobs_make_them(self):
        self.start_at(0)
        ctl = self.berth.ctl
        ctl("create", "queue", "q")
        made = ctl("submit", "-", input_text=CRON_JOB)
        self.assertIn("Created periodic job nightly of queue q", made.stdout)
        self.assertIn("successfulJobsHistoryLimit: ignored", made.stderr)
        nightly = self.get("nightly")
        self.assertEqual(nightly["periodicJob"]["timeZone"], "Europe/Berlin")
        self.assertEqual(nightly["periodicJob"]["concurrencyPolicy"], "Forbid")
        self.assertRegex(nightly["nextRun"], "T0[01]:30:00Z$")
        again = ctl("submit", "-", input_text=CRON_JOB, check=False)
        self.assertIn("exists already", again.stderr)
        ctl("update", "periodic-job", "-f", "-", input_text=CRON_JOB.replace(
            "30 2", "15 2"))
        self.assertRegex(self.get("nightly")["nextRun"], "T0[01]:15:00Z$")
        self.assertIn("nightly", ctl("get", "periodic-jobs").stdout)
        for wrong, says in (
                (("30 2", "61 2"), 'minute "61" must be'),
                (("Europe/Berlin", "Mars/Olympus"), "time zone database"),
                (("Forbid", "Never"), "Allow, Forbid or Replace"),
                (("nightly", "Nightly"), "small letters")):
            refused = ctl("update", "periodic-job", "-f", "-", check=False,
                          input_text=CRON_JOB.replace(*wrong))
            self.assertEqual(refused.returncode, 6, refused.stderr)
            self.assertIn(says, refused.stderr)
        ctl("delete", "periodic-job", "nightly")
        gone = ctl("get", "periodic-jobs", "nightly", check=False)
        self.assertIn("there is no periodic job nightly", gone.stderr)


if __name__ == "__main__":
    unittest.main()
