"""A big job that has no room is promised a start: small work passes it only
where it does not delay it, and a restart keeps the promise."""

import json
import unittest

import harness

CONFIG = """
executor:
  process:
    resources: {cpu: 2, memory: 1Gi, ephemeral-storage: 4Gi}
"""


def job_file(queue, cpu, deadline_s, command="sleep 60"):
    resources = {"cpu": cpu, "memory": "16Mi", "ephemeral-storage": "16Mi"}
    spec = {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
        "priorityClassName": "armada-default",
        "containers": [{
            "name": "main", "image": "none",
            "command": ["sh", "-c", command],
            "resources": {"requests": resources, "limits": resources}}]}
    if deadline_s:
        spec["activeDeadlineSeconds"] = deadline_s
    return json.dumps({"queue": queue, "jobSetId": "s", "jobs": [
        {"priority": 0, "namespace": "default", "podSpec": spec}]})


class Reservations(unittest.TestCase):
    def setUp(self):
        self.berth = harness.Berth(CONFIG)
        self.berth.start()
        self.addCleanup(self.berth.close)
        for queue in ("runs", "big", "small"):
            self.berth.ctl("create", "queue", queue)

    def jobs(self, queue):
        return json.loads(self.berth.ctl(
            "get", "jobs", "-n", "0", "-q", queue, "-o", "json").stdout)

    def submit(self, *arguments):
        """The id of the job."""
        before = {job["jobId"] for job in self.jobs(arguments[0])}
        self.berth.ctl("submit", "-", input_text=job_file(*arguments))
        fresh = harness.wait_for("the job is known", lambda: [
            job["jobId"] for job in self.jobs(arguments[0])
            if job["jobId"] not in before])
        return fresh[0]

    def explain(self, job):
        return json.loads(self.berth.ctl("explain", job, "-o", "json").stdout)

    def wait_reason(self, job, reason):
        return harness.wait_for(
            f"{job} waits for {reason}",
            lambda: self.explain(job).get("reason") == reason
            and self.explain(job))

    def wait_running(self, queue):
        harness.wait_for(f"{queue} runs", lambda: any(
            job.get("state") == "RUNNING" for job in self.jobs(queue)))

    def test_promise(self):
        self.submit("runs", "1", 40)
        self.wait_running("runs")
        big = self.submit("big", "2", 0)
        promised = self.wait_reason(big, "reserved")["untilMs"]
        # One core is free; who ends in time gets it, who does not waits.
        late = self.submit("small", "1", 500)
        self.wait_reason(late, "passed")
        self.assertIn(big, self.berth.ctl("explain", late).stdout)
        self.assertIn("reserved for the first", self.berth.ctl(
            "get", "scheduling-report").stdout)
        self.submit("small", "1", 5, "sleep 1")
        harness.wait_for("the short one is done", lambda: any(
            job.get("state") == "SUCCEEDED" for job in self.jobs("small")))
        self.berth.stop()
        self.berth.arguments = ["--stop-jobs"]
        self.berth.start()
        self.assertLessEqual(
            self.wait_reason(big, "reserved")["untilMs"], promised)
        self.berth.ctl("cancel", "job-set", "runs", "s")
        self.wait_running("big")
        self.assertEqual(self.explain(late)["state"], "queued")


if __name__ == "__main__":
    unittest.main()
