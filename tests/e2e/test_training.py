"""TrainingJobs from berthctl submit to their end, on both runtimes: phases,
what goes when the trainers are done, what is refused, and what is deleted."""

import json
import os
import unittest

import harness

EXAMPLE = harness.ROOT / "examples" / "training-job.yaml"
GONE_SECONDS_MAX = 30

FAKE = """
executor:
  runtime: fake
  fake:
    startDelay: 1s
    runTime: 4s
    nodes:
      - name: n
        count: 4
        resources: {cpu: 4, memory: 16Gi, ephemeral-storage: 400Gi}
        labels: [disk=ssd]
"""

PROCESS = """
submission:
  trainingJobs: {launcher: LAUNCHER}
executor:
  process:
    resources: {cpu: 8, memory: 8Gi, ephemeral-storage: 400Gi}
"""

# What the images of TrainingJobs have: trainers run their entry, the others
# stay until they are stopped, and say who they are.
LAUNCHER = """#!/bin/sh
case $1 in
start_trainer|start_new_trainer) exec sh -c "$ENTRY";;
esac
echo $BERTH_RUN_ID > "$TRAINER_PACKAGE/$1.$BERTH_RUN_ID"
exec sleep 600
"""


def job(name, minimum, maximum, entry="true", tolerant=False, more=None):
    """A TrainingJob of one pserver."""
    resources = {"requests": {"cpu": "100m", "memory": "16Mi"}}
    spec = {
        "fault_tolerant": tolerant,
        "pserver": {"min-instance": 1, "max-instance": 1,
                    "resources": resources},
        "trainer": {"min-instance": minimum, "max-instance": maximum,
                    "entrypoint": entry, "resources": resources},
    }
    spec.update(more or {})
    return json.dumps({
        "apiVersion": "paddlepaddle.org/v1", "kind": "TrainingJob",
        "metadata": {"name": name}, "spec": spec})


class Training(unittest.TestCase):
    def begin(self, config):
        self.berth = harness.Berth(config)
        self.addCleanup(self.berth.close)
        self.berth.arguments = ["--stop-jobs"]

    def start(self):
        self.berth.start()
        self.berth.ctl("create", "queue", "team-a", "--ordering", "cfs")

    def submit(self, text, check=True):
        return self.berth.ctl("submit", "-q", "team-a", "-", input_text=text,
                              check=check)

    def list(self):
        """TrainingJobs by name."""
        listing = json.loads(self.berth.ctl(
            "get", "trainingjobs", "-o", "json").stdout)
        return {one["name"]: one for one in listing.get("trainingJobs", [])}

    def phases_until(self, name, last):
        """The phases that it is seen in, up to `last`."""
        seen = []

        def is_there():
            phase = self.list()[name].get("phase", "")
            if not seen or seen[-1] != phase:
                seen.append(phase)
            return phase == last
        harness.wait_for(f"{name} is {last}", is_there, 60)
        return seen

    def jobs(self, job_set):
        return json.loads(self.berth.ctl(
            "get", "jobs", "-n", "0", "-q", "team-a", "-j", job_set, "-o",
            "json").stdout)

    def wait_gone(self, job_set):
        over = {"SUCCEEDED", "FAILED", "CANCELLED", "PREEMPTED"}
        harness.wait_for(
            "all pods have ended",
            lambda: all(one.get("state") in over
                        for one in self.jobs(job_set)),
            GONE_SECONDS_MAX)


