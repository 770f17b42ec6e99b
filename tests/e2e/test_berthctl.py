"""Transcripts of berthctl against the real server."""

import json
import os
import pathlib
import re
import stat
import subprocess
import tempfile
import unittest
import urllib.request

import harness

CONFIG = """
auth:
  basicAuthUsers:
    - {name: anna, password: secret, groups: [staff]}
    - {name: bob, password: secret}
  permissionGroupMapping:
    delete_queue: [staff]
executor:
  process:
    resources: {cpu: 4, memory: 2Gi, ephemeral-storage: 8Gi}
"""
CONTEXTS = """
currentContext: anna
contexts:
  anna: {basicAuth: {username: anna, password: secret}, forceNoTls: true}
  bad: {basicAuth: {username: anna, password: wrong}, forceNoTls: true}
  bob: {basicAuth: {username: bob, password: secret}, forceNoTls: true}
"""


def job_file(queue, job_set, *commands, extra=""):
    """A job file in armadactl's format."""
    jobs = [{
        "priority": 0, "namespace": "default",
        "podSpec": {
            "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
            "priorityClassName": "armada-preemptible",
            "containers": [{
                "name": "main", "image": "none",
                "command": ["sh", "-c", command],
                "resources": {
                    kind: {"cpu": "100m", "memory": "16Mi",
                           "ephemeral-storage": "16Mi"}
                    for kind in ("requests", "limits")}}]}}
            for command in commands]
    return json.dumps({"queue": queue, "jobSetId": job_set, "jobs": jobs})


