"""Pools as objects, end to end: made and changed by berthctl, borrowed from,
come home to; the seed's two Jobs as they stand."""

import collections
import json
import re
import subprocess
import unittest
import urllib.request

import harness
from test_berthctl import job_file

SERVER = """
scheduling:
  fullRoundPeriod: 100ms
"""
NODES = """
executor:
  fake:
    runTime: {run_time}
    nodes:
{nodes}
"""

PROCESS = """
executor:
  process:
    resources: {{cpu: 2, memory: 1Gi, ephemeral-storage: 4Gi}}
    labels: [{label}=true]
"""

CLASSES = """
  priorityClasses:
    - {name: armada-default, priority: 1000, preemptible: false}
    - {name: armada-preemptible, priority: 900, preemptible: true}
    - {name: high, priority: 1000, preemptible: true}
"""

POOL = """
apiVersion: resource.aibee.cn/v1alpha1
kind: Pool
metadata:
  name: {name}
spec:
  nodeSelector:
    matchLabels:
      {label}: "true"
  disablePreemption: false
  disableBorrowing: false
  disableSharing: false
"""

JOB = """
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
spec:
  completions: {count}
  parallelism: {count}
  activeDeadlineSeconds: 600
  template:
    metadata:
      annotations:
        resource.aibee.cn/pool: {pool}
    spec:
      schedulerName: ai-scheduler
      containers:
        - name: pi
          image: perl
          command: ["perl"]
          args: ["-Mbignum=bpi", "-wle", "print bpi(2000)"]
          imagePullPolicy: IfNotPresent
          resources:
            limits:
              cpu: 1000m
              memory: 100M
            requests:
              cpu: 1000m
              memory: 100M
      restartPolicy: Never
{extra}
  backoffLimit: 3
"""


def nodes(run_time, *kinds):
    rows = "".join(
        f"      - {{name: {name}, count: {count}, "
        f"resources: {{cpu: {cpu}, memory: 16Gi, ephemeral-storage: 2Ti}}, "
        f"labels: [{', '.join(labels)}]}}\n"
        for name, count, cpu, *labels in kinds)
    return NODES.format(run_time=run_time, nodes=rows)


