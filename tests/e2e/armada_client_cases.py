"""What Armada's own Python client sees of Berth.

Run inside the virtual environment by test_armada_client.py, with the server's
address in $BERTH_GRPC.  Nothing here knows that the server is not Armada's.
"""

import asyncio
import os
import time
import unittest
import uuid

import grpc
from armada_client.armada import health_pb2, submit_pb2
from armada_client.asyncio_client import ArmadaAsyncIOClient
from armada_client.client import ArmadaClient
from armada_client.k8s.io.api.core.v1 import generated_pb2 as core_v1
from armada_client.k8s.io.apimachinery.pkg.api.resource import (
    generated_pb2 as resource)
from armada_client.log_client import JobLogClient
from armada_client.permissions import Permissions, Subject
from armada_client.typings import EventType, JobState

from harness import patient

ADDRESS = os.environ["BERTH_GRPC"]
SECONDS_MAX = patient(40)


def pod(command, cpu="100m", priority_class="", node=None):
    amounts = {"cpu": cpu, "memory": "16Mi", "ephemeral-storage": "16Mi"}
    quantities = {name: resource.Quantity(string=text)
                  for name, text in amounts.items()}
    return core_v1.PodSpec(
        containers=[core_v1.Container(
            name="main", image="none", command=["sh", "-c", command],
            resources=core_v1.ResourceRequirements(
                requests=quantities, limits=quantities))],
        priorityClassName=priority_class, restartPolicy="Never",
        terminationGracePeriodSeconds=0, nodeSelector=node or {})


# A pod that no node here can take.
NOWHERE = {"example.com/nowhere": "true"}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.channel = grpc.insecure_channel(ADDRESS)
        cls.client = ArmadaClient(cls.channel)
        cls.queue = "queue-" + uuid.uuid4().hex[:8]
        cls.client.create_queue(cls.client.create_queue_request(
            name=cls.queue, priority_factor=1.0))

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()

    def setUp(self):
        self.job_set = "set-" + uuid.uuid4().hex[:8]

    def submit(self, *specs, **options):
        """Submit pods; their ids."""
        items = [self.client.create_job_request_item(
            priority=options.get("priority", 1.0), pod_spec=spec,
            namespace="personal-anonymous", client_id=uuid.uuid4().hex,
            annotations=options.get("annotations"),
            labels={"armada": "test"}) for spec in specs]
        reply = self.client.submit_jobs(self.queue, self.job_set, items)
        self.assertEqual([item.error for item in reply.job_response_items],
                         [""] * len(specs))
        return [item.job_id for item in reply.job_response_items]

    def events(self, until, job_id=None, from_id=None):
        """Follow the job set until an event of that type; all seen."""
        seen = []
        stream = self.client.get_job_events_stream(
            queue=self.queue, job_set_id=self.job_set,
            from_message_id=from_id)
        deadline = time.monotonic() + SECONDS_MAX
        for message in stream:
            event = self.client.unmarshal_event_response(message)
            seen.append(event)
            if event.type == until and job_id in (None, event.message.job_id):
                break
            self.assertLess(time.monotonic(), deadline,
                            f"no {until}; seen {[e.type for e in seen]}")
        self.client.unwatch_events(stream)
        return seen

    def wait_state(self, job_id, *states):
        """Poll as the Airflow operator does."""
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            reply = self.client.get_job_status([job_id])
            state = JobState(reply.job_states[job_id])
            if state in states:
                return state
            self.assertLess(time.monotonic(), deadline, f"still {state}")
            time.sleep(0.05)


class Queues(Case):
    def test_queue_is_made_read_changed_and_deleted(self):
        name = "own-" + uuid.uuid4().hex[:8]
        with self.assertRaises(grpc.RpcError) as missing:
            self.client.get_queue(name)
        self.assertEqual(missing.exception.code(), grpc.StatusCode.NOT_FOUND)
        self.client.create_queue(self.client.create_queue_request(
            name=name, priority_factor=3.0, permissions=[Permissions(
                subjects=[Subject("Group", "g")], verbs=["submit"])]))
        queue = self.client.get_queue(name)
        self.assertEqual(queue.priority_factor, 3.0)
        # Owners come first: the caller, since none were named.
        self.assertEqual(queue.permissions[-1].subjects[0].name, "g")
        self.client.update_queue(self.client.create_queue_request(
            name=name, priority_factor=2.0))
        queue = self.client.get_queue(name)
        self.assertEqual(queue.priority_factor, 2.0)
        self.assertEqual(len(queue.permissions), 0)
        self.client.delete_queue(name)
        self.client.delete_queue(name)  # twice is fine
        with self.assertRaises(grpc.RpcError):
            self.client.get_queue(name)

    def test_several_queues_at_once(self):
        names = [f"batch-{uuid.uuid4().hex[:8]}" for _ in range(3)]
        made = self.client.create_queues(
            [self.client.create_queue_request(name=name, priority_factor=1.0)
             for name in names])
        self.assertEqual(len(made.failed_queues), 0)
        changed = self.client.update_queues(
            [self.client.create_queue_request(name=name, priority_factor=2.0)
             for name in names])
        self.assertEqual(len(changed.failed_queues), 0)
        found = {queue.name: queue.priority_factor
                 for queue in self.client.get_queues()}
        self.assertEqual([found[name] for name in names], [2.0] * 3)

    def test_bad_queue_is_refused(self):
        with self.assertRaises(grpc.RpcError) as refused:
            self.client.create_queue(self.client.create_queue_request(
                name="bad", priority_factor=0.5))
        self.assertEqual(refused.exception.code(),
                         grpc.StatusCode.INVALID_ARGUMENT)


