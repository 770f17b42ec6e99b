"""The conformance checklist of armada-api.md, Appendix B, by row, and the
traps of its section 9 that are about clients.

Rows 3, 7, 8 and 9 are test_testsuite.py as well, row 14 is
test_armada_client.py.  Not there yet: row 12, the REST gateway, and row 15's
`considered_jobs`.
"""

import os
import urllib.request
import uuid

import client_kit as kit
from bad_input import main
from client_kit import grpc, health_pb2, job_pb2, submit_pb2

from google.protobuf import empty_pb2

SERVING = health_pb2.HealthCheckResponse.SERVING
FAKE = """
executor:
  fake:
    runTime: 200ms
    nodes:
      - name: n
        count: 2
        resources: {cpu: 2, memory: 4Gi, ephemeral-storage: 16Gi}
        labels: [tier=fake]
"""


def sleeper(**options):
    return kit.item(kit.pod(["sleep", "100"]), **options)


class Conformance(kit.Case):
    def names(self, **options):
        return [name for _, name, _ in self.client.events(
            self.queue, self.job_set, **options)]

    def cancel_all(self):
        self.client.submit.CancelJobSet(submit_pb2.JobSetCancelRequest(
            queue=self.queue, job_set_id=self.job_set))

    def http(self, path):
        with urllib.request.urlopen(f"http://{self.berth.http}{path}",
                                    timeout=kit.harness.patient(20)) as reply:
            return reply.status, reply.read().decode()

    def test_row_01_health(self):
        for service in (self.client.submit, self.client.event):
            self.assertEqual(service.Health(empty_pb2.Empty()).status, SERVING)
        self.assertEqual(self.http("/health"), (204, ""))

    def test_row_02_trap_01_gzip_on_every_call(self):
        """TRAP-01: Go's clients compress all they send."""
        client = kit.Client(self.berth.grpc, compression=grpc.Compression.Gzip)
        self.addCleanup(client.channel.close)
        queues = [message.WhichOneof("event") for message in
                  client.queues.GetQueues(
                      submit_pb2.StreamingQueueGetRequest())]
        self.assertEqual(queues[-1], "end")
        job_id, = client.submit_items(self.queue, self.job_set, [
            kit.item(kit.pod(["true"]), annotations={"long": "x" * 4000})])
        client.follow(self.queue, self.job_set, lambda seen: "succeeded" in
                      seen.get(job_id, ()))

    def test_who_submits_and_then_reads_sees_it(self):
        for number in range(30):
            job_set = f"{self.job_set}-{number}"
            job_id, = self.client.submit_items(
                self.queue, job_set, [kit.item(kit.pod(["true"]))])
            self.assertIn((job_id, "submitted"), [
                (event.job_id, name) for _, name, event in
                self.client.events(self.queue, job_set)])

    def test_row_04_ids_come_in_the_order_of_the_items(self):
        job_ids = self.submit(*[kit.item(kit.pod(["true"]),
                                         labels={"place": str(place)})
                                for place in range(3)])
        places = {event.job_id: event.job.labels["place"]
                  for _, name, event in self.client.events(
                      self.queue, self.job_set) if name == "submitted"}
        self.assertEqual([places[job_id] for job_id in job_ids],
                         ["0", "1", "2"])

    def test_row_05_trap_11_client_ids(self):
        """TRAP-11: across job sets, but not inside one request."""
        first, = self.submit(sleeper(client_id="x"))
        other = self.job_set + "-other"
        again, = self.client.submit_items(self.queue, other,
                                          [sleeper(client_id="x")])
        self.assertEqual(again, first)
        self.assertEqual(list(self.client.events(self.queue, other)), [])
        self.assertEqual(self.names().count("submitted"), 1)
        twice = self.submit(sleeper(client_id="y"), sleeper(client_id="y"))
        self.assertEqual(len(set(twice)), 2)
        self.cancel_all()

    def test_row_06_stream_goes_on_and_ends(self):
        job_id, = self.submit(kit.item(kit.pod(["true"])))
        self.follow("succeeded", [job_id])
        seen = list(self.client.events(self.queue, self.job_set))
        for place, (message_id, _, _) in enumerate(seen):
            rest = self.client.events(self.queue, self.job_set,
                                      from_message_id=message_id)
            self.assertEqual([id_ for id_, _, _ in rest],
                             [id_ for id_, _, _ in seen[place + 1:]])

    def test_row_06_trap_16_a_missing_job_set(self):
        """TRAP-16: errorIfMissing answers, and does not hang."""
        for watch in (False, True):
            self.refused(grpc.StatusCode.NOT_FOUND, lambda watch=watch: next(
                self.client.events(self.queue, "never", watch=watch,
                                   errorIfMissing=True)))
        self.assertEqual(list(self.client.events(
            self.queue, "never", errorIfMissing=False)), [])

    def test_row_07_cancelling_comes_before_cancelled(self):
        job_id, = self.submit(sleeper())
        self.follow("running", [job_id])
        reply = self.client.submit.CancelJobs(submit_pb2.JobCancelRequest(
            queue=self.queue, job_set_id=self.job_set, job_id=job_id))
        self.assertEqual(list(reply.cancelled_ids), [job_id])
        seen = self.follow("cancelled", [job_id])[job_id]
        self.assertTrue(kit.is_subsequence(("cancelling", "cancelled"), seen))

    def test_row_07_trap_16_cancel_without_an_id(self):
        """TRAP-16: it means the whole job set."""
        job_ids = self.submit(sleeper(), sleeper())
        reply = self.client.submit.CancelJobs(submit_pb2.JobCancelRequest(
            queue=self.queue, job_set_id=self.job_set))
        self.assertEqual(list(reply.cancelled_ids), [""])
        self.follow("cancelled", job_ids)

    def test_row_08_a_preempted_job_fails(self):
        job_id, = self.submit(kit.item(kit.pod(
            ["sleep", "100"], priority_class="armada-preemptible")))
        self.follow("running", [job_id])
        self.client.submit.PreemptJobs(submit_pb2.JobPreemptRequest(
            queue=self.queue, job_set_id=self.job_set, job_ids=[job_id],
            reason="room"))
        seen = self.follow("failed", [job_id])[job_id]
        self.assertTrue(kit.is_subsequence(
            ("preempting", "preempted", "failed"), seen))
        failed = [event for _, name, event in self.client.events(
            self.queue, self.job_set) if name == "failed"]
        self.assertEqual(failed[0].reason, "Preempted by anonymous - room")

    def test_row_09_priorities_of_ids_and_of_the_whole_set(self):
        job_id, = self.submit(sleeper())
        for priority, job_ids in ((7, [job_id]), (9, [])):
            self.client.submit.ReprioritizeJobs(
                submit_pb2.JobReprioritizeRequest(
                    queue=self.queue, job_set_id=self.job_set,
                    job_ids=job_ids, new_priority=priority))

            def has_it(priority=priority):
                return priority in [
                    event.new_priority for _, name, event in
                    self.client.events(self.queue, self.job_set)
                    if name == "reprioritized"]
            kit.harness.wait_for(f"priority {priority}", has_it)
        self.cancel_all()

    def test_row_11_queries(self):
        unknown = "01h00000000000000000000000"
        states = self.client.jobs.GetJobStatus(job_pb2.JobStatusRequest(
            job_ids=[unknown])).job_states
        self.assertEqual(states[unknown], submit_pb2.JobState.UNKNOWN)
        self.assertEqual(len(self.client.details()), 0)

    def test_row_13_error_texts(self):
        code = grpc.StatusCode
        cancel = submit_pb2.JobCancelRequest(
            queue=self.queue, job_set_id="s", reason="x" * 51)
        self.refused(code.INVALID_ARGUMENT, self.client.submit.CancelJobs,
                     cancel)
        nameless = sleeper()
        nameless.namespace = ""
        self.assertIn("namespace is a required field", self.refused(
            code.INVALID_ARGUMENT, self.submit, nameless))
        self.assertIn('could not find queue "no-such"', self.refused(
            code.PERMISSION_DENIED, self.client.submit_items, "no-such", "s",
            [sleeper()]))

    def test_row_15_metrics(self):
        job_id, = self.submit(sleeper())
        self.follow("running", [job_id])

        text = self.http("/metrics")[1]
        labels = f'queue="{self.queue}"'
        for series in (f'armada_queue_size{{queueName="{self.queue}",{labels},',
                       *(f'armada_scheduler_{name}{{pool="default",{labels}}}'
                         for name in ("fair_share", "adjusted_fair_share",
                                      "actual_share", "demand",
                                      "queue_weight")),
                       'armada_queue_resource_allocated{pool="default",'
                       f'queueName="{self.queue}",{labels},'
                       'resourceType="memory"} '):
            self.assertIn("\n" + series, text)
        self.cancel_all()

    def test_trap_16_args_without_a_command(self):
        """TRAP-16: the args are the argv; `exit` is no program; priority 0
        and a grace period of 0 seconds, which becomes 1, are normal."""
        good, bad = self.submit(kit.item(kit.pod(["sleep", "0.01"])),
                                kit.item(kit.pod(["exit", "1"])))
        self.follow("succeeded", [good])
        self.follow("failed", [bad])
        job = next(event.job for _, name, event in self.client.events(
            self.queue, self.job_set) if name == "submitted")
        self.assertEqual(job.priority, 0)
        self.assertEqual(job.pod_spec.terminationGracePeriodSeconds, 1)


