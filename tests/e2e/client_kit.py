"""What test_conformance.py and test_testsuite.py share: Armada's own generated
client code, small pods, and what one job set has shown.

Importing this starts the calling script again with a Python that has
armada-client, or skips it where there is none.
"""

import unittest
import uuid

import bad_input

if bad_input.grpc is None:
    bad_input.main()

import grpc
from armada_client.armada import (
    event_pb2, event_pb2_grpc, health_pb2, job_pb2, job_pb2_grpc, submit_pb2,
    submit_pb2_grpc)
from armada_client.k8s.io.api.core.v1 import generated_pb2 as core_v1
from armada_client.k8s.io.apimachinery.pkg.api.resource import (
    generated_pb2 as resource)

import harness

SECONDS_MAX = harness.patient(60)
TERMINAL = {"succeeded", "cancelled", "failed"}
CONFIG = """
executor:
  process:
    resources: {cpu: 16, memory: 64Gi, ephemeral-storage: 64Gi}
"""


def pod(args, command=(), priority_class="", cpu="50m", **options):
    """A pod as the testsuite's: often `args` without a `command`."""
    quantities = {name: resource.Quantity(string=text) for name, text in
                  {"cpu": cpu, "memory": "16Mi",
                   "ephemeral-storage": "1Mi"}.items()}
    return core_v1.PodSpec(
        containers=[core_v1.Container(
            name="main", image="none", command=command, args=args,
            resources=core_v1.ResourceRequirements(
                requests=quantities, limits=quantities))],
        priorityClassName=priority_class, restartPolicy="Never",
        terminationGracePeriodSeconds=0, **options)


def item(spec, **options):
    """One job of a request; priority 0, as the testsuite's are."""
    return submit_pb2.JobSubmitRequestItem(
        priority=options.pop("priority", 0), namespace="personal-anonymous",
        pod_spec=spec, **options)


class Client:
    """Armada's generated stubs on one channel."""

    def __init__(self, address, **options):
        self.channel = grpc.insecure_channel(address, **options)
        self.submit = submit_pb2_grpc.SubmitStub(self.channel)
        self.queues = submit_pb2_grpc.QueueServiceStub(self.channel)
        self.event = event_pb2_grpc.EventStub(self.channel)
        self.jobs = job_pb2_grpc.JobsStub(self.channel)

    def raw(self, method, message):
        """A call of a service that armada-client has no code for."""
        return self.channel.unary_unary(method)(
            message, timeout=bad_input.CALL_SECONDS_MAX)

    def details(self, *job_ids):
        """Details with their runs, by job id."""
        return self.jobs.GetJobDetails(job_pb2.JobDetailsRequest(
            job_ids=job_ids, expand_job_run=True)).job_details

    def active_queues(self, pool):
        reply = self.jobs.GetActiveQueues(job_pb2.GetActiveQueuesRequest())
        return list(reply.active_queues_by_pool[pool].queues)

    def submit_items(self, queue, job_set, items):
        reply = self.submit.SubmitJobs(submit_pb2.JobSubmitRequest(
            queue=queue, job_set_id=job_set, job_request_items=items))
        return [answer.job_id for answer in reply.job_response_items]

    def events(self, queue, job_set, **options):
        """A stream of (message id, event's name, event)."""
        options.setdefault("watch", False)
        stream = self.event.GetJobSetEvents(event_pb2.JobSetRequest(
            queue=queue, id=job_set, **options), timeout=SECONDS_MAX)
        for message in stream:
            name = message.message.WhichOneof("events")
            yield message.id, name, getattr(message.message, name)

    def follow(self, queue, job_set, is_done, **options):
        """Watch from the start until `is_done(histories)`; those are names
        by job id."""
        histories = {}
        stream = self.events(queue, job_set, watch=True, **options)
        for _, name, event in stream:
            histories.setdefault(event.job_id, []).append(name)
            if is_done(histories):
                stream.close()
                return histories
        raise AssertionError(f"the stream ended: {histories}")


class Case(unittest.TestCase):
    """One server for the class, a queue for it and a job set a test."""

    config = CONFIG

    @classmethod
    def setUpClass(cls):
        cls.berth = harness.Berth(cls.config, arguments=["--stop-jobs"]).start()
        cls.addClassCleanup(cls.berth.close)
        cls.client = Client(cls.berth.grpc)
        cls.addClassCleanup(cls.client.channel.close)
        cls.queue = "e2e-test-queue"
        cls.client.submit.CreateQueue(submit_pb2.Queue(
            name=cls.queue, priority_factor=1))

    def setUp(self):
        self.job_set = "set-" + uuid.uuid4().hex[:8]

    def submit(self, *items):
        return self.client.submit_items(self.queue, self.job_set, items)

    def follow(self, name, job_ids):
        """Watch until each of the jobs has shown that event."""
        return self.client.follow(self.queue, self.job_set, lambda seen: all(
            name in seen.get(job_id, ()) for job_id in job_ids))

    def refused(self, code, call, *arguments, **options):
        """The text of a call that must be refused with that code."""
        with self.assertRaises(grpc.RpcError) as refusal:
            call(*arguments, **options)
        self.assertEqual(refusal.exception.code(), code,
                         refusal.exception.details())
        return refusal.exception.details()


def is_subsequence(wanted, seen):
    rest = iter(seen)
    return all(name in rest for name in wanted)
