"""The HTTP port: health and metrics."""

import json
import subprocess
import tempfile
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
                                    timeout=harness.patient(20)) as reply:
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

    def test_a_port_that_is_taken_is_told_by_its_option(self):
        for option, taken in (("--grpc", self.berth.grpc),
                              ("--http", self.berth.http)):
            addresses = {"--grpc": "127.0.0.1:0", "--http": "127.0.0.1:0",
                         option: taken}
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [harness.program("berthd"), "--data", folder + "/data",
                     *(word for pair in addresses.items() for word in pair)],
                    capture_output=True, text=True, check=False,
                    timeout=harness.patient(20))
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"berthd: {option} (server.{option[2:]}): cannot "
                          f"listen on {taken}", done.stderr)

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
        values = self.metrics()
        moves = "armada_scheduler_job_state_counter_by_queue" \
                '{queue="odd \\"name\\"",pool="%s",state="%s",priorState="%s"}'
        for pool, after, before in (("", "queued", ""),
                                    ("default", "leased", "queued"),
                                    ("default", "succeeded", "running")):
            self.assertEqual(values[moves % (pool, after, before)], 1)

    def test_metrics_tell_of_clusters(self):
        labels = '{cluster="local",pool="default",resourceType="cpu"}'
        harness.wait_for(
            "the executor has told of its nodes",
            lambda: "armada_cluster_capacity" + labels in self.metrics())
        values = self.metrics()
        cpu = values["armada_cluster_capacity" + labels]
        self.assertGreater(cpu, 0)
        self.assertEqual(
            values["armada_cluster_available_capacity" + labels], cpu)
        executor, = json.loads(self.berth.ctl("get", "executors", "-o",
                                              "json").stdout)["executors"]
        self.assertEqual(executor["state"], "live")
        # One that is live is heard from each few seconds.
        self.assertLess(int(executor.get("silentMs", 0)), 60000)
        self.assertEqual(executor["capacity"], executor["available"])
        self.berth.ctl("cordon", "executor", "local", "repair")
        self.assertIn("cordoned: repair",
                      self.berth.ctl("get", "executors").stdout)
        values = self.metrics()
        self.assertEqual(values["armada_cluster_capacity" + labels], cpu)
        self.assertNotIn("armada_cluster_available_capacity" + labels, values)
        self.assertEqual(values['armada_cluster_cordoned_status'
                                '{cluster="local",reason="repair"}'], 1)
        self.berth.ctl("uncordon", "executor", "local")


if __name__ == "__main__":
    unittest.main()
