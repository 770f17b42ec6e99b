"""Groups of pods as users see them: submitted as one, started together, ended
together."""

import json
import os
import signal
import subprocess
import unittest

import harness

PROCESS = """
executor:
  process:
    resources: {cpu: 3, memory: 1Gi, ephemeral-storage: 4Gi}
"""
FAKE = """
executor:
  runtime: fake
  fake:
    runTime: 60s
    nodes:
      - name: n
        count: 4
        resources: {cpu: 2, memory: 4Gi, ephemeral-storage: 16Gi}
"""
WAIT_FOR_GO = """
cd "$BERTH_GANG_DIR" || exit 1
: > here.$BERTH_SUB_GROUP.$BERTH_POD_INDEX
until [ -e here.ps.0 ] && [ -e here.worker.0 ] && [ -e here.worker.1 ]
do sleep 0.05; done
"""


def template(command, cpu="1"):
    resources = {"cpu": cpu, "memory": "16Mi", "ephemeral-storage": "16Mi"}
    return {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
        "priorityClassName": "armada-preemptible",
        "containers": [{
            "name": "main", "image": "none", "command": ["sh", "-c", command],
            "resources": {"requests": resources, "limits": resources}}]}


def sub_group(name, least, most, command, **more):
    return {"name": name, "min": least, "max": most,
            "template": template(command), **more}


def group_file(*sub_groups, job_set="s", client_id="", annotations=None,
               **more):
    return json.dumps({"queue": "q", "jobSetId": job_set, "jobs": [{
        "priority": 0, "namespace": "default", "clientId": client_id,
        "annotations": annotations or {},
        "podGroup": {"subGroups": list(sub_groups), **more}}]})


