"""Two executors at once: the one inside berthd, and a berth-executor."""

import collections
import json
import unittest

import harness
from test_berthctl import job_file

SERVER = """
executor:
  process:
    resources: {cpu: 2, memory: 1Gi, ephemeral-storage: 4Gi}
"""
FAKE = """
executor:
  fake:
    runTime: 50ms
    nodes:
      - name: n
        count: 4
        resources: {cpu: 2, memory: 4Gi, ephemeral-storage: 16Gi}
        labels: [tier=fake]
"""


class TwoExecutors(unittest.TestCase):
    def setUp(self):
        self.berth = harness.Berth(SERVER, arguments=["--stop-jobs"]).start()
        self.addCleanup(self.berth.close)
        self.executor = harness.Executor(
            self.berth.grpc, "second", self.berth.folder / "second",
            FAKE).start()
        self.addCleanup(self.executor.stop)
        self.berth.ctl("create", "queue", "q")

    def jobs(self):
        return json.loads(self.berth.ctl("get", "jobs", "-n", "0", "-o",
                                         "json").stdout)

    def nodes(self):
        report = self.berth.ctl("get", "scheduling-report", "-v").stdout
        return report

    def wait_all(self, count, state):
        return harness.wait_for(
            f"{count} jobs are {state}",
            lambda: len([job for job in self.jobs()
                         if job.get("state", "QUEUED") == state]) == count
            and self.jobs(), 60)

    def test_a_fake_executor_leaves_no_folder(self):
        self.assertEqual(sorted(path.name for path in
                                self.executor.folder.iterdir()),
                         ["executor.log", "executor.yaml"])

    def test_a_second_one_on_a_directory_says_so_and_stops_when_told(self):
        third = harness.Executor(self.berth.grpc, "third",
                                 self.berth.folder / "third", runtime="process")
        third.argv[third.argv.index("--data") + 1] = str(self.berth.data)
        third.program = harness.Program(third.argv,
                                        third.folder / "executor.log")
        harness.wait_for("it says what it waits for", lambda:
                         "executor.waits" in third.program.log(), 5)
        self.assertIn("another executor uses the directory",
                      third.program.log())
        self.assertIsNone(third.program.process.poll())
        self.assertEqual(third.stop(), 0)
        self.assertIn("stopped by a signal", third.program.log())

    def test_both_get_work(self):
        commands = ["sleep 0.3"] * 120
        self.berth.ctl("submit", "-", input_text=job_file("q", "s", *commands))
        jobs = self.wait_all(120, "SUCCEEDED")
        where = collections.Counter(job["executor"] for job in jobs)
        self.assertEqual(set(where), {"local", "second"})
        self.assertTrue(all(job["runCount"] == 1 for job in jobs))

    def test_logs_of_the_other_executor_are_read_through_the_server(self):
        third = harness.Executor(
            self.berth.grpc, "third", self.berth.folder / "third",
            SERVER, runtime="process").start()
        self.addCleanup(third.stop)
        for name in ("local", "second"):
            self.berth.ctl("cordon", "executor", name, "elsewhere")
        # More than one answer holds: berthctl asks again for the rest.
        count = 120000
        self.berth.ctl("submit", "-", input_text=job_file(
            "q", "s", f"seq 1 {count}; echo oops >&2"))
        job, = self.wait_all(1, "SUCCEEDED")
        self.assertEqual(job["executor"], "third")

        def logs(*options):
            done = self.berth.ctl("logs", job["jobId"], *options, check=False)
            return done.stdout.splitlines(), done.returncode, done.stderr
        lines = harness.wait_for("its logs", lambda: logs()[0])
        self.assertEqual(len(lines), count + 1)
        self.assertEqual(set(lines), {str(i + 1) for i in range(count)} |
                         {"oops"})
        self.assertEqual(len(logs("-n", "3")[0]), 3)
        self.assertIn("no container", logs("--container", "none")[2])
        third.stop()
        self.assertIn("does not serve logs", harness.wait_for(
            "that the executor is gone is told",
            lambda: logs()[1] != 0 and logs()[2]))
        third.start()
        harness.wait_for("logs again", lambda: len(logs()[0]) == count + 1)

    def test_a_second_executor_of_an_id_is_refused_until_the_first_is_gone(
            self):
        other = FAKE.replace("name: n", "name: other")
        duplicate = harness.Executor(self.berth.grpc, "second",
                                     self.berth.folder / "duplicate",
                                     other).start()
        self.addCleanup(duplicate.stop)

        def names():
            return {node["name"] for node in json.loads(self.berth.ctl(
                "get", "nodes", "-e", "second", "-o", "json").stdout)}
        harness.wait_for("it is told", lambda: "give each executor its own id" in
                         duplicate.program.log())
        self.assertRegex(self.berth.program.log(),
                         r"executor\.duplicate_id id=second .*"
                         r"old_name=executor\.twin")
        self.assertEqual(names(), {f"second-n-{i}" for i in range(4)})
        self.executor.stop()
        harness.wait_for("the other has taken its place", lambda: names() == {
            f"second-other-{i}" for i in range(4)})

    def test_cordoned_executor_gets_nothing_new(self):
        self.assertEqual(
            self.berth.ctl("cordon", "executor", "local", "repair").stdout,
            "Cordoned executor local\n")
        self.berth.ctl("submit", "-",
                       input_text=job_file("q", "s", *["true"] * 40))
        jobs = self.wait_all(40, "SUCCEEDED")
        self.assertEqual({job["executor"] for job in jobs}, {"second"})

    def test_cordoned_nodes_get_nothing_new_until_uncordoned(self):
        def where(job_set, count):
            self.berth.ctl("submit", "-", input_text=job_file(
                "q", job_set, *["true"] * count))
            jobs = harness.wait_for(job_set, lambda: [
                job for job in self.jobs() if job["jobSet"] == job_set
                and job.get("state") == "SUCCEEDED"][count - 1:] and [
                job for job in self.jobs() if job["jobSet"] == job_set], 60)
            return {job["node"] for job in jobs}

        self.berth.ctl("cordon", "executor", "local", "not in this test")
        for index in (0, 1, 2):
            name = f"second-n-{index}"
            self.assertEqual(self.berth.ctl("cordon", "node", name).stdout,
                             f"Cordoned node {name}\n")
        self.assertEqual(where("cordoned", 20), {"second-n-3"})
        self.berth.ctl("cordon", "node", "second-n-3")
        self.assertEqual(self.berth.ctl("uncordon", "node", "second-n-1")
                         .stdout, "Uncordoned node second-n-1\n")
        self.assertEqual(where("uncordoned", 20), {"second-n-1"})

    def test_second_goes_away_and_comes_back(self):
        self.executor.kill()
        self.berth.ctl("submit", "-",
                       input_text=job_file("q", "s", *["sleep 0.1"] * 30))
        self.executor.start()
        self.berth.ctl("submit", "-",
                       input_text=job_file("q", "t", *["sleep 0.1"] * 30))
        # The fake runtime remembers nothing: what it held is lost, and says
        # so; the rest succeeds.
        harness.wait_for("all have ended", lambda: all(
            job.get("state", "QUEUED") in ("SUCCEEDED", "FAILED")
            for job in self.jobs()), 60)

    def test_a_killed_executor_starts_no_run_again(self):
        self.berth.ctl("cordon", "executor", "local", "elsewhere")
        file = json.loads(job_file("q", "s", "true"))
        file["jobs"][0]["annotations"] = {"berth.dev/fakeRunMs": "3600000"}
        self.berth.ctl("submit", "-", input_text=json.dumps(file))
        self.wait_all(1, "RUNNING")
        self.executor.kill()
        # Its pods were in its memory alone.
        self.executor.start()
        lost, = self.wait_all(1, "FAILED")
        self.assertEqual(lost["runCount"], 1)
        self.assertIn("The pod of this run is gone", self.berth.ctl(
            "explain", lost["jobId"]).stdout)


class Silence(unittest.TestCase):
    def test_who_falls_silent_and_comes_back_is_in_the_log(self):
        with harness.Berth("scheduling: {executorTimeout: 1s, "
                           "executorLostTimeout: 3s}\n",
                           standalone=False) as berth:
            executor = harness.Executor(berth.grpc, "apart",
                                        berth.folder / "apart", FAKE).start()
            self.addCleanup(executor.stop)
            harness.wait_for("it is known", lambda: json.loads(
                berth.ctl("get", "executors", "-o", "json").stdout))
            executor.kill()
            for event in ("level=warn event=executor.stale id=apart ",
                          "level=error event=executor.lost id=apart "):
                harness.wait_for(event, lambda event=event:
                                 event in berth.program.log())
            executor.start()
            harness.wait_for("it is back", lambda: "level=info "
                             "event=executor.back id=apart"
                             in berth.program.log())


if __name__ == "__main__":
    unittest.main()