class OnFake(Training):
    def setUp(self):
        self.begin(FAKE)
        self.start()

    def test_tj_04_the_example_goes_through_its_phases(self):
        text = EXAMPLE.read_text(encoding="utf-8")
        self.assertIn("Submitted training job ctr-7", self.submit(text).stdout)
        seen = self.phases_until("ctr-7", "succeeded")
        self.assertEqual([phase for phase in seen if phase != "scaling"],
                         sorted(set(seen) - {"scaling"}, key=[
                             "", "creating", "running", "succeeded"].index))
        self.assertIn("creating", seen)
        self.assertIn("running", seen)
        self.wait_gone("ctr-7")
        done = self.list()["ctr-7"]
        self.assertEqual(done["minInstance"], 2)
        self.assertEqual(done["maxInstance"], 10)
        self.assertIn("completed", done)
        self.assertEqual([one["type"] for one in done["replicas"]],
                         ["MASTER", "ETCD", "PSERVER", "TRAINER"])

    def test_tj_02_max_must_be_min_without_fault_tolerance(self):
        done = self.submit(job("a", 2, 6), check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("max must equal min", done.stderr)
        one = self.list()["a"]
        self.assertEqual(one["phase"], "failed")
        self.assertIn("max must equal min", one["reason"])
        self.assertEqual(self.jobs("a"), [])

    def test_refusals_name_the_field(self):
        for text, why in (
                (job("a.b", 1, 1), "metadata.name"),
                (job("a", 3, 2), "spec.trainer.max-instance"),
                (job("a", 0, 2), "spec.trainer.min-instance"),
                (job("a", 1, 1, more={"ports": 1}), "spec.ports"),
                (job("a", 1, 1).replace(
                    '"metadata": {',
                    '"metadata": {"annotations": {"armadaproject.io/'
                    'priorityClassName": "huge"}, '), "priorityClassName"),
                (job("a", 1, 1).replace("100m", "100x"),
                 "spec.pserver.resources.requests.cpu")):
            done = self.submit(text, check=False)
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertIn(why, done.stderr)
        self.assertEqual(self.list(), {})

    def test_a_file_may_have_several(self):
        both = job("a", 1, 1) + "\n---\n" + job("b", 1, 1) + "\n"
        self.submit(both)
        self.assertEqual(set(self.list()), {"a", "b"})
        self.assertEqual(self.submit(
            job("c", 1, 1) + "\n---\nkind: Pod\n", check=False).returncode, 6)
        dry = self.berth.ctl("submit", "--dry-run", "-", check=False,
                             input_text=job("d", 2, 1))
        self.assertIn("document 1: spec.trainer.max-instance", dry.stderr)
        dry = self.berth.ctl("submit", "--dry-run", str(EXAMPLE))
        self.assertEqual(dry.stdout,
                         "Read 1 TrainingJob; nothing was submitted\n")

    def test_a_name_is_taken_until_it_is_deleted(self):
        self.submit(job("a", 1, 1))
        again = self.submit(job("a", 1, 1), check=False)
        self.assertIn('there is a TrainingJob "a" in queue "team-a" already',
                      again.stderr)
        self.phases_until("a", "running")
        self.berth.ctl("delete", "trainingjob", "a")
        self.assertEqual(self.list(), {})
        self.wait_gone("a")
        self.assertTrue(all(one["state"] == "CANCELLED"
                            for one in self.jobs("a")))
        self.submit(job("a", 1, 1))
        gone = self.berth.ctl("delete", "trainingjob", "b", check=False)
        self.assertEqual(gone.returncode, 3)

    def test_tj_21_production_goes_first(self):
        # Four nodes of four cores: `busy` has them all.
        whole = {"requests": {"cpu": "3500m", "memory": "16Mi"}}
        for name, count in (("busy", 4), ("older", 4), ("younger", 4)):
            text = json.loads(job(name, count, count))
            text["spec"]["trainer"]["resources"] = whole
            del text["spec"]["pserver"]
            self.submit(json.dumps(text))
        self.phases_until("busy", "running")
        self.berth.ctl("update", "trainingjob", "younger",
                       "--priority-class", "production")
        self.assertEqual(self.list()["younger"]["priorityClassName"],
                         "production")
        self.phases_until("younger", "running")
        self.assertEqual(self.list()["older"].get("phase", ""), "")
        self.phases_until("older", "succeeded")
        wrong = self.berth.ctl("update", "trainingjob", "older",
                               "--priority-class", "huge", check=False)
        self.assertIn('there is no priority class "huge"', wrong.stderr)

    def test_a_restart_forgets_nothing(self):
        self.submit(job("a", 2, 2))
        self.submit(job("b", 1, 2), check=False)
        self.phases_until("a", "running")
        before = self.list()
        self.berth.kill()
        self.berth.start()
        after = harness.wait_for("the leader is back", self.list)
        self.assertEqual(set(after), {"a", "b"})
        self.assertEqual(after["b"], before["b"])
        self.assertEqual(after["a"]["created"], before["a"]["created"])
        self.phases_until("a", "succeeded")


class OnFakeForLong(Training):
    def setUp(self):
        self.begin(FAKE.replace("runTime: 4s", "runTime: 90s"))
        self.start()

    def test_tj_18_a_job_grows_and_is_scaled_down(self):
        text = json.loads(job("big", 1, 8, tolerant=True, more={
            "master": {"etcd-endpoint": "127.0.0.1:2379"}}))
        text["metadata"]["annotations"] = {
            "armadaproject.io/freezingWindowSeconds": 0}
        text["spec"]["trainer"]["resources"] = {
            "requests": {"cpu": "2", "memory": "16Mi"}}
        self.submit(json.dumps(text))
        harness.wait_for("it grows", lambda: self.list()["big"].get(
            "runningInstance", 0) >= 6, 60)
        small = json.loads(job("small", 2, 2))
        small["spec"]["trainer"]["resources"] = {
            "requests": {"cpu": "2", "memory": "16Mi"}}
        self.submit(json.dumps(small))
        self.phases_until("small", "running")
        trainers = [one for one in self.list()["big"]["replicas"]
                    if one["type"] == "TRAINER"]
        self.assertNotIn("failed", trainers[0]["resourceStates"])
        self.berth.ctl("delete", "trainingjob", "big")
        self.wait_gone("big")


class OnProcess(Training):
    def setUp(self):
        self.begin("")
        # Jobs run as another user.
        self.work = self.berth.meeting / "work"
        self.work.mkdir()
        os.chmod(self.work, 0o777)
        launcher = self.berth.meeting / "launcher"
        launcher.write_text(LAUNCHER)
        os.chmod(launcher, 0o755)
        self.berth.config_path.write_text(
            PROCESS.replace("LAUNCHER", str(launcher)))
        self.start()

    def helpers(self):
        """The runs of masters and pservers that are there."""
        runs = [path.read_text(encoding="utf-8").strip()
                for path in self.work.iterdir() if ".tmp" not in path.name]
        return [run for run in runs if run and harness.shims_of(run)]

    def run_job(self, name, entry, tolerant, trainers):
        text = json.loads(job(name, trainers, trainers, entry, tolerant, {
            "master": {"etcd-endpoint": "127.0.0.1:2379", "resources": {
                "requests": {"cpu": "100m", "memory": "16Mi"}}}}
            if tolerant else None))
        text["spec"]["trainer"]["workspace"] = str(self.work)
        self.submit(json.dumps(text))

    def test_tj_04_master_and_pservers_go_when_the_trainers_are_done(self):
        self.run_job("a", "sleep 3", True, 2)
        seen = self.phases_until("a", "succeeded")
        self.assertIn("running", seen)
        harness.wait_for("master and pserver are gone",
                         lambda: not self.helpers(), GONE_SECONDS_MAX)
        self.assertEqual(len(list(self.work.iterdir())), 2)
        self.wait_gone("a")

    def test_tj_05_one_failed_trainer_fails_the_job(self):
        self.run_job("a", 'test "$BERTH_POD_INDEX" != 1 && sleep 300 || exit 3',
                     False, 3)
        self.phases_until("a", "failed")
        self.assertIn("trainer ", self.list()["a"]["reason"])
        self.wait_gone("a")
        harness.wait_for("the pserver is gone", lambda: not self.helpers(),
                         GONE_SECONDS_MAX)

    def test_tj_05_a_tolerant_job_outlives_a_trainer(self):
        self.run_job("a", 'test "$BERTH_POD_INDEX" != 1 && sleep 2 || exit 3',
                     True, 3)
        self.phases_until("a", "succeeded")
        states = [one.get("resourceStates", {}) for one
                  in self.list()["a"]["replicas"] if one["type"] == "TRAINER"]
        self.assertEqual(states, [{"failed": 1, "succeeded": 2}])
        self.run_job("b", "exit 3", True, 3)
        self.phases_until("b", "failed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
