"""The HTTP port: health and metrics."""

import unittest
import urllib.error
import urllib.request

import harness
from test_berthctl import job_file


class Http(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.berth = harness.Berth(arguments=["--stop-jobs"]).start()
        cls.addClassCleanup(cls.berth.close)

    def get(self, path):
        with urllib.request.urlopen(f"http://{self.berth.http}{path}",
                                    timeout=20) as reply:
            return reply.status, reply.read().decode()

    def metrics(self):
        """Name with labels -> value; refuses a text that breaks the format."""
        values = {}
        for line in self.get("/metrics")[1].splitlines():
            if line.startswith("#"):
                continue
            name, value = line.rsplit(" ", 1)
            self.assertNotIn(name, values, "a series must come once")
            values[name] = float(value)
        return values

    def test_health(self):
        self.assertIn(self.get("/health")[0], (200, 204))

    def test_unknown_page_is_404(self):
        with self.assertRaises(urllib.error.HTTPError) as missing:
            self.get("/nothing")
        self.assertEqual(missing.exception.code, 404)

    def test_metrics_tell_of_jobs_and_shares(self):
        self.berth.ctl("create", "queue", 'odd "name"')
        self.berth.ctl("cordon", "queue", 'odd "name"')
        self.berth.ctl("submit", "-", input_text=job_file(
            'odd "name"', "s", "true"))
        values = self.metrics()
        self.assertEqual(values["armada_scheduler_leader_status"
                                '{name="berthd"}'], 1)
        self.assertEqual(values['berth_jobs{state="queued"}'], 1)
        self.assertEqual(values["berth_jobs_submitted_total"], 1)
        self.assertEqual(values[
            'armada_queue_size{queueName="odd \\"name\\"",'
            'queue="odd \\"name\\"",state="validated"}'], 1)
        self.berth.ctl("uncordon", "queue", 'odd "name"')
        harness.wait_for("the job is counted as succeeded", lambda:
                         self.metrics()["berth_jobs_succeeded_total"] == 1)


if __name__ == "__main__":
    unittest.main()