class Jobs(Case):
    def test_job_runs_and_its_events_come_in_order(self):
        job_id, = self.submit(pod("echo hello"))
        types = [event.type for event in self.events(EventType.succeeded)]
        wanted = [EventType.submitted, EventType.queued, EventType.leased,
                  EventType.pending, EventType.running, EventType.succeeded]
        self.assertEqual([t for t in types if t in wanted], wanted)
        self.assertEqual(self.wait_state(job_id, JobState.SUCCEEDED),
                         JobState.SUCCEEDED)

    def test_stream_goes_on_from_an_id(self):
        self.submit(pod("true"))
        seen = self.events(EventType.succeeded)
        again = self.events(EventType.succeeded, from_id=seen[1].id)
        self.assertEqual([event.id for event in again],
                         [event.id for event in seen[2:]])

    def test_missing_job_set_is_not_found(self):
        stream = self.client.get_job_events_stream(
            queue=self.queue, job_set_id="never")
        with self.assertRaises(grpc.RpcError) as missing:
            next(stream)
        self.assertEqual(missing.exception.code(), grpc.StatusCode.NOT_FOUND)

    def test_failed_job_says_why(self):
        job_id, = self.submit(pod("echo trouble >&2; exit 7"))
        event = self.events(EventType.failed)[-1]
        self.assertEqual(event.message.container_statuses[0].exitCode, 7)
        self.wait_state(job_id, JobState.FAILED)
        errors = self.client.get_job_errors([job_id]).job_errors
        self.assertIn("exit code 7", errors[job_id])

    def test_submitting_twice_with_one_client_id_makes_one_job(self):
        item = self.client.create_job_request_item(
            pod_spec=pod("true"), namespace="default", client_id="same-id")
        ids = [self.client.submit_jobs(self.queue, self.job_set, [item])
               .job_response_items[0].job_id for _ in range(2)]
        self.assertEqual(ids[0], ids[1])

    def test_bad_job_is_refused_whole(self):
        bad = pod("true")
        bad.containers[0].resources.Clear()
        with self.assertRaises(grpc.RpcError) as refused:
            self.submit(pod("true"), bad)
        self.assertEqual(refused.exception.code(),
                         grpc.StatusCode.INVALID_ARGUMENT)

    def test_unknown_queue_is_denied(self):
        item = self.client.create_job_request_item(pod_spec=pod("true"),
                                                   namespace="default")
        with self.assertRaises(grpc.RpcError) as denied:
            self.client.submit_jobs("no-such-queue", "s", [item])
        self.assertEqual(denied.exception.code(),
                         grpc.StatusCode.PERMISSION_DENIED)
        self.assertIn('could not find queue "no-such-queue"',
                      denied.exception.details())

    def test_cancel_by_id(self):
        job_id, = self.submit(pod("sleep 100"))
        self.events(EventType.running)
        reply = self.client.cancel_jobs(self.queue, self.job_set, job_id)
        self.assertEqual(list(reply.cancelled_ids), [job_id])
        types = [event.type for event in self.events(EventType.cancelled)]
        self.assertIn(EventType.cancelling, types)
        self.wait_state(job_id, JobState.CANCELLED)

    def test_cancel_by_job_set_and_state(self):
        waiting, = self.submit(pod("true", node=NOWHERE, cpu="100"))
        self.wait_state(waiting, JobState.QUEUED, JobState.REJECTED)
        running, = self.submit(pod("sleep 100"))
        self.wait_state(running, JobState.RUNNING)
        self.client.cancel_jobset(self.queue, self.job_set,
                                  [JobState.RUNNING, JobState.PENDING])
        self.wait_state(running, JobState.CANCELLED)
        self.client.cancel_jobset(self.queue, self.job_set, [])

    def test_cancel_without_an_id_cancels_the_set(self):
        ids = self.submit(pod("sleep 100"), pod("sleep 100"))
        for job_id in ids:
            self.wait_state(job_id, JobState.RUNNING)
        self.client.cancel_jobs(self.queue, self.job_set)
        for job_id in ids:
            self.wait_state(job_id, JobState.CANCELLED)

    def test_reprioritise_by_id_and_by_set(self):
        job_id, = self.submit(pod("sleep 3"))
        reply = self.client.reprioritize_jobs(
            new_priority=5.0, job_ids=[job_id], job_set_id=self.job_set,
            queue=self.queue)
        self.assertIn(job_id, reply.reprioritization_results)
        event = self.events(EventType.reprioritized)[-1]
        self.assertEqual(event.message.new_priority, 5.0)
        self.client.reprioritize_jobs(
            new_priority=7.0, job_ids=None, job_set_id=self.job_set,
            queue=self.queue)
        events = self.events(EventType.reprioritized, from_id=event.id)
        self.assertEqual(events[-1].message.new_priority, 7.0)
        self.client.cancel_jobset(self.queue, self.job_set, [])

    def test_preempt(self):
        job_id, = self.submit(pod("sleep 100",
                                  priority_class="armada-preemptible"))
        self.events(EventType.running)
        self.client.preempt_jobs(self.queue, self.job_set, job_id)
        # Preempted, and then failed: TRAP-06.
        types = [event.type for event in self.events(EventType.failed)]
        self.assertLess(types.index(EventType.preempted),
                        types.index(EventType.failed))
        self.wait_state(job_id, JobState.PREEMPTED)

    def test_gang_starts_together(self):
        annotations = {"armadaproject.io/gangId": uuid.uuid4().hex,
                       "armadaproject.io/gangCardinality": "2"}
        first, second = self.submit(pod("true"), pod("true"),
                                    annotations=annotations)
        self.wait_state(first, JobState.SUCCEEDED)
        self.wait_state(second, JobState.SUCCEEDED)


