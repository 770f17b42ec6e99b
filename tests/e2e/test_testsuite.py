"""Armada's testsuite in our own words: its cases that make sense without
Kubernetes, each a row of TABLE (armada-api.md 5.7).

Every job must show the expected events as a subsequence, in order, before any
terminal event that is not expected.  Left out: what needs a cluster (images,
namespaces, services, ingresses, shared volumes, the kernel's memory killer,
GPUs) and the larger performance cases, which bench/ covers.
"""

import uuid

import client_kit as kit
from bad_input import field, main
from client_kit import grpc, submit_pb2

DONE = ("submitted", "succeeded")
CANCELLED = ("submitted", "cancelled")
REPRIORITIZED = ("submitted", "reprioritized")
SLEEP = ["sleep", "100"]
GANG = {"armadaproject.io/gangId": "my-gang",
        "armadaproject.io/gangCardinality": "3"}

# name: (batches, size, events expected, args, more)
TABLE = {
    "basic/submit_1x1": (1, 1, DONE, ["true"], {}),
    "basic/submit_2x3": (2, 3, DONE, ["true"], {}),
    "basic/submit_random_clientid": (1, 3, DONE, ["true"],
                                     {"has_client_ids": True}),
    "basic/priorityclass_default": (1, 1, DONE, ["true"],
                                    {"class": "armada-default"}),
    "basic/gang": (1, 3, DONE, ["true"], {"annotations": GANG}),
    "basic/failure_1x1": (1, 1, ("submitted", "failed"), ["exit", "1"], {}),
    "basic/cancel_by_id_1x1": (1, 1, CANCELLED, SLEEP,
                               {"act": "cancel_by_id"}),
    "basic/cancel_by_ids_1x10": (1, 10, CANCELLED, SLEEP,
                                 {"act": "cancel_by_ids"}),
    "basic/cancel_by_set_1x1": (1, 1, CANCELLED, SLEEP,
                                {"act": "cancel_by_set"}),
    "basic/jobset_cancel_by_set_1x5": (1, 5, CANCELLED, SLEEP,
                                       {"act": "cancel_job_set"}),
    "basic/jobset_cancel_inactive": (1, 5, CANCELLED, SLEEP,
                                     {"act": "cancel_job_set"}),
    "node/node_cancel_by_name_1x5": (
        1, 5, CANCELLED, SLEEP, {"act": "cancel_on_node", "when": "leased"}),
    "node/node_preempt_by_name_1x5": (
        1, 5, ("submitted", "preempted", "failed"), SLEEP,
        {"act": "preempt_on_node", "when": "leased",
         "class": "armada-preemptible"}),
    "performance/submit_1x1K": (1, 1000, DONE, ["true"], {"cpu": "10m"}),
    "preemption/preempt_by_id_1x1": (
        1, 1, ("submitted", "preempted"), SLEEP,
        {"act": "preempt", "when": "running", "class": "armada-preemptible"}),
    "preemption/preempt_by_ids_1x5": (
        1, 5, ("submitted", "preempted"), SLEEP,
        {"act": "preempt", "when": "running", "class": "armada-preemptible"}),
    "reprioritization/reprioritize_by_id_1x1": (
        1, 1, REPRIORITIZED, SLEEP, {"act": "reprioritize",
                                     "when": "running"}),
    "reprioritization/reprioritize_by_id_1x5": (
        1, 5, REPRIORITIZED, SLEEP, {"act": "reprioritize",
                                     "when": "running"}),
    "reprioritization/reprioritize_by_jobset_1x1": (
        1, 1, REPRIORITIZED, SLEEP, {"act": "reprioritize_job_set",
                                     "when": "running"}),
    "reprioritization/reprioritize_by_jobset_1x5": (
        1, 5, REPRIORITIZED, SLEEP, {"act": "reprioritize_job_set",
                                     "when": "running"}),
}


class Actions:
    """What a case does once every job has shown its trigger."""

    def __init__(self, client, queue, job_set, job_ids):
        self.client, self.job_ids = client, job_ids
        self.named = {"queue": queue, "job_set_id": job_set}

    def cancel_by_id(self):
        self.client.submit.CancelJobs(submit_pb2.JobCancelRequest(
            job_id=self.job_ids[0], **self.named))

    def cancel_by_ids(self):
        self.client.submit.CancelJobs(submit_pb2.JobCancelRequest(
            job_ids=self.job_ids, **self.named))

    def cancel_by_set(self):
        self.client.submit.CancelJobs(submit_pb2.JobCancelRequest(
            **self.named))

    def cancel_job_set(self):
        self.client.submit.CancelJobSet(submit_pb2.JobSetCancelRequest(
            **self.named))

    def preempt(self):
        self.client.submit.PreemptJobs(submit_pb2.JobPreemptRequest(
            job_ids=self.job_ids, reason="testsuite", **self.named))

    def reprioritize(self):
        self.client.submit.ReprioritizeJobs(
            submit_pb2.JobReprioritizeRequest(
                job_ids=self.job_ids, new_priority=100, **self.named))

    def reprioritize_job_set(self):
        self.client.submit.ReprioritizeJobs(
            submit_pb2.JobReprioritizeRequest(new_priority=100, **self.named))

    def on_node(self, method, priority_class):
        run = self.client.details(*self.job_ids)[self.job_ids[0]].job_runs[0]
        self.client.raw("/api.Node/" + method, b"".join((
            field(1, run.node), field(2, run.cluster),
            field(3, self.named["queue"]), field(4, priority_class))))

    def cancel_on_node(self):
        self.on_node("CancelOnNode", "armada-default")

    def preempt_on_node(self):
        self.on_node("PreemptOnNode", "armada-preemptible")


