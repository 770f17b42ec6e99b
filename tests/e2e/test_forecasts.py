"""Forecasts of starts: told to who asks, and judged when the job starts."""

import json
import re
import unittest
import urllib.request

import harness

CONFIG = """
planner:
  forecastPeriod: 1s
executor:
  runtime: fake
  fake:
    runTime: 3s
    nodes:
      - name: n
        count: 1
        resources: {cpu: 1, memory: 16Gi, ephemeral-storage: 64Gi}
"""


def job_file(count):
    return json.dumps({"queue": "q", "jobSetId": "set", "jobs": [
        {"namespace": "default", "podSpec": {
            "priorityClassName": "armada-default",
            "activeDeadlineSeconds": 60,
            "containers": [{
                "name": "main", "image": "none",
                "resources": {kind: {"cpu": "1", "memory": "16Mi",
                                     "ephemeral-storage": "16Mi"}
                              for kind in ("requests", "limits")}}]}}
    ] * count})


class Forecasts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.berth = harness.Berth(CONFIG).start()
        cls.addClassCleanup(cls.berth.close)
        cls.berth.ctl("create", "queue", "q")
        cls.berth.ctl("submit", "-", input_text=job_file(4))

    def forecast_jobs(self):
        told = json.loads(
            self.berth.ctl("get", "jobs", "-o", "json").stdout)
        return [job for job in told if "forecast" in job]

    def metrics(self):
        return urllib.request.urlopen(
            f"http://{self.berth.http}/metrics").read().decode()

    def test_waiting_jobs_are_told_when_they_start(self):
        jobs = harness.wait_for("a forecast", self.forecast_jobs)
        job = jobs[0]
        forecast = job["forecast"]
        self.assertLessEqual(forecast["made"], forecast["p50"])
        self.assertLessEqual(forecast["p50"], forecast["p90"])
        told = self.berth.ctl("explain", job["jobId"]).stdout
        if "probably" in told:  # unless it has started meanwhile
            self.assertRegex(
                told, r"It will probably start at \S+, and with a chance of "
                      r"90 % by \S+\. This is a forecast, made at \S+; it "
                      r"promises nothing\.\n")
        self.assertIn("FORECAST", self.berth.ctl(
            "get", "jobs", "-o", "wide").stdout.splitlines()[0])
        harness.wait_for(
            "a job with a forecast to start",
            lambda: re.search(r"\nberth_forecast_started_jobs [1-9]",
                              self.metrics()))
        page = self.metrics()
        self.assertRegex(page, r'\nberth_forecast_coverage\{quantile="0.5"\} ')
        self.assertRegex(page, r"\nberth_forecast_error_seconds \d")


if __name__ == "__main__":
    unittest.main()