class Executors(kit.unittest.TestCase):
    def test_row_10_an_executor_connects_leases_and_reports(self):
        with kit.harness.Berth(standalone=False) as berth:
            executor = kit.harness.Executor(
                berth.grpc, "second", berth.folder / "second", FAKE).start()
            self.addCleanup(executor.stop)
            client = kit.Client(berth.grpc)
            self.addCleanup(client.channel.close)
            client.submit.CreateQueue(submit_pb2.Queue(
                name="q", priority_factor=1))

            def is_known():
                with urllib.request.urlopen(
                        f"http://{berth.http}/metrics",
                        timeout=kit.harness.patient(20)) as reply:
                    return b"\nberth_nodes 2\n" in reply.read()
            kit.harness.wait_for("its nodes are known", is_known)
            job_id, = client.submit_items("q", "s", [kit.item(kit.pod(
                ["true"], nodeSelector={"tier": "fake"}))])
            client.follow("q", "s", lambda seen: "succeeded" in
                          seen.get(job_id, ()))

            def runs():
                return client.details(job_id)[job_id].job_runs
            run = kit.harness.wait_for("its run is told", runs)[0]
            self.assertEqual(run.cluster, "second")

    def test_row_10_a_lost_query_store_is_made_anew(self):
        """Nothing that runs is touched by it."""
        with kit.harness.Berth(kit.CONFIG) as berth:
            client = kit.Client(berth.grpc)
            client.submit.CreateQueue(submit_pb2.Queue(
                name="q", priority_factor=1))
            flag = berth.meeting / ("go-" + uuid.uuid4().hex)
            job_id, = client.submit_items("q", "s", [kit.item(kit.pod(
                [f"until [ -e {flag} ]; do sleep 0.05; done"],
                command=["sh", "-c"]))])
            client.follow("q", "s", lambda seen: "running" in
                          seen.get(job_id, ()))
            client.channel.close()
            berth.stop()
            for name in os.listdir(berth.data):
                if name.startswith("store.db"):
                    os.remove(berth.data / name)
            berth.start()
            client = kit.Client(berth.grpc)
            flag.touch()
            client.follow("q", "s", lambda seen: "succeeded" in
                          seen.get(job_id, ()))

            def runs():
                return client.details(job_id)[job_id].job_runs
            self.assertEqual(len(kit.harness.wait_for("runs", runs)), 1)
            client.channel.close()


if __name__ == "__main__":
    main()