class Testsuite(kit.Case):
    config = kit.CONFIG + """
  errorCategories:
    categories:
      - name: oom
        rules: [{onConditions: [OOMKilled]}]
      - name: user_error
        rules: [{onExitCodes: {operator: NotIn, values: [127]},
                 subcategory: code}]
"""

    def submit_batches(self, batches, size, args, more):
        items = [kit.item(kit.pod(args, priority_class=more.get("class", ""),
                                  cpu=more.get("cpu", "50m")),
                          client_id=uuid.uuid4().hex
                          if more.get("has_client_ids") else "",
                          annotations=more.get("annotations"))
                 for _ in range(size)]
        job_ids = []
        for _ in range(batches):
            if more.get("has_client_ids"):
                for job in items:
                    job.client_id = uuid.uuid4().hex
            job_ids += self.submit(*items)
        self.assertEqual(len(set(job_ids)), batches * size)
        return job_ids

    def run_case(self, batches, size, wanted, args, more):
        self.job_set = "case-" + uuid.uuid4().hex[:8]
        job_ids = self.submit_batches(batches, size, args, more)
        act = more.get("act")
        if act:
            self.follow(more.get("when", "queued"), job_ids)
            getattr(Actions(self.client, self.queue, self.job_set, job_ids),
                    act)()

        def is_met(histories):
            for seen in histories.values():
                for place, name in enumerate(seen):
                    if name in kit.TERMINAL and not kit.is_subsequence(
                            wanted, seen[:place + 1]):
                        raise AssertionError(f"ended too soon: {seen}")
            return len(histories) == len(job_ids) and all(
                kit.is_subsequence(wanted, seen)
                for seen in histories.values())

        self.client.follow(self.queue, self.job_set, is_met)
        # The runner's clean-up must not fail, also when nothing is left.
        for _ in range(2):
            self.client.submit.CancelJobSet(submit_pb2.JobSetCancelRequest(
                queue=self.queue, job_set_id=self.job_set))

    def test_categorization_user_error(self):
        own, startless = self.submit(
            kit.item(kit.pod(["-c", "exit 3"], command=["sh"])),
            kit.item(kit.pod(["exit", "3"])))
        self.follow("failed", (own, startless))
        told = {event.job_id: (event.failure_category,
                               event.failure_subcategory)
                for _, name, event in self.client.events(
                    self.queue, self.job_set, watch=False)
                if name == "failed"}
        self.assertEqual(told, {own: ("user_error", "code"),
                                startless: ("", "")})

    def test_queue_active_list_1x1(self):
        queue = "e2e-test-queue-active-" + uuid.uuid4().hex[:8]
        self.client.queues.CreateQueue(submit_pb2.Queue(
            name=queue, priority_factor=1))
        job_id, = self.client.submit_items(
            queue, "set", [kit.item(kit.pod(SLEEP))])
        self.client.follow(queue, "set", lambda seen: kit.is_subsequence(
            ("submitted", "running"), seen.get(job_id, ())))
        kit.harness.wait_for("the queue is active", lambda: queue in
                             self.client.active_queues("default"))
        self.client.submit.CancelJobSet(submit_pb2.JobSetCancelRequest(
            queue=queue, job_set_id="set"))
        self.client.follow(queue, "set", lambda seen: "cancelled" in
                           seen.get(job_id, ()))
        self.delete(queue)

    def delete(self, queue):
        self.client.queues.DeleteQueue(submit_pb2.QueueDeleteRequest(
            name=queue))
        self.refused(grpc.StatusCode.NOT_FOUND, self.client.queues.GetQueue,
                     submit_pb2.QueueGetRequest(name=queue))

    def queue_names(self):
        stream = self.client.queues.GetQueues(
            submit_pb2.StreamingQueueGetRequest())
        return {message.queue.name for message in stream
                if message.WhichOneof("event") == "queue"}

    def test_queue_crud_1x1(self):
        name = "crud-" + uuid.uuid4().hex[:8]
        self.client.queues.CreateQueue(submit_pb2.Queue(
            name=name, priority_factor=3))
        changed = submit_pb2.Queue(name=name, priority_factor=2)
        self.client.queues.UpdateQueue(changed)
        self.assertIn(name, self.queue_names())
        # The whole message: nothing is filled in by the server.
        self.assertEqual(self.client.queues.GetQueue(
            submit_pb2.QueueGetRequest(name=name)), changed)
        self.delete(name)

    def test_queue_crud_batch_5x5(self):
        for _ in range(5):
            queues = [submit_pb2.Queue(name="crud-" + uuid.uuid4().hex[:8],
                                       priority_factor=1) for _ in range(5)]
            made = self.client.queues.CreateQueues(
                submit_pb2.QueueList(queues=queues))
            self.assertEqual(len(made.failed_queues), 0)
            for queue in queues:
                queue.cordoned = True
            changed = self.client.queues.UpdateQueues(
                submit_pb2.QueueList(queues=queues))
            self.assertEqual(len(changed.failed_queues), 0)
            for queue in queues:
                self.assertEqual(self.client.queues.GetQueue(
                    submit_pb2.QueueGetRequest(name=queue.name)), queue)
                self.delete(queue.name)


def add_cases():
    for name, row in TABLE.items():
        def case(self, row=row):
            self.run_case(*row)
        setattr(Testsuite, "test_" + name.replace("/", "_"), case)


add_cases()

if __name__ == "__main__":
    main()