class Queries(Case):
    def test_details_have_the_job_and_its_runs(self):
        job_id, = self.submit(pod("true"))
        self.wait_state(job_id, JobState.SUCCEEDED)
        details = self.client.get_job_details([job_id]).job_details[job_id]
        self.assertEqual(details.queue, self.queue)
        self.assertEqual(details.jobset, self.job_set)
        self.assertEqual(details.namespace, "personal-anonymous")
        self.assertEqual(JobState(details.state), JobState.SUCCEEDED)
        self.assertEqual(len(details.job_runs), 1)
        run_id = details.latest_run_id
        self.assertEqual(details.job_runs[0].run_id, run_id)
        runs = self.client.get_job_run_details([run_id]).job_run_details
        self.assertEqual(runs[run_id].job_id, job_id)
        self.assertTrue(runs[run_id].cluster)
        self.assertTrue(runs[run_id].node)

    def test_unknown_jobs_are_unknown(self):
        unknown = "01h00000000000000000000000"
        states = self.client.get_job_status([unknown]).job_states
        self.assertEqual(JobState(states[unknown]), JobState.UNKNOWN)
        self.assertEqual(
            len(self.client.get_job_details([]).job_details), 0)

    def test_status_by_external_uri(self):
        item = self.client.create_job_request_item(
            pod_spec=pod("true"), namespace="default")
        item.external_job_uri = "airflow://dag/task/run/-1"
        reply = self.client.submit_jobs(self.queue, self.job_set, [item])
        job_id = reply.job_response_items[0].job_id
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            states = self.client.get_job_status_by_external_job_uri(
                queue=self.queue, job_set_id=self.job_set,
                external_job_uri=item.external_job_uri).job_states
            if job_id in states:
                break
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_logs(self):
        job_id, = self.submit(pod("echo one; echo two"))
        self.wait_state(job_id, JobState.SUCCEEDED)
        lines = JobLogClient(ADDRESS, job_id, disable_ssl=True).logs()
        self.assertEqual([line.line for line in lines], ["one", "two"])

    def test_health(self):
        serving = health_pb2.HealthCheckResponse.SERVING
        self.assertEqual(self.client.submit_health().status, serving)
        self.assertEqual(self.client.event_health().status, serving)

    def test_many_jobs_in_one_request(self):
        ids = self.submit(*[pod("true", cpu="10m") for _ in range(100)])
        self.assertEqual(len(set(ids)), 100)
        self.assertEqual(ids, sorted(ids))
        self.client.cancel_jobset(self.queue, self.job_set, [])


class Asynchronous(unittest.TestCase):
    def test_submit_and_watch(self):
        async def run():
            async with grpc.aio.insecure_channel(ADDRESS) as channel:
                client = ArmadaAsyncIOClient(channel)
                queue = "async-" + uuid.uuid4().hex[:8]
                await client.create_queue(submit_pb2.Queue(
                    name=queue, priority_factor=1.0))
                item = client.create_job_request_item(
                    pod_spec=pod("true"), namespace="default")
                reply = await client.submit_jobs(queue, "set", [item])
                job_id = reply.job_response_items[0].job_id
                stream = await client.get_job_events_stream(
                    queue=queue, job_set_id="set")
                async for message in stream:
                    event = client.unmarshal_event_response(message)
                    if event.type == EventType.succeeded:
                        return event.message.job_id == job_id
            return False

        self.assertTrue(asyncio.run(asyncio.wait_for(run(), SECONDS_MAX)))


if __name__ == "__main__":
    unittest.main()
