"""berthctl what-if: what it says comes true when it is done."""

import json
import subprocess
import tempfile
import unittest

import harness

CONFIG = """
executor:
  runtime: fake
  fake:
    runTime: 1h
    nodes:
      - name: n
        count: 4
        resources: {cpu: 4, memory: 16Gi, ephemeral-storage: 64Gi}
"""


def job_file(queue, count, priority_class, cpu):
    return json.dumps({"queue": queue, "jobSetId": "set", "jobs": [
        {"namespace": "default", "podSpec": {
            "priorityClassName": priority_class,
            "containers": [{
                "name": "main", "image": "none",
                "resources": {kind: {"cpu": cpu, "memory": "16Mi",
                                     "ephemeral-storage": "16Mi"}
                              for kind in ("requests", "limits")}}]}}
    ] * count})


class WhatIf(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.berth = harness.Berth(CONFIG).start()
        cls.addClassCleanup(cls.berth.close)
        for queue in ("a", "b"):
            cls.berth.ctl("create", "queue", queue)
        cls.berth.ctl("submit", "-", input_text=job_file(
            "a", 20, "armada-preemptible", "1"))
        harness.wait_for("all nodes to be full",
                         lambda: len(cls.running()) == 16)

    @classmethod
    def jobs(cls):
        told = json.loads(cls.berth.ctl("get", "jobs", "-o", "json").stdout)
        return {job["jobId"]: job for job in told}

    @classmethod
    def running(cls):
        return {id_: job for id_, job in cls.jobs().items()
                if job.get("state") == "RUNNING"}

    def ask(self, *arguments, **options):
        told = self.berth.ctl("what-if", *arguments, "-o", "json", **options)
        return json.loads(told.stdout)

    def effects(self, told, effect):
        return {job["jobId"]: job for job in told.get("jobs", [])
                if job["effect"] == effect}

    def test_nothing_changes_nothing(self):
        told = self.ask()
        self.assertEqual(told.get("jobs", []), [])
        self.assertEqual([queue["name"] for queue in told["queues"]], ["a"])
        self.assertIn("no difference", self.berth.ctl("what-if").stdout)

    def test_nodes_let_who_waits_start(self):
        waiting = {id_ for id_, job in self.jobs().items()
                   if job.get("state", "QUEUED") == "QUEUED"}
        started = self.effects(self.ask("--add-nodes", "1"), "starts")
        self.assertEqual(set(started), waiting)
        self.assertEqual({job["whatIf"]["node"] for job in started.values()},
                         {"what-if-1"})
        self.assertEqual(set(self.running()) & set(started), set())

    def test_submit_says_when_and_submits_nothing(self):
        before = set(self.jobs())
        done = self.berth.ctl("submit", "-", "--when", input_text=job_file(
            "a", 1, "production", "1"))
        self.assertRegex(
            done.stdout, r"^The server accepts 1 job; nothing was submitted\n"
                         r"jobs\[0\] would start at once, on node "
                         r"\S+-n-\d+\nForecast for jobs .*\n$")
        done = self.berth.ctl("submit", "-", "--when", input_text=job_file(
            "a", 30, "armada-preemptible", "1"))
        self.assertRegex(done.stdout,
                         r"\njobs\[0\] would not start within 1h\n  \S.*\n")
        self.assertRegex(done.stdout, r"Of the first 30 of 30 jobs:\n"
                         r"  0 would start at once, 0 later, 30 not within "
                         r"1h, 0 never\n")
        refused = self.berth.ctl("submit", "-", "--when", check=False,
                                 input_text=job_file("a", 1, "none", "1"))
        self.assertEqual(refused.returncode, 6)
        self.assertEqual(refused.stdout, "")
        self.assertEqual(set(self.jobs()), before)

    def test_a_gang_larger_than_a_request_of_submit_is_asked_about_whole(self):
        file = json.loads(job_file("a", 210, "production", "50m"))
        for job in file["jobs"]:
            job["annotations"] = {"armadaproject.io/gangId": "g",
                                  "armadaproject.io/gangCardinality": "210"}
        done = self.berth.ctl("submit", "-", "--when",
                              input_text=json.dumps(file))
        self.assertRegex(done.stdout, r"\njobs\[0\] would start at once")
        self.assertRegex(done.stdout, r"Of the first 210 of 210 jobs:\n"
                                      r"  210 would start at once, 0 later")

    def test_a_gang_that_no_request_holds_is_refused_by_name(self):
        file = json.loads(job_file("a", 62, "production", "50m"))
        for job in file["jobs"]:
            job["annotations"] = {"armadaproject.io/gangId": "g",
                                  "armadaproject.io/gangCardinality": "62",
                                  "note": "x" * 65000}
        done = self.berth.ctl("submit", "-", "--when", check=False,
                              input_text=json.dumps(file))
        self.assertEqual(done.returncode, 6)
        self.assertRegex(done.stderr,
                         r"the first [56]\d jobs .* belongs to the gang g")

    def test_weights_are_as_people_say_them(self):
        started = {}
        for weights in ("queue.a.weight=3,queue.b.weight=1",
                        "queue.a.weight=1,queue.b.weight=3",
                        "queue.a.weight=6,queue.b.weight=2"):
            told = self.ask("--set", weights, "--submit", "-",
                            input_text=job_file("b", 16, "armada-preemptible",
                                                "1"))
            starts = self.effects(told, "starts")
            started[weights] = len([job for job in starts.values()
                                    if job["queue"] == "b"])
        self.assertEqual(list(started.values()), [4, 12, 4])

    def test_a_job_that_is_submitted_takes_the_place_it_was_said_to(self):
        text = job_file("a", 1, "production", "1")
        told = self.ask("--submit", "-", input_text=text)
        outcomes = self.effects(told, "starts")
        victims = self.effects(told, "preempted")
        self.assertEqual((len(outcomes), len(victims)), (1, 1))
        before = self.running()
        out = self.berth.ctl("submit", "-", input_text=text).stdout
        job_id = out.split("id ")[1].split()[0]
        harness.wait_for("the job to run", lambda: job_id in self.running())
        self.assertEqual(self.running()[job_id]["node"],
                         list(outcomes.values())[0]["whatIf"]["node"])
        self.assertEqual(set(before) - set(self.running()), set(victims))

    def test_a_node_that_is_drained_loses_what_it_was_said_to(self):
        node = sorted(job["node"] for job in self.running().values())[0]
        told = self.ask("--drain", node)
        victims = set(self.effects(told, "preempted"))
        before = self.running()
        self.assertTrue(any(before[id_]["node"] == node for id_ in victims))
        executor = list(self.running().values())[0]["executor"]
        self.berth.ctl("cordon", "node", node)
        done = self.berth.ctl("preempt", "node", node, "--executor", executor,
                              "-q", "a,b", "--all-priority-classes",
                              check=False)
        kept = sum(each.get("keptJobs", 0) for each in told["drained"])
        self.assertEqual(done.returncode, 1 if kept else 0, done.stderr)
        self.assertIn(f"preemption of {len(victims)} job", done.stdout)
        harness.wait_for("them to lose their places",
                         lambda: not victims & set(self.running()))
        self.assertEqual(set(before) - set(self.running()), victims)
        self.berth.ctl("uncordon", "node", node)

    def sim(self, *arguments):
        return subprocess.run(
            [harness.program("berth-sim"), "what-if", "--from",
             str(self.berth.data), *arguments],
            capture_output=True, text=True, timeout=harness.patient(60),
            check=False)

    def test_a_live_server_s_history_is_played_again(self):
        done = self.sim("--seeds", "2", "--add-nodes", "2", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        figures = {figure["name"]: figure for figure in told["figures"]}
        started = figures["started"]
        self.assertGreaterEqual(started["as_it_was"], 16)
        self.assertGreater(started["what_if"]["mean"],
                           started["same_rules"]["mean"])
        done = self.sim("--set", "queue.none.weight=2")
        self.assertEqual((done.returncode, done.stderr),
                         (1, 'berth-sim: there was no queue "none"\n'))
        self.assertEqual(self.sim("--seeds", "0").returncode, 2)
        for change in ("class.armada-default.priority=500.5",
                       "class.armada-default.limit.cpu=2",
                       "queue.a.weight=0"):
            done = self.sim("--set", change)
            self.assertEqual((done.returncode, f'not "{change}"' in done.stderr),
                             (1, True), done.stderr)

    def test_what_is_not_there_is_refused(self):
        for change, text in {
                ("--set", "queue.none.weight=2"): 'no queue "none"',
                ("--set", "class.none.priority=2"): 'class "none"',
                ("--drain", "none"): 'no node "none"',
                ("--add-nodes", "1=none"): 'no node "none"'}.items():
            done = self.berth.ctl("what-if", *change, check=False)
            self.assertEqual((done.returncode, text in done.stderr),
                             (3, True), done.stderr)
        for change in ("queue.a.weight=-1", "queue.a.weight=0"):
            done = self.berth.ctl("what-if", "--set", change, check=False)
            self.assertEqual(done.returncode, 6, done.stderr)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("pools: 3\n")
            file.flush()
            done = self.berth.ctl("what-if", "--scheduling", file.name,
                                  check=False)
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertIn(f"{file.name}:1: pools: ", done.stderr)
        done = self.berth.ctl("what-if", "--set", "a=2", check=False)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