class PodGroups(unittest.TestCase):
    def start(self, config):
        self.berth = harness.Berth(config, arguments=["--stop-jobs"]).start()
        self.addCleanup(self.berth.close)
        self.berth.ctl("create", "queue", "q")

    def tearDown(self):
        """Whatever was decided is decided again from the log."""
        self.berth.stop()
        done = subprocess.run(
            [harness.program("berth-sim"), "replay", str(self.berth.data),
             "--json"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def jobs(self, job_set="s"):
        """In order of their ids, that is of the pods."""
        jobs = json.loads(self.berth.ctl(
            "get", "jobs", "-n", "0", "-q", "q", "-j", job_set, "-o",
            "json").stdout)
        return sorted(jobs, key=lambda job: job["jobId"])

    def states(self, job_set="s"):
        return [job.get("state", "QUEUED") for job in self.jobs(job_set)]

    def wait_states(self, *wanted, job_set="s", seconds=30):
        harness.wait_for(f"{job_set} is {wanted}",
                         lambda: self.states(job_set) == list(wanted), seconds)

    def submit(self, text):
        return self.berth.ctl("submit", "-", input_text=text).stdout

    def submit_training(self, worker, client_id=""):
        """A parameter server that would run for ever, and two workers."""
        return self.submit(group_file(
            sub_group("ps", 1, 1, WAIT_FOR_GO + "sleep 600", auxiliary=True),
            sub_group("worker", 2, 2, WAIT_FOR_GO + worker),
            client_id=client_id))

    def test_pg_09_the_workers_success_ends_the_group(self):
        self.start(PROCESS)
        single = json.dumps({
            "queue": "q", "jobSetId": "other", "jobs": [{
                "namespace": "default", "podSpec": template("sleep 600")}]})
        self.submit(single)
        self.wait_states("RUNNING", job_set="other")
        said = self.submit_training("exit 0", "once")
        self.assertEqual(said.count("Submitted job with id"), 1)
        # The same again is the same group.
        self.assertEqual(self.submit_training("exit 0", "once"), said)
        # Two would fit, but they start together or not at all.
        harness.wait_for("all three are known", lambda: len(self.jobs()) == 3)
        first = self.jobs()[0]["jobId"]
        self.assertIn(first, said)
        harness.wait_for("it waits for room", lambda: json.loads(
            self.berth.ctl("explain", first, "-o", "json").stdout).get(
                "reason") not in (None, "turn"))
        self.assertEqual(self.states(), ["QUEUED"] * 3)
        self.berth.ctl("cancel", "job-set", "q", "other")
        # Each waits to see the other two: it ends only if all three ran.
        self.wait_states("CANCELLED", "SUCCEEDED", "SUCCEEDED")
        self.assertTrue(all(job["runCount"] == 1 for job in self.jobs()))

    def test_pg_09_a_failed_worker_ends_the_group(self):
        self.start(PROCESS)
        self.submit_training('[ "$BERTH_POD_INDEX" = 1 ] && exit 3; sleep 600')
        self.wait_states("CANCELLED", "CANCELLED", "FAILED")
        text = self.berth.ctl(
            "get", "jobs", self.jobs()[0]["jobId"], "-o", "json").stdout
        self.assertIn(f"{self.jobs()[2]['jobId']} of the group failed", text)

    def test_a_restart_knows_how_far_the_group_was(self):
        self.start(PROCESS)
        self.berth.arguments = []
        self.submit_training(
            '[ "$BERTH_POD_INDEX" = 0 ] || until [ -e go ]; '
            'do sleep 0.05; done; echo "$PWD"')
        self.wait_states("RUNNING", "SUCCEEDED", "RUNNING")
        folder = self.berth.ctl(
            "logs", self.jobs()[1]["jobId"]).stdout.strip()
        self.berth.kill()
        self.berth.arguments = ["--stop-jobs"]
        self.berth.start()
        with open(f"{folder}/go", "w", encoding="ascii"):
            pass
        self.wait_states("CANCELLED", "SUCCEEDED", "SUCCEEDED")

    def test_pg_08_a_pod_that_is_killed_is_replaced(self):
        self.start(PROCESS)
        self.submit(group_file(
            sub_group("worker", 2, 2, "echo $BERTH_RUN_ID; sleep 600")))
        self.wait_states("RUNNING", "RUNNING")
        victim = self.jobs()[1]
        run_id = harness.wait_for(
            "it says which run it is", lambda: self.berth.ctl(
                "logs", victim["jobId"]).stdout.strip())
        os.kill(harness.shims_of(run_id)[0], signal.SIGKILL)
        harness.wait_for("it was replaced", lambda: [
            job["runCount"] for job in self.jobs()] == [1, 2])
        self.wait_states("RUNNING", "RUNNING")

    def test_pg_08_a_group_below_its_minimum_for_too_long_goes(self):
        self.start(PROCESS)
        self.submit(group_file(
            sub_group("worker", 2, 2, "echo $BERTH_RUN_ID; sleep 600"),
            nodeReservation="Shared", replaceTimeoutSeconds=2))
        self.wait_states("RUNNING", "RUNNING")
        victim = self.jobs()[1]
        run_id = harness.wait_for(
            "it says which run it is", lambda: self.berth.ctl(
                "logs", victim["jobId"]).stdout.strip())
        # The pod that dies cannot be replaced.
        self.berth.ctl("cordon", "queue", "q")
        os.kill(harness.shims_of(run_id)[0], signal.SIGKILL)
        # After the time the rest goes as well, and all of it waits.
        self.wait_states("QUEUED", "QUEUED")
        rows = json.loads(self.berth.ctl(
            "get", "podgroups", "-o", "json").stdout)["podGroups"]
        self.assertEqual(rows[0]["subGroups"][0]["waiting"], 2)
        self.berth.ctl("uncordon", "queue", "q")
        self.wait_states("RUNNING", "RUNNING")

    def test_groups_are_listed_by_sub_group_with_their_jobs(self):
        self.start(FAKE)
        self.submit(group_file(
            sub_group("ps", 1, 1, "true", auxiliary=True),
            sub_group("worker", 2, 12, "true"), nodeReservation="Shared"))
        gang = json.loads(group_file(job_set="plain"))
        gang["jobs"] = [{
            "namespace": "default", "podSpec": template("true"),
            "annotations": {"armadaproject.io/gangId": "plain",
                            "armadaproject.io/gangCardinality": "8"}}] * 8
        harness.wait_for("it has grown", lambda: self.states().count(
            "RUNNING") == 8)
        self.submit(json.dumps(gang))

        def groups(*words):
            return json.loads(self.berth.ctl("get", "podgroups", *words, "-o",
                                             "json").stdout)["podGroups"]
        harness.wait_for("both are known", lambda: len(groups()) == 2)
        group, plain = groups()
        self.assertEqual(plain.pop("oldestJobId"),
                         self.jobs("plain")[0]["jobId"])
        self.assertEqual(plain, {
            "id": "plain", "queue": "q", "jobSet": "plain", "kind": "gang",
            "subGroups": [{"min": 8, "max": 8, "waiting": 8}]})
        self.assertEqual(group["kind"], "podgroup")
        self.assertEqual(group["subGroups"], [
            {"name": "ps", "auxiliary": True, "min": 1, "max": 1,
             "running": 1},
            {"name": "worker", "min": 2, "max": 12, "waiting": 5,
             "running": 7}])
        self.assertEqual(groups(group["id"]), [group])
        lines = self.berth.ctl("get", "podgroups").stdout.splitlines()
        self.assertEqual(len(lines), 4)
        self.assertRegex(lines[1], r" ps \(auxiliary\) +1 +1 +0 +1 ")
        members = json.loads(self.berth.ctl(
            "get", "jobs", "--gang", group["id"], "-o", "json").stdout)
        self.assertEqual([job["jobId"] for job in members],
                         [job["jobId"] for job in self.jobs()])
        for words in (("podgroups", "none"), ("podgroups", "-q", "none"),
                      ("jobs", "--gang", "none")):
            done = self.berth.ctl("get", *words, check=False)
            self.assertEqual(done.returncode, 3, done.stderr)
        self.berth.ctl("cancel", "job-set", "q", "plain")
        harness.wait_for("it is forgotten", lambda: groups() == [group])

    def test_members_of_a_gang_that_is_another_are_rejected(self):
        self.start(FAKE)
        gang = json.loads(group_file(job_set="plain"))
        gang["jobs"] = [{
            "namespace": "default", "podSpec": template("true"),
            "annotations": {"armadaproject.io/gangId": "g",
                            "armadaproject.io/gangCardinality": "2"}}] * 2
        self.submit(json.dumps(gang))
        self.wait_states("RUNNING", "RUNNING", job_set="plain")
        self.submit(json.dumps({**gang, "jobSetId": "again"}))
        self.wait_states("REJECTED", "REJECTED", job_set="again")
        late, first = self.jobs("again")[1], self.jobs("plain")[0]
        said = self.berth.ctl("explain", late["jobId"]).stdout
        self.assertIn("cannot be of gang g of queue q, which has started: its "
                      f"job {first['jobId']} has not ended.", said)
        self.assertEqual(self.states("plain"), ["RUNNING", "RUNNING"])

    def test_pg_02_groups_grow_and_have_their_nodes_whole(self):
        self.start(FAKE)
        self.submit(group_file(
            sub_group("coordinator", 1, 1, "none"),
            sub_group("worker", 4, 6, "none")))
        self.wait_states(*["RUNNING"] * 7)
        # Seven pods, two to a node: one slot is free, but not for others.
        self.submit(group_file(sub_group("lone", 1, 1, "none"),
                               job_set="late", nodeReservation="Shared"))
        late = harness.wait_for("it is known", lambda: self.jobs("late"))
        reason = harness.wait_for("it waits", lambda: json.loads(
            self.berth.ctl("explain", late[0]["jobId"], "-o",
                           "json").stdout).get("reason"))
        self.assertNotEqual(reason, "turn")
        self.assertEqual(self.states("late"), ["QUEUED"])
        # Whoever cancels one pod cancels the group.
        self.berth.ctl("cancel", "job", "q", "s", self.jobs()[0]["jobId"])
        self.wait_states(*["CANCELLED"] * 7)
        self.wait_states("RUNNING", job_set="late")

    def test_pg_04_a_group_gives_surplus_and_pg_07_has_it_again(self):
        # With the window that is the default, and work that stays: what the
        # group got when it started is no scaling, and keeps it from nothing.
        self.start(FAKE.replace("count: 4", "count: 7").replace("cpu: 2",
                                                                "cpu: 1"))
        self.berth.ctl("create", "queue", "r")
        pod = template("none")
        pod["priorityClassName"] = "armada-default"
        self.submit(group_file(
            {"name": "coord", "min": 1, "template": pod},
            {"name": "worker", "min": 4, "max": 8, "template": pod},
            nodeReservation="Shared"))
        whole = ["RUNNING"] * 7 + ["QUEUED"] * 2
        self.wait_states(*whole)
        gang = json.loads(group_file())
        gang.update(queue="r", jobSetId="gang", jobs=[{
            "namespace": "default", "podSpec": pod, "annotations": {
                "armadaproject.io/gangId": "gang",
                "armadaproject.io/gangCardinality": "2"}}] * 2)
        self.submit(json.dumps(gang))
        self.wait_states(*["RUNNING"] * 5 + ["QUEUED"] * 4)
        self.berth.ctl("cancel", "job-set", "r", "gang")
        self.wait_states(*whole)

    def test_bad_groups_are_refused(self):
        self.start(FAKE)
        for text, said in (
                (group_file(sub_group("a", 3, 2, "none")),
                 "podGroup.subGroups[0].min: 3 is more than max, which is 2"),
                (group_file(sub_group("A", 1, 2, "none")),
                 'podGroup.subGroups[0].name: "A" is not'),
                (group_file(sub_group("a", 1, 1, "none"),
                            nodeReservation="Some"),
                 'podGroup.nodeReservation: "Some" is neither'),
                (group_file(), "podGroup.subGroups: 0 of them")):
            done = self.berth.ctl("submit", "-", input_text=text, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)
        self.assertEqual(self.jobs(), [])

    def test_refusals_name_what_was_written(self):
        self.start(FAKE)
        for more, said in (
                ({"podGroup": None}, "jobs[0].podGroup: must be a map"),
                ({"podSpec": template("none"), "annotations": {
                    "armadaproject.io/maxHops": "2"}},
                 "annotation armadaproject.io/maxHops is for gangs"),
                ({"podSpec": template("none"), "annotations": {
                    "armadaproject.io/lifetimeSeconds": "long"}},
                 "annotation armadaproject.io/lifetimeSeconds must be"),
                ({"podSpec": template("none"), "annotations": {
                    "berth.dev/onPreemption": "no"}},
                 "annotation berth.dev/onPreemption must be")):
            text = json.dumps({"queue": "q", "jobSetId": "s", "jobs": [
                {"namespace": "default", **more}]})
            done = self.berth.ctl("submit", "-", input_text=text, check=False)
            self.assertEqual(done.returncode, 6)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