class Berthctl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.berth = harness.Berth(CONFIG, arguments=["--stop-jobs"]).start()
        cls.addClassCleanup(cls.berth.close)

    def setUp(self):
        self.queue = "q-" + self.id().rsplit(".", 1)[1].replace("_", "-")
        self.ctl("create", "queue", self.queue)

    def ctl(self, *arguments, **options):
        return self.berth.ctl(*arguments, **options).stdout

    def fails(self, code, *arguments, **options):
        """What is said on standard error by a command that must fail."""
        done = self.berth.ctl(*arguments, check=False, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def submit(self, *commands, job_set="s"):
        out = self.ctl("submit", "-",
                       input_text=job_file(self.queue, job_set, *commands))
        lines = out.splitlines()
        self.assertEqual(len(lines), len(commands))
        for line in lines:
            self.assertRegex(line, r"^Submitted job with id [0-9a-z]{26} to "
                                   rf"job set {job_set}$")
        return [line.split()[4] for line in lines]

    def job(self, job_id):
        return json.loads(self.ctl("get", "jobs", job_id, "-o", "json"))[0]

    def wait_state(self, job_id, state):
        harness.wait_for(f"{job_id} is {state}", lambda: self.job(job_id)
                         .get("state", "QUEUED") == state)

    def test_queue_is_made_shown_changed_and_deleted(self):
        name = self.queue + "-own"
        self.assertEqual(
            self.ctl("create", "queue", name, "--priority-factor", "2",
                     "--owners", "anna", "-l", "team=x"),
            f"Created queue {name}\n")
        self.assertEqual(self.ctl("get", "queue", name), f"""\
apiVersion: armadaproject.io/v1beta1
kind: Queue
name: {name}
priorityFactor: 2
permissions:
- subjects:
  - kind: User
    name: anna
  verbs:
  - submit
  - cancel
  - preempt
  - reprioritize
  - watch
labels:
  team: x
""")
        self.assertEqual(self.ctl("update", "queue", name, "--cordon"),
                         f"Updated queue {name}\n")
        listed = json.loads(self.ctl("get", "queues", "--only-cordoned", "-o",
                                     "json"))
        self.assertEqual([queue["name"] for queue in listed], [name])
        self.assertEqual((listed[0]["priorityFactor"], listed[0]["labels"]),
                         (2, {"team": "x"}))
        self.fails(3, "update", "queue", name + "-not", "--cordon")
        self.fails(3, "get", "queue", name + "-not")
        self.assertEqual(self.ctl("uncordon", "queue", name),
                         f"Uncordoned queue {name}\n")
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "ctl.yaml"
            config.write_text(CONTEXTS)
            config.chmod(0o644)
            self.assertIn("others can read or write", self.fails(
                4, "get", "queues", "--config", str(config), "-c", "bad"))
            config.chmod(0o600)
            refused = self.fails(
                4, "get", "queues", "--config", str(config), "-c", "bad")
            self.assertIn("UNAUTHENTICATED", refused)
            self.assertIn(f"under basicAuth in {config}:", refused)
            self.assertNotIn("others can read", refused)
            self.assertIn("PERMISSION_DENIED", self.fails(
                4, "delete", "queue", name, "--config", str(config), "-c",
                "bob"))
            self.assertEqual(
                self.ctl("delete", "queue", name, "--config", str(config)),
                f"Deleted queue {name} (or it did not exist)\n")
            self.assertEqual(
                self.ctl("config", "get-contexts", "--config", str(config)),
                "anna (current)\nbad\nbob\n")
            self.assertEqual(
                self.ctl("config", "use-context", "bad", "--config",
                         str(config)), "Current context set to bad\n")
            self.assertEqual(stat.S_IMODE(config.stat().st_mode), 0o600)
            self.assertEqual(
                self.ctl("config", "current-context", "--config",
                         str(config)), "bad\n")
        self.assertIn("NOT_FOUND", self.fails(3, "get", "queue", name))

    def test_job_runs_and_is_watched_to_its_end(self):
        job_id, = self.submit("echo hello; echo oops >&2")
        out = self.ctl("watch", self.queue, "s", "--exit-if-inactive")
        lines = out.splitlines()
        for event in ("JobSubmittedEvent", "JobQueuedEvent", "JobLeasedEvent",
                      "JobPendingEvent", "JobRunningEvent",
                      "JobSucceededEvent"):
            self.assertRegex(out, rf"\| {event}, job id: {job_id}")
        self.assertRegex(
            lines[-1], r"^[A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d:\d\d \| Queued: 0, "
            r"Leased: 0, Pending: 0, Running: 0, Succeeded: 1, Failed: 0, "
            r"Cancelled: 0 \| JobSucceededEvent, job id: ")
        self.wait_state(job_id, "SUCCEEDED")
        self.assertEqual(sorted(self.ctl("logs", job_id).splitlines()),
                         ["hello", "oops"])
        self.assertIn(": succeeded.", self.ctl("explain", job_id))

    def test_logs_are_followed_to_the_end(self):
        go = self.berth.meeting / "go"
        self.addCleanup(lambda: go.unlink(missing_ok=True))
        job_id, = self.submit(
            f"echo first; until [ -e {go} ]; do sleep 0.05; done; echo last")
        follower = subprocess.Popen(
            [harness.program("berthctl"), "--berthUrl", self.berth.grpc,
             "logs", "--follow", job_id], stdout=subprocess.PIPE, text=True)
        self.addCleanup(follower.stdout.close)
        self.addCleanup(follower.kill)
        self.assertEqual(follower.stdout.readline(), "first\n")
        self.assertIsNone(follower.poll())
        go.touch()
        out, _ = follower.communicate(timeout=harness.patient(30))
        self.assertEqual((follower.returncode, out), (0, "last\n"))
        self.fails(3, "logs", "-f", "01h00000000000000000000000")

    def test_apply_makes_it_so(self):
        name = self.queue + "-made"
        file = {"apiVersion": "armadaproject.io/v1beta1", "kind": "Queue",
                "name": name, "labels": {"team": "a", "also": "b"},
                "groupOwners": ["ops"], "userOwners": ["anna"],
                "scheduling": {"quota": {"cpu": "4"}, "ordering": "fifo"}}
        pool = {"apiVersion": "resource.aibee.cn/v1alpha1", "kind": "Pool",
                "metadata": {"name": name},
                "spec": {"disableBorrowing": True}}

        def apply(*documents, code=0, options=()):
            done = self.berth.ctl(
                "apply", "-f", "-", *options, check=False,
                input_text="\n---\n".join(map(json.dumps, documents)))
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stdout.splitlines() or done.stderr

        self.assertEqual(apply(file, pool, options=["--dry-run"]), [
            f"Created queue {name} (not done: --dry-run)",
            f"Created pool {name} (not done: --dry-run)"])
        self.fails(3, "get", "queue", name)
        self.assertEqual(apply(file, pool), [f"Created queue {name}",
                                             f"Created pool {name}"])
        self.addCleanup(self.ctl, "delete", "pool", name)
        self.assertEqual(apply(pool, file), [f"Unchanged pool {name}",
                                             f"Unchanged queue {name}"])
        # What others do stays, unless the file says otherwise.
        self.ctl("cordon", "queue", name)
        self.ctl("update", "queue", name, "--priority-factor", "4")
        file["scheduling"] = {"quota": {"cpu": "5"}}
        file["groupOwners"] = ["others"]
        pool["spec"] = {"disableSharing": True}
        self.assertEqual(apply(file, pool, options=["--dry-run"]), [
            f"Updated queue {name} (not done: --dry-run)",
            f"Edited pool {name} (not done: --dry-run)"])
        self.assertEqual(apply(file, pool), [f"Updated queue {name}",
                                             f"Edited pool {name}"])
        queue = json.loads(self.ctl("get", "queue", name, "-o", "json"))
        self.assertTrue(queue["cordoned"])
        self.assertEqual(queue["priorityFactor"], 4)
        self.assertEqual(queue["scheduling"],
                         {"quota": {"cpu": "5"}, "ordering": "fifo"})
        self.assertEqual(
            sorted(subject["name"] for entry in queue["permissions"]
                   for subject in entry["subjects"]), ["anna", "others"])
        # What get shows can be applied, and changes nothing.
        self.assertEqual(self.berth.ctl(
            "apply", "-f", "-", input_text=self.ctl("get", "queue", name))
            .stdout, f"Unchanged queue {name}\n")
        self.assertEqual(apply({**file, "cordoned": False,
                                "priority_factor": None}),
                         [f"Updated queue {name}"])
        queue = json.loads(self.ctl("get", "queue", name, "-o", "json"))
        self.assertNotIn("cordoned", queue)
        # Permissions that are named are all there are, from the first.
        only = {"apiVersion": "armadaproject.io/v1beta1", "kind": "Queue",
                "name": name + "-2", "permissions": [
                    {"subjects": [{"kind": "Group", "name": "everyone"}],
                     "verbs": ["submit", "cancel"]}]}
        self.assertEqual(apply(only), [f"Created queue {name}-2"])
        self.assertEqual(apply(only), [f"Unchanged queue {name}-2"])
        queue = json.loads(self.ctl("get", "queue", name + "-2", "-o", "json"))
        self.assertEqual(queue["permissions"], only["permissions"])
        # A key that is none is an error, as is a thing of no such kind.
        self.assertRegex(apply({**file, "priortyFactor": 2}, code=6),
                         "priortyFactor")
        self.assertRegex(apply({**file, "kind": "Job"}, code=6),
                         "submit takes jobs")
        self.assertRegex(apply({**file, "name": ""}, code=6), "name must be")
        policy = {"apiVersion": "armadaproject.io/v1beta1",
                  "kind": "RetryPolicy", "name": name, "retryLimit": 2,
                  "defaultAction": "RETRY_ACTION_FAIL"}
        self.assertEqual(apply(policy), [f"Created retry policy {name}"])
        policy["retryLimit"] = 3
        self.assertEqual(apply(policy), [f"Updated retry policy {name}"])
        self.assertEqual(apply(policy), [f"Unchanged retry policy {name}"])

    def test_logs_of_no_job_say_so(self):
        job_id = "01h00000000000000000000000"
        self.assertEqual(self.fails(3, "logs", job_id), self.fails(
            3, "logs", "--tail", "1", job_id))
        self.assertRegex(self.fails(3, "logs", job_id),
                         f"there is no job {job_id}; get jobs lists")
        self.assertRegex(self.fails(3, "logs", "abc"), "abc")

    def test_failed_job_shows_why(self):
        job_id, = self.submit("echo the reason >&2; exit 3")
        out = self.ctl("watch", self.queue, "s", "--exit-if-inactive")
        self.assertIn("\nJob failed: ", out)
        self.wait_state(job_id, "FAILED")
        job = self.job(job_id)
        self.assertEqual(job["exitCode"], 3)
        self.assertIn("the reason", job["reason"])

    def test_cancel_preempt_and_reprioritize(self):
        first, second = self.submit("sleep 100", "sleep 100")
        self.wait_state(first, "RUNNING")
        self.wait_state(second, "RUNNING")
        # A mistyped id is taken unseen, but told, and is no job to wait for.
        mistyped = "01h00000000000000000000000"
        self.assertIn(f"there is no job {mistyped}",
                      self.fails(3, "cancel", "job", self.queue, "s",
                                 mistyped))
        self.assertEqual(
            self.ctl("reprioritize", "job", self.queue, "s", first, "3"),
            f"Reprioritized jobs with ID:\n{first}\n")
        self.assertEqual(
            self.ctl("cancel", "job", self.queue, "s", first),
            f"Requesting cancellation of jobs matching queue: {self.queue}, "
            f"job set: s, and job ID: {first}\n"
            f"Requested cancellation for jobs {first}\n")
        self.wait_state(first, "CANCELLED")
        self.assertEqual(
            self.ctl("preempt", "job", self.queue, "s", second, "why"),
            f"Requested preemption for job {second}\n")
        self.wait_state(second, "PREEMPTED")
        third, = self.submit("sleep 100")
        self.wait_state(third, "RUNNING")
        self.assertEqual(self.ctl("cancel", "job-set", self.queue, "s"),
                         "Requested cancellation for job set s\n")
        self.wait_state(third, "CANCELLED")
        self.assertIn(
            f"JobCancellingEvent, job id: {mistyped}",
            self.ctl("watch", self.queue, "s", "--exit-if-inactive"))

    def test_what_nothing_can_be_done_about_is_told(self):
        text = json.loads(job_file(self.queue, "s", "sleep 100"))
        text["jobs"][0]["podSpec"]["priorityClassName"] = "armada-default"
        answer = json.loads(self.ctl("submit", "-", "-o", "json",
                                     input_text=json.dumps(text)))
        kept = answer["jobResponseItems"][0]["jobId"]
        self.wait_state(kept, "RUNNING")
        self.assertIn("may not be preempted", self.fails(
            1, "preempt", "job", self.queue, "s", kept, "why"))
        self.assertIn(f"belongs to queue {self.queue}", self.fails(
            3, "cancel", "job", self.queue, "other", kept))
        # A job that was submitted just now is there, whatever queries say.
        ids = self.submit(*["sleep 100"] * 3)
        self.ctl("cancel", "job", self.queue, "s", ids[2])
        self.ctl("cancel", "job-set", self.queue, "s")
        self.wait_state(kept, "CANCELLED")
        again = self.berth.ctl("cancel", "job", self.queue, "s", kept)
        self.assertIn("has already ended (cancelled)", again.stderr)
        for words in (("cancel", "job-set", self.queue, "none"),
                      ("get", "jobs", kept, "nonsense"),
                      ("get", "jobs", "-q", "no-such-queue"),
                      ("get", "nodes", "--pool", "none"),
                      ("get", "shares", "--pool", "none"),
                      ("get", "trainingjobs", "-q", "none"),
                      ("get", "queue-report", "none"),
                      ("cordon", "node", "none"),
                      ("quarantine", "node", "none", "why"),
                      ("cancel", "executor", "none", "-a"),
                      ("preempt", "node", "none", "-e", "local", "-a"),
                      ("delete", "executor", "none"),
                      ("delete", "retry-policy", "none")):
            with self.subTest(words=words):
                self.fails(3, *words)

    def test_operators_cancel_by_executor_and_queue(self):
        first, = self.submit("sleep 100")
        self.wait_state(first, "RUNNING")
        self.assertEqual(
            self.ctl("cancel", "executor", "local", "-a", "-q", self.queue),
            "Requested cancellation of jobs on executor local\n")
        self.wait_state(first, "CANCELLED")
        second, = self.submit("sleep 100")
        self.wait_state(second, "RUNNING")
        self.assertEqual(
            self.ctl("cancel", "queue", self.queue, "-s",
                     "queued,leased,pending,running", "-a"),
            f"Requested cancellation of jobs of queue {self.queue}\n")
        self.wait_state(second, "CANCELLED")

    def test_nodes_are_listed_quarantined_and_released(self):
        node, = json.loads(self.ctl("get", "nodes", "-o", "json"))
        self.assertEqual((node["state"], node["executor"], node["pool"]),
                         ("ready", "local", "default"))
        self.assertEqual(node["capacity"]["cpu"], "4")
        self.assertEqual(
            self.ctl("quarantine", "node", node["name"], "smells of smoke"),
            f"Quarantined node {node['name']}\n")
        lines = self.ctl("get", "nodes").splitlines()
        self.assertRegex(lines[0], r"^NODE +EXECUTOR +POOL +STATE +JOBS")
        self.assertRegex(lines[1], r" pinned .* smells of smoke$")
        job_id, = self.submit("true")
        harness.wait_for("the job waits for the node", lambda: "quarantine" in
                         self.ctl("explain", job_id))
        self.assertEqual(self.ctl("release", "node", node["name"]),
                         f"Released node {node['name']}\n")
        self.wait_state(job_id, "SUCCEEDED")
        self.fails(3, "get", "nodes", "no-such-node")

    def apps(self, *arguments):
        return json.loads(self.ctl("get", "apps", self.queue, "-o", "json",
                                   *arguments))

    def test_applications_start_one_at_a_time(self):
        self.ctl("update", "queue", self.queue, "--ordering", "stateaware",
                 "--max-running-apps", "5")
        self.assertIn("ordering: stateaware",
                      self.ctl("get", "queue", self.queue))
        first, = self.submit("sleep 600", job_set="one")
        self.wait_state(first, "RUNNING")
        second, = self.submit("true", job_set="two")
        harness.wait_for("the second is known", lambda: len(self.apps()) == 2)
        one, two = self.apps()
        self.assertEqual((one["id"], one["state"], one["allocations"]),
                         ("one", "Starting", 1))
        self.assertNotIn("asks", one)
        self.assertIn("until", one)
        self.assertEqual((two["id"], two["state"], two["asks"]),
                         ("two", "Accepted", 1))
        lines = self.ctl("get", "apps").splitlines()
        self.assertRegex(lines[0], r"^QUEUE +APPLICATION +STATE +ASKS")
        self.assertEqual([a["id"] for a in self.apps("-s", "Accepted")],
                         ["two"])
        self.assertRegex(self.ctl("explain", second),
                         r"Application one has been Starting since 2")
        self.assertRegex(
            urllib.request.urlopen(
                f"http://{self.berth.http}/metrics",
                timeout=harness.patient(10)).read().decode(),
            rf'berth_queue_applications{{queue="{self.queue}",'
            rf'state="starting"}} 1\n')
        self.ctl("cancel", "job", self.queue, "one", first)
        self.wait_state(second, "SUCCEEDED")
        self.fails(3, "get", "apps", "no-such-queue")
        self.fails(2, "update", "queue", self.queue, "--max-running-apps",
                   "many")
        self.fails(6, "update", "queue", self.queue, "--ordering", "lifo")

    def test_applications_of_spark_need_no_job_set(self):
        self.ctl("update", "queue", self.queue, "--ordering", "fifo")
        document = json.loads(job_file(self.queue, "", "true"))
        del document["jobSetId"]
        document["jobs"][0]["labels"] = {"spark-app-selector": "spark-1"}
        self.ctl("submit", "-", input_text=json.dumps(document))
        harness.wait_for("the application is known",
                         lambda: [a["id"] for a in self.apps("-a")]
                         == ["spark-1"])

    def test_jobs_of_a_deleted_queue_are_cancelled(self):
        self.ctl("cordon", "queue", self.queue)
        first, second = self.submit("true", "true")
        self.wait_state(second, "QUEUED")
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "ctl.yaml"
            config.write_text(CONTEXTS)
            self.ctl("delete", "queue", self.queue, "--config", str(config))
        self.ctl("cancel", "job", self.queue, "s", first)
        self.wait_state(first, "CANCELLED")
        self.ctl("cancel", "job-set", self.queue, "s")
        self.wait_state(second, "CANCELLED")

    def test_waiting_job_is_explained(self):
        self.ctl("cordon", "queue", self.queue)
        job_id, = self.submit("true")
        harness.wait_for("the job is explained", lambda: "cordoned" in
                         self.ctl("explain", job_id).lower())
        self.assertRegex(self.ctl("explain", job_id),
                         r"asks for .*\b[0-9.]+[KMG]i memory")
        self.assertEqual(json.loads(self.ctl("explain", job_id, "-o", "json"))
                         ["jobId"], job_id)
        self.assertTrue(self.ctl("get", "job-report", job_id))
        self.assertTrue(self.ctl("get", "queue-report", self.queue))
        self.assertTrue(self.ctl("get", "scheduling-report", "-v"))
        self.ctl("uncordon", "queue", self.queue)
        self.wait_state(job_id, "SUCCEEDED")
        harness.wait_for("the leader has let it go", lambda: re.search(
            rf"^Job {job_id}: succeeded\.\nIt was submitted .*\nRun 1 started ",
            self.ctl("get", "job-report", job_id)))

    def test_explain_says_what_is_missing(self):
        def submit(cpu):
            text = json.loads(job_file(self.queue, "s", "sleep 100"))
            pod = text["jobs"][0]["podSpec"]
            pod["activeDeadlineSeconds"] = 3600
            for kind in ("requests", "limits"):
                pod["containers"][0]["resources"][kind]["cpu"] = cpu
            return json.loads(self.ctl("submit", "-", "-o", "json",
                                       input_text=json.dumps(text)))
        submit("3")
        harness.wait_for("it runs", lambda: len(json.loads(self.ctl(
            "get", "jobs", "-q", self.queue, "-s", "running", "-o",
            "json"))) == 1)
        submit("2500m")
        job, = harness.wait_for("it waits", lambda: json.loads(self.ctl(
            "get", "jobs", "-q", self.queue, "-s", "queued", "-o", "json")))
        job_id = job["jobId"]

        def needs():
            return json.loads(self.ctl("explain", job_id, "-o",
                                       "json")).get("needs", {})
        harness.wait_for("it is told", lambda: needs().get("kind") == "room")
        data = json.loads(self.ctl("explain", job_id, "-o", "json"))
        self.assertEqual(data["needs"]["missing"], {"cpu": "1500m"})
        self.assertTrue(data["needs"]["exact"])
        self.assertEqual(data["nodeKinds"][0]["free"]["cpu"], "1")
        text = self.ctl("explain", job_id)
        self.assertRegex(text, r"It would start if node \S+ had 1\.5 cpu more "
                               r"free; with less it would not\.")
        self.assertRegex(text, r"1 like .*4 cpu.*it fits on 0; the most room "
                               r"for it is on .*: 1 cpu")
        self.assertIn("more free", self.ctl("get", "job-report", job_id))
        # Its start is promised: what runs has a deadline.
        self.assertGreater(data["promisedStartMs"], 0)
        job, = json.loads(self.ctl("get", "jobs", job_id, "-o", "json"))
        self.assertTrue(job["admitted"])
        self.assertIn("T", job["promisedStart"])
        self.assertIn("starts by", self.ctl("get", "jobs", job_id))
        self.ctl("cancel", "job-set", self.queue, "s")
        self.wait_state(job_id, "CANCELLED")

    def test_jobs_are_listed_and_filtered(self):
        ids = self.submit("true", "true")
        for job_id in ids:
            self.wait_state(job_id, "SUCCEEDED")
        table = self.ctl("get", "jobs", "-q", self.queue).splitlines()
        self.assertEqual(table[0].split()[:4],
                         ["JOB", "QUEUE", "JOBSET", "STATE"])
        self.assertEqual([line.split()[0] for line in table[1:]],
                         sorted(ids, reverse=True))
        self.assertEqual(len(self.ctl("get", "jobs", "-q", self.queue, "-s",
                                      "running").splitlines()), 1)
        self.assertEqual(len(self.ctl("get", "jobs", "-q", self.queue, "-n",
                                      "1").splitlines()), 2)
        shares = self.ctl("get", "shares").splitlines()
        self.assertEqual(shares[0].split()[:4],
                         ["QUEUE", "POOL", "WEIGHT", "FAIR"])

    def test_retry_policies(self):
        policy = ("apiVersion: armadaproject.io/v1beta1\nkind: RetryPolicy\n"
                  "name: twice\nretryLimit: 2\n"
                  "defaultAction: RETRY_ACTION_FAIL\n")
        self.assertEqual(self.ctl("create", "retry-policy", "-f", "-",
                                  input_text=policy),
                         "Created retry policy twice\n")
        self.assertIn("name: twice\nretryLimit: 2\n",
                      self.ctl("get", "retry-policy", "twice"))
        self.assertIn("twice", self.ctl("get", "retry-policies"))
        self.ctl("delete", "retry-policy", "twice")
        self.fails(3, "get", "retry-policy", "twice")

    def test_what_cannot_be_is_told_apart_by_exit_codes(self):
        self.assertIn("could not find queue",
                      self.fails(3, "submit", "-",
                                 input_text=job_file("nobody", "s", "true")))
        self.fails(3, "watch", self.queue, "never")
        self.fails(3, "explain", "01h00000000000000000000000")
        self.fails(3, "explain", "x")
        self.fails(2, "watch")
        self.fails(5, "get", "queues", "--berthUrl", "127.0.0.1:1")

    @unittest.skipIf("BERTH_SANITIZED" in os.environ,
                     "a sanitizer needs more memory than that")
    def test_little_memory_never_makes_it_hang(self):
        """As in a small job, whose memory is limited by RLIMIT_DATA."""
        line = (f"ulimit -d %d; exec {harness.program('berthctl')}"
                f" --berthUrl {self.berth.grpc} get queues")
        done = subprocess.run(["sh", "-c", line % (48 << 10)],
                              capture_output=True, text=True, check=False,
                              timeout=harness.patient(60))
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run(["sh", "-c", line % (4 << 10)],
                              capture_output=True, text=True, check=False,
                              timeout=harness.patient(60))
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("threads are needed", done.stderr)

    def test_a_job_that_is_none_has_one_exit_code(self):
        for id_ in ("01arz3ndektsv4rrffq69g5fav", "nope"):
            for words in ("get jobs ID", "explain ID", "logs ID", "wait ID",
                          "cancel job ID", "preempt job ID", "hold job ID",
                          "release job ID", "run -q any --after ID -- true"):
                words = words.replace("ID", id_).split()
                done = self.berth.ctl(*words, check=False)
                self.assertEqual(done.returncode, 3, (words, done.stderr))
                self.assertIn(id_, done.stderr)

    def test_queues_as_they_are_printed_are_applied(self):
        self.berth.ctl("create", "queue", "printed", "--priority-factor", "2")
        printed = self.berth.ctl("get", "queues", "-o", "yaml").stdout
        done = self.berth.ctl("apply", "-f", "-", input_text=printed)
        self.assertEqual(set(line.split()[0]
                             for line in done.stdout.splitlines()),
                         {"Unchanged"})

    def test_backup_is_a_data_directory(self):
        job_id, = self.submit("true")
        self.wait_state(job_id, "SUCCEEDED")
        with tempfile.TemporaryDirectory(prefix="berth-e2e-") as folder:
            copy = pathlib.Path(folder) / "copy"
            self.assertRegex(self.ctl("backup", str(copy)),
                             r"^Copied 2 files, \d+ bytes, to ")
            self.assertEqual(sorted(path.name for path in copy.iterdir()),
                             ["log.db", "store.db"])
            other = harness.Berth(folder=folder, standalone=False)
            other.data = copy
            other.start()
            try:
                jobs = json.loads(other.ctl("get", "jobs", job_id, "-o",
                                            "json").stdout)
                self.assertEqual(jobs[0]["state"], "SUCCEEDED")
            finally:
                other.close()


if __name__ == "__main__":
    unittest.main()
