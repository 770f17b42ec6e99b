"""How pods of a real API server come to their end without the executor's doing:
each end is told once."""

import contextlib
import json
import unittest
import uuid

from berth_cluster import (FOR_EVER, PODS, BerthCluster, harness, job)

ENDS = ("JobFailedEvent", "JobSucceededEvent", "JobCancelledEvent",
        "JobPreemptedEvent", "JobLeaseReturnedEvent")


class TestEnds(unittest.TestCase):
    """One control plane, one server and one executor for all."""

    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.cluster = BerthCluster(stack)
        cls.plane, cls.berth = cls.cluster.plane, cls.cluster.berth

    def setUp(self):
        self.set = self.id().rsplit(".", 1)[1]

    def run_one(self, **changes):
        wanted = job(FOR_EVER)
        wanted["podSpec"].update(changes)
        job_id, = self.cluster.submit(self.set, wanted)
        self.cluster.wait_state(job_id, "RUNNING")
        return job_id, f"{PODS}/armada-{job_id}-0"

    def assert_ends_once(self, job_id, words, state="FAILED"):
        told = json.dumps(self.cluster.wait_state(job_id, state))
        self.assertIn(words, told)
        self.cluster.wait_no_pods()
        # A restart tells nothing anew.
        self.cluster.executor.kill()
        self.cluster.executor.start()
        other, = self.cluster.submit(self.set, job())
        self.cluster.wait_state(other, "SUCCEEDED")
        events = self.cluster.events(self.set)
        self.assertEqual(
            {kind: count for (of, kind), count in events.items()
             if of == job_id and kind in ENDS}, {"JobFailedEvent": 1})

    def test_deleted_by_hand(self):
        job_id, path = self.run_one()
        self.plane.ask("DELETE", path)
        self.assert_ends_once(job_id, "the pod was deleted")

    def test_removed_by_force(self):
        job_id, path = self.run_one()
        self.plane.ask("DELETE", f"{path}?gracePeriodSeconds=0")
        self.assert_ends_once(job_id, "the pod was deleted")

    def test_evicted(self):
        job_id, path = self.run_one()
        self.plane.ask(
            "PATCH", f"{path}/status",
            {"status": {"phase": "Failed", "reason": "Evicted",
                        "message": "The node was low on resource: memory."}},
            "application/merge-patch+json")
        self.assert_ends_once(job_id, "low on resource: memory")

    def test_gone_with_its_node(self):
        only = {"key": "lost", "value": "true", "effect": "NoSchedule"}
        self.plane.add_nodes("lost", taints=[only])
        # Until then the server refuses who asks for it.
        harness.wait_for("the server knows the node", lambda: "lost" in
                         self.berth.ctl("get", "nodes").stdout)
        job_id, path = self.run_one(
            tolerations=[only], nodeSelector={"kubernetes.io/hostname": "lost"})
        self.plane.ask("DELETE", "/api/v1/nodes/lost")
        # As the cluster's garbage collector of pods does.
        self.plane.ask("DELETE", f"{path}?gracePeriodSeconds=0")
        self.assert_ends_once(job_id, "gone with its node")

    def make_pod(self, name, **labels):
        self.plane.ask("POST", PODS, {
            "metadata": {"name": name, "labels": labels,
                         "annotations": {"armada_jobset_id": self.set,
                                         "berth.dev/fakeRunMs": str(FOR_EVER)}},
            "spec": {"nodeName": "n1", "containers": [
                {"name": "main", "image": "example.com/job"}]}})

    def test_a_pod_of_no_run_is_deleted(self):
        self.make_pod("foreign")
        self.addCleanup(self.plane.ask, "DELETE",
                        f"{PODS}/foreign?gracePeriodSeconds=0")
        self.make_pod("of-another", armada_job_id="01hf7yat3ve2p6e8yzkdbh5kmb",
                      armada_job_run_id=str(uuid.uuid4()),
                      armada_queue_id="q", **{"berth.dev/executor": "other"})
        self.addCleanup(self.plane.ask, "DELETE",
                        f"{PODS}/of-another?gracePeriodSeconds=0")
        self.make_pod("orphan", armada_job_id="01hf7yat3ve2p6e8yzkdbh5kmb",
                      armada_job_run_id=str(uuid.uuid4()),
                      armada_queue_id="q", **{"berth.dev/executor": "k"})
        harness.wait_for("the orphan is deleted",
                         lambda: sorted(self.cluster.pods()) == [
                             "foreign", "of-another"])


if __name__ == "__main__":
    unittest.main()