class Pools(unittest.TestCase):
    def begin(self, nodes_config, server=SERVER):
        self.berth = harness.Berth(server, standalone=False).start()
        self.addCleanup(self.berth.close)
        self.executor = harness.Executor(
            self.berth.grpc, "e", self.berth.folder / "e",
            nodes_config).start()
        self.addCleanup(self.executor.stop)
        self.berth.ctl("create", "queue", "q")
        self.wait_nodes()

    def wait_nodes(self):
        harness.wait_for("nodes are there", lambda: self.pool("default") and
                         sum(p.get("nodeCount", 0) for p in self.pools()) > 0)

    def pools(self):
        reply = self.berth.ctl("get", "pools", "-o", "json").stdout
        return json.loads(reply).get("pools", [])

    def pool(self, name):
        for pool in self.pools():
            if pool["pool"]["name"] == name:
                return pool
        return None

    def make_pool(self, name, label=None):
        return self.berth.ctl("create", "-f", "-", input_text=POOL.format(
            name=name, label=label or name))

    def submit(self, name, count, pool, extra=""):
        self.berth.ctl("submit", "-", "--queue", "q", input_text=JOB.format(
            name=name, count=count, pool=pool, extra=extra))

    def jobs(self, **wanted):
        rows = json.loads(self.berth.ctl("get", "jobs", "-n", "0", "-o",
                                         "json").stdout)
        return [row for row in rows
                if all(row.get(key) == value for key, value in wanted.items())]

    def where(self, state):
        return collections.Counter(
            job.get("pool", "") for job in self.jobs()
            if job.get("state", "QUEUED") == state)

    def wait_where(self, state, **pools):
        wanted = collections.Counter(pools)
        harness.wait_for(f"{state}: {dict(pools)}",
                         lambda: self.where(state) == wanted, 60)

    def metrics(self):
        with urllib.request.urlopen(f"http://{self.berth.http}/metrics",
                                    timeout=harness.patient(10)) as reply:
            return reply.read().decode()

    def test_pools_are_made_shown_changed_and_deleted(self):
        self.begin(nodes("1h", ("c", 2, 4, "cpu=true"),
                         ("g", 1, 4, "gpu=true"),
                         ("both", 1, 4, "cpu=true", "gpu=true"),
                         ("none", 1, 4)))
        self.make_pool("cpu")
        self.assertEqual(self.pool("cpu")["nodeCount"], 3)
        self.berth.ctl("create", "pool", "gpu", "--selector", "gpu=true",
                       "--disable-sharing")
        # PO-01: what two pools match is Default's, and it is said.
        self.assertEqual(self.pool("cpu")["nodeCount"], 2)
        self.assertEqual(self.pool("gpu")["nodeCount"], 1)
        default = self.pool("default")
        self.assertEqual(default["nodeCount"], 2)
        self.assertEqual(default["conflictingNodeCount"], 1)
        shown = self.berth.ctl("get", "nodes").stdout
        self.assertIn("in the default pool, for these all match it: cpu, gpu",
                      shown)
        table = self.berth.ctl("get", "pools").stdout
        self.assertRegex(table, r"gpu +\(p=√,b=√,s=x\) +1 ")
        # What is not named stays.
        self.berth.ctl("edit", "pool", "gpu", "--disable-borrowing")
        pool = self.pool("gpu")["pool"]
        self.assertTrue(pool["disableSharing"] and pool["disableBorrowing"])
        self.assertIn("nodeSelector", pool)
        self.assertIn('scheduler_pool_features{pool="gpu",feature="sharing"} 0',
                      self.metrics())
        statistics = self.berth.ctl("get", "pools", "--statistics").stdout
        self.assertEqual(len(statistics.splitlines()[1]), 160)
        self.assertEqual(len(statistics.splitlines()), 1 + 3 * 7)
        # PO-02: its nodes are matched anew, its waiting work is Default's.
        self.submit("waits", 7, "gpu")
        harness.wait_for("four run", lambda: self.pool("gpu").get(
            "runningOwnCount") == 4)
        harness.wait_for("three wait", lambda: self.pool("gpu").get(
            "queuedOwnCount") == 3)
        text = self.berth.ctl("delete", "pool", "gpu").stdout
        self.assertIn("3 waiting jobs go to the default pool", text)
        self.assertIsNone(self.pool("gpu"))
        self.assertEqual(self.pool("cpu")["nodeCount"], 3)
        self.replay()
        self.assertNotRegex(self.metrics(), r'scheduler_pool_\w+{pool="gpu"')

    def test_what_may_not_be_is_refused(self):
        self.begin(nodes("1h", ("c", 1, 4)))
        self.make_pool("a")

        def refused(text, *arguments):
            result = self.berth.ctl(*arguments, check=False)
            self.assertNotEqual(result.returncode, 0, arguments)
            self.assertIn(text, result.stderr)

        refused("exists already", "create", "pool", "a")
        refused("default pool", "create", "pool", "default")
        refused("default pool", "edit", "pool", "default",
                "--disable-sharing")
        refused("default pool", "delete", "pool", "default")
        refused("there is no pool b", "edit", "pool", "b",
                "--disable-sharing")
        refused("there is no pool b", "delete", "pool", "b")
        refused("is no resource that jobs are scheduled by; these are: ",
                "update", "queue", "q", "--quota", "cpu=4,nope=3")
        refused("cannot borrow from itself", "edit", "pool", "a",
                "--borrowing-pools", "a")
        refused("--quota names cpu twice", "update", "queue", "q",
                "--quota", "cpu=4,cpu=5")
        refused("--selector names k twice", "create", "pool", "b",
                "--selector", "k=v,l=v,k=w")
        for command in ("create", "apply"):
            for name, more, text in (("", "", "metadata.name: must be given"),
                                     ("7", "", "metadata.name: must be a text"),
                                     ("b", "\nspek: {}",
                                      "spek: unknown key")):
                done = self.berth.ctl(
                    command, "-f", "-", check=False,
                    input_text=POOL.format(name=name, label="l") + more)
                self.assertEqual(done.returncode, 6)
                self.assertIn(text, done.stderr)
        self.assertEqual(len(self.pools()), 2)

    def explain(self, job):
        return json.loads(self.berth.ctl("explain", job["jobId"], "-o",
                                         "json").stdout)

    def lenders(self, job):
        answer = self.explain(job)
        return answer["borrowing"], {
            lender["pool"]: lender for lender in answer["lenders"]}

    def test_explain_says_why_no_other_pool_has_taken_a_job(self):
        self.begin(nodes("1h", ("c", 1, 4, "cpu=true"),
                         ("g", 1, 4, "gpu=true"), ("k", 1, 4, "big=true")))
        for name in ("cpu", "gpu", "big"):
            self.make_pool(name)
        self.berth.ctl("edit", "pool", "big", "--disable-sharing")
        self.submit("many", 10, "cpu")
        self.wait_where("RUNNING", cpu=4, gpu=4)
        waits = [job for job in self.jobs()
                 if job.get("state", "QUEUED") == "QUEUED"][0]
        borrowing, lenders = self.lenders(waits)
        self.assertEqual(borrowing, "may")
        self.assertEqual(lenders["big"]["reason"], "sharingOff")
        self.assertEqual(lenders["gpu"]["reason"], "noRoom")
        self.assertEqual(lenders["gpu"]["nodesExcluded"], {"full": 1})
        self.assertEqual(lenders["default"]["nodesTotal"], 0)
        text = self.berth.ctl("explain", waits["jobId"]).stdout
        self.assertIn("big: lends to nobody (disableSharing)", text)
        self.assertRegex(text, "gpu: has no room for it: 1 of 1 node does not "
                         "have enough free; node e-g-0 comes nearest, with 0 "
                         "cpu")
        self.assertEqual(text, self.berth.ctl("get", "job-report",
                                              waits["jobId"]).stdout)
        self.berth.ctl("edit", "pool", "cpu", "--borrowing-pools", "big")
        self.assertEqual(self.lenders(waits)[1]["gpu"]["reason"], "notListed")
        self.berth.ctl("edit", "pool", "cpu", "--disable-borrowing")
        self.assertEqual(self.lenders(waits)[0], "off")

    def test_a_quota_is_over_all_pools(self):
        self.begin(nodes("1h", ("c", 1, 4, "cpu=true"),
                         ("g", 1, 4, "gpu=true")))
        self.make_pool("cpu")
        self.make_pool("gpu")
        self.berth.ctl("update", "queue", "q", "--quota", "cpu=6")
        self.submit("many", 6, "cpu")
        self.submit("more", 4, "gpu")
        harness.wait_for("six run", lambda: sum(
            self.where("RUNNING").values()) == 6)
        waits = [job for job in self.jobs()
                 if job.get("state", "QUEUED") == "QUEUED"]
        self.assertEqual(len(waits), 4)
        for job in waits:
            answer = self.explain(job)
            self.assertIn(answer["reason"], ("quota", "capacity"))
            if answer["reason"] == "quota":
                self.assertEqual(answer["usedAmount"], {"cpu": "6"})
        self.berth.ctl("update", "queue", "q", "--quota", "cpu=7")
        harness.wait_for("seven run", lambda: sum(
            self.where("RUNNING").values()) == 7)
        self.replay()

    def test_names_of_pools_that_are_none_are_told_of(self):
        self.begin(nodes("1h", ("c", 1, 4, "cpu=true")))
        self.make_pool("cpu")
        told = self.berth.ctl("update", "queue", "q", "--default-pool", "nope")
        self.assertIn("there is no pool nope; until there is, its jobs are at "
                      "home in the default pool", told.stderr)
        told = self.berth.ctl("edit", "pool", "cpu", "--borrowing-pools",
                              "nope,default")
        self.assertIn("there is no pool nope; until there is, nothing is "
                      "borrowed from it", told.stderr)
        self.assertNotIn("no pool default", told.stderr)
        told = self.berth.ctl("update", "queue", "q", "--default-pool", "cpu")
        self.assertEqual(told.stderr, "")

    def test_borrowers_come_home_and_give_way(self):
        self.begin(nodes("1h", ("c", 1, 4, "cpu=true"),
                         ("g", 1, 4, "gpu=true")))
        self.make_pool("cpu")
        self.make_pool("gpu")
        self.submit("many", 10, "cpu")
        self.wait_where("RUNNING", cpu=4, gpu=4)
        self.assertEqual(self.pool("gpu")["runningForeignCount"], 4)
        self.assertIn("4000 ", self.shared_row("gpu"))
        guest = [job for job in self.jobs() if job.get("pool") == "gpu"][0]
        self.assertIn("Its home pool is cpu.\n"
                      "It borrows its place from pool gpu",
                      self.berth.ctl("explain", guest["jobId"]).stdout)
        # Home demand takes its places back; who loses one waits at home.
        self.submit("home", 3, "gpu")
        self.wait_where("RUNNING", cpu=4, gpu=4)
        harness.wait_for("three are back", lambda: (
            self.pool("gpu").get("runningOwnCount") == 3 and
            self.pool("cpu").get("queuedOwnCount") == 5))
        metrics = self.metrics()
        for line in ('berth_preemptions_total{reason="home"} 3',
                     "scheduler_total_preemption_attempts [1-3]",
                     "scheduler_pod_preemption_victims [1-3]",
                     'scheduler_schedule_attempts_total{result="scheduled"} 11',
                     'scheduler_schedule_attempts_total'
                     '{result="unschedulable"} [1-9][0-9]*',
                     'scheduler_scheduling_algorithm_duration_seconds_bucket'
                     '{le="16.384"} [1-9][0-9]*'):
            self.assertTrue(re.search(f"^{line}$", metrics, re.M), line)
        # Nothing is lent any more, and who is there stays.
        self.berth.ctl("edit", "pool", "gpu", "--disable-sharing")
        self.assertEqual(self.pool("gpu")["runningForeignCount"], 1)
        for job in self.jobs(jobSet="home"):
            self.berth.ctl("cancel", "job", "q", "home", job["jobId"])
        harness.wait_for("they are gone", lambda: not self.pool("gpu").get(
            "runningOwnCount"))
        self.assertEqual(self.pool("gpu")["runningForeignCount"], 1)

        self.replay()

    def test_borrowers_that_are_processes_give_way(self):
        self.berth = harness.Berth(SERVER, standalone=False).start()
        self.addCleanup(self.berth.close)
        for name in ("cpu", "gpu"):
            executor = harness.Executor(
                self.berth.grpc, name, self.berth.folder / name,
                PROCESS.format(label=name), "process")
            executor.argv.append("--stop-jobs")
            executor.start()
            self.addCleanup(executor.stop)
            self.make_pool(name)
        self.berth.ctl("create", "queue", "q")
        harness.wait_for("each has its node", lambda: [
            pool.get("nodeCount", 0) for pool in self.pools()] == [0, 1, 1])
        self.submit_sleeps("many", 4, "cpu")
        self.wait_where("RUNNING", cpu=2, gpu=2)
        self.submit_sleeps("home", 1, "gpu")
        harness.wait_for("one has gone home", lambda: (
            self.pool("gpu").get("runningOwnCount") == 1 and
            self.pool("gpu").get("runningForeignCount") == 1 and
            self.pool("cpu").get("queuedOwnCount") == 1))
        self.wait_where("RUNNING", cpu=2, gpu=2)
        # As processes, too.
        harness.wait_for("four processes run", lambda: len(
            [path for name in ("cpu", "gpu") for path in self.shims(name)])
            == 4)
        self.replay()

    def submit_sleeps(self, job_set, count, pool):
        resources = {"cpu": "1", "memory": "16Mi", "ephemeral-storage": "1Mi"}
        job = {"namespace": "default",
               "annotations": {"resource.aibee.cn/pool": pool},
               "podSpec": {"restartPolicy": "Never",
                           "terminationGracePeriodSeconds": 1,
                           "containers": [{
                               "name": "main", "image": "none",
                               "command": ["sleep", "600"],
                               "resources": {"requests": resources,
                                             "limits": resources}}]}}
        self.berth.ctl("submit", "-", input_text=json.dumps(
            {"queue": "q", "jobSetId": job_set, "jobs": [job] * count}))

    def shims(self, executor):
        """The processes that stand over pods of an executor."""
        return harness.shims_below(self.berth.folder / executor)

    def replay(self):
        """The log's decisions, made again, are the same."""
        done = subprocess.run(
            [harness.program("berth-sim"), "replay", str(self.berth.data),
             "--json"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(json.loads(done.stdout)["is_same"], done.stdout)

    def shared_row(self, name):
        """The row cpu of a pool's statistics."""
        return self.berth.ctl("get", "pools", name,
                              "--statistics").stdout.splitlines()[2]

    def test_po_22_the_seeds_own_job_as_it_stands(self):
        self.begin(nodes("1s", ("c", 1, 4, "cpu=true"),
                         ("g", 1, 3, "gpu=true")))
        self.make_pool("cpu-pool", "cpu")
        self.make_pool("gpu-pool", "gpu")
        self.submit("test-job-cpu", 10, "cpu-pool")
        self.all_end(10)
        pools = collections.Counter(job["pool"] for job in self.jobs())
        self.assertEqual(set(pools), {"cpu-pool", "gpu-pool"})
        self.assertGreaterEqual(pools["cpu-pool"], 4)

    def test_po_22_the_second_one_of_130_pods(self):
        self.begin(nodes("300ms", ("c", 1, 16, "cpu=true"),
                         ("g", 1, 8, "gpu=true")), SERVER + CLASSES)
        self.make_pool("cpu-pool", "cpu")
        self.make_pool("gpu-pool", "gpu")
        self.submit("test-job", 130, "cpu-pool",
                    "      priorityClassName: high")
        self.all_end(130)
        pools = collections.Counter(job["pool"] for job in self.jobs())
        self.assertEqual(set(pools), {"cpu-pool", "gpu-pool"})

    def all_end(self, count):
        """All succeed, and nothing runs twice."""
        harness.wait_for("all end", lambda: len(
            self.jobs(state="SUCCEEDED")) == count, 60)
        self.assertTrue(all(job["runCount"] == 1 for job in self.jobs()))
        self.replay()

    def test_a_queue_names_the_home_of_its_jobs(self):
        self.begin(nodes("1h", ("c", 1, 4, "cpu=true"), ("n", 1, 4)))
        self.make_pool("cpu")
        self.berth.ctl("update", "queue", "q", "--default-pool", "cpu")
        self.berth.ctl("submit", "-", input_text=job_file("q", "s", "true"))
        self.wait_where("RUNNING", cpu=1)
        self.assertEqual(self.pool("cpu")["runningOwnCount"], 1)
        refused = self.berth.ctl("update", "queue", "q", "--default-pool",
                                 "No", check=False)
        self.assertIn("scheduling.defaultPool", refused.stderr)

    def test_pools_outlive_the_server(self):
        self.begin(nodes("1h", ("c", 1, 4, "cpu=true")))
        self.make_pool("cpu")
        self.submit("s", 2, "cpu")
        self.wait_where("RUNNING", cpu=2)
        self.berth.kill()
        self.berth.start()
        harness.wait_for("it is as it was", lambda: (
            self.pool("cpu") or {}).get("runningOwnCount") == 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
