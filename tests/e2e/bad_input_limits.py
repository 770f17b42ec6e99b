"""Much of everything: names at their limits, 100,000 queues, and jobs that
each are a scheduling class of their own.

    bad_input_limits.py [--full]    (with --full a million such jobs)
"""

import concurrent.futures
import json
import re
import sys
import threading
import time
import urllib.request

import bad_input
import harness
from bad_input import MIB, Client, Pulse, field, fields_of, item, pair, pod, \
    queue, submission

FULL = "--full" in sys.argv
if FULL:
    sys.argv.remove("--full")
CLASSES = 1000000 if FULL else 50000
CLASSES_PER_REQUEST = 10000 if FULL else 5000
QUEUES = 100000
QUEUES_PER_REQUEST = 10000
SUBMIT = "/api.Submit/SubmitJobs"


class Names(bad_input.Case):
    def outcome(self, request):
        return self.client.outcome(SUBMIT, request)

    def test_a_job_set_has_at_most_1023_bytes(self):
        self.client.make_queue("sets")
        code, text = self.outcome(submission("sets", "s" * 1023, [item()]))
        self.assertEqual(code, "OK", text)
        code, text = self.outcome(submission("sets", "s" * 1024, [item()]))
        self.assertEqual(code, "INVALID_ARGUMENT")
        self.assertEqual(text, "job set id of length 1024 must be less than "
                               "max character length 1024")

    def test_a_long_job_set_can_be_read_back(self):
        self.client.make_queue("back")
        name = "\u00fc" * 511
        self.client.submit("back", name, [item()])
        request = field(1, name) + field(4, "back")

        def events():
            return list(self.client.stream("/api.Event/GetJobSetEvents",
                                           request))
        harness.wait_for("its events", lambda: len(events()) >= 2)

    def test_a_client_id_has_at_most_100_bytes(self):
        self.client.make_queue("ids")
        ids = [self.client.submit("ids", "s", [item(client_id="c" * 100)])
               for _ in range(2)]
        self.assertEqual(ids[0], ids[1])
        code, text = self.outcome(submission("ids", "s", [
            item(client_id="c" * 101)]))
        self.assertEqual(code, "INVALID_ARGUMENT")
        self.assertIn("101", text)

    def test_a_pod_spec_has_at_most_65535_bytes(self):
        self.client.make_queue("pods")
        # Counted as Go would encode it, which is a little longer than here.
        _, text = self.outcome(submission("pods", "s", [
            item(pod(command=["x" * 65440]))]))
        counted = int(re.search(r"size of (\d+) bytes", text)[1])
        room = 65535 - (counted - 65440)
        for count, wanted in ((room, "OK"), (room + 1, "INVALID_ARGUMENT")):
            code, text = self.outcome(submission("pods", "s", [
                item(pod(command=["x" * count]))]))
            self.assertEqual(code, wanted, text)
        self.assertEqual(text, "Pod spec has a size of 65536 bytes which is "
                               "greater than the maximum allowed size of "
                               "65535")

    def test_a_queue_with_a_long_name_is_made_or_refused(self):
        made = 0
        for size in (1, 253, 1023, 1024, 1025, 100000):
            name = "q" * size
            code, text = self.client.outcome("/api.Submit/CreateQueue",
                                             queue(name))
            self.assertIn(code, {"OK", "INVALID_ARGUMENT"}, text)
            self.assertLess(len(text), 4096)
            if code == "OK":
                made += 1
                self.assertEqual(
                    len(self.client.submit(name, "s", [item()])), 1)
        self.assertGreater(made, 2)

    def test_names_with_every_character_are_told_apart(self):
        names = ["a b", "a/b", "a\nb", "a'b", 'a"b', "a%sb", "a\\b", "../a",
                 "\u202eab", "\U0001f9ca", "A", "a", "\x7f", "\x01"]
        made = []
        for name in names:
            code, text = self.client.outcome("/api.Submit/CreateQueue",
                                             queue(name))
            self.assertIn(code, {"OK", "INVALID_ARGUMENT"}, text)
            if code == "OK":
                made.append(name)
        jobs = [self.client.submit(name, name, [item(client_id="same")])[0]
                for name in made]
        self.assertEqual(len(set(jobs)), len(made))
        for name in made:
            reply = self.client.call("/api.Submit/GetQueue", field(1, name))
            self.assertEqual(bad_input.texts(reply, 1), [name])

    def test_labels_and_annotations_fill_a_request(self):
        self.client.make_queue("labels")
        big = pair(5, "k", "v" * (3 * MIB))
        many = b"".join(pair(4, f"key-{i}", "value") for i in range(20000))
        for extra in (big, many):
            code, text = self.outcome(submission("labels", "s",
                                                 [item(extra=extra)]))
            self.assertIn(code, {"OK", "INVALID_ARGUMENT",
                                 "RESOURCE_EXHAUSTED"}, text[:200])
            self.assertLess(len(text), 4096)
        with Pulse(self.berth.grpc, "labels-pulse") as pulse:
            harness.wait_for("more jobs", lambda: pulse.count > 3)
        self.assertIsNone(pulse.error)

    def test_the_items_of_a_request_are_many(self):
        self.client.make_queue("items")
        one = item(field(2, field(1, "c") + field(8, b"")))
        small = item(pod(command=[]))
        count = 3 * MIB // (len(small) + 4)
        self.assertEqual(len(self.client.submit("items", "s",
                                                [small] * count)), count)
        code, text = self.outcome(submission("items", "s", [one] * 100000))
        self.assertEqual(code, "INVALID_ARGUMENT", text)

    def test_a_hundred_thousand_ids_in_a_request(self):
        self.client.make_queue("cancel")
        ids = b"".join(field(4, f"{i:026d}") for i in range(100000))
        for path in ("/api.Submit/CancelJobs",):
            code, text = self.client.outcome(
                path, ids + field(2, "s") + field(3, "cancel"))
            self.assertIn(code, {"OK", "INVALID_ARGUMENT",
                                 "RESOURCE_EXHAUSTED"}, text)
        status = b"".join(field(1, f"{i:026d}") for i in range(100000))
        code, text = self.client.outcome("/api.Jobs/GetJobStatus", status)
        self.assertEqual(code, "UNKNOWN", text)  # as Armada has it
        self.assertIn("request contained more than 500 jobIds", text)


class Queues(bad_input.Case):
    standalone = False

    def list_queues(self, num=0):
        names = []
        for message in self.client.stream(
                "/api.Submit/GetQueues",
                bad_input.number(1, num) if num else b"", 60):
            for n, value in fields_of(message):
                if n == 1:
                    names += bad_input.texts(value, 1)
        return names

    def test_100000_queues(self):
        before = bad_input.resident_bytes(self.pid())
        with Pulse(self.berth.grpc, "pulse") as pulse:
            for base in range(0, QUEUES, QUEUES_PER_REQUEST):
                reply = self.client.call(
                    "/api.Submit/CreateQueues",
                    b"".join(field(1, queue(f"queue-{i:06d}"))
                             for i in range(base, base + QUEUES_PER_REQUEST)),
                    60)
                self.assertEqual(reply, b"")
            names = self.list_queues()
            self.assertEqual(
                len([n for n in names if n.startswith("queue-")]), QUEUES)
            with self.subTest("some of them have jobs"):
                for i in range(0, QUEUES, QUEUES // 200):
                    self.client.submit(f"queue-{i:06d}", "s", [item()])
        self.assertIsNone(pulse.error)
        self.assertLess(pulse.longest_s, harness.patient(10))
        grown = bad_input.resident_bytes(self.pid()) - before
        # Each: a record here, one in the scheduler, one encoded; 4 KiB.
        self.assertLess(grown, self.bound(QUEUES * 4096))
        begin = time.monotonic()
        self.client.submit("queue-099999", "s", [item()])
        self.assertLess(time.monotonic() - begin, harness.patient(5))
        begin = time.monotonic()
        self.berth.stop()
        self.berth.start()
        self.client.channel.close()
        type(self).client = Client(self.berth.grpc)
        self.assertLess(time.monotonic() - begin, harness.patient(20))
        self.assertGreaterEqual(len(self.list_queues()), QUEUES)

    def test_a_request_of_too_many_queues_is_refused(self):
        code, text = self.client.outcome(
            "/api.Submit/CreateQueues",
            b"".join(field(1, queue(f"q{i}")) for i in range(10001)))
        self.assertEqual(code, "RESOURCE_EXHAUSTED")
        self.assertIn("10001", text)


class Classes(bad_input.Case):
    standalone = True
    config = """
executor:
  runtime: fake
  fake:
    nodes: [{name: n, count: 10, resources: {cpu: 8, memory: 64Gi,
             ephemeral-storage: 64Gi}}]
    runTime: 300ms
"""

    def start(self, queue_name, seconds):
        """How long until a fresh small job of the queue has succeeded."""
        begin = time.monotonic()
        jobs = self.client.submit(queue_name, "s", [
            item(pod({"cpu": "100m", "memory": "16Mi"}))])
        harness.wait_for("it has succeeded", lambda: self.client.states(
            jobs)[jobs[0]] == bad_input.SUCCEEDED, seconds)
        return time.monotonic() - begin

    def test_other_work_passes_jobs_that_are_each_a_class_of_their_own(self):
        for name in ("odd", "plain"):
            self.client.make_queue(name)
        alone_s = self.start("plain", 30)
        before = bad_input.resident_bytes(self.pid())
        # Each asks for another amount, and some label that no node has:
        # every round has to look at them anew, or to remember.
        for base in range(0, CLASSES, CLASSES_PER_REQUEST):
            self.client.submit("odd", "s", [
                item(pod({"cpu": "5", "memory": str((20 << 30) + i)}))
                for i in range(base, base + CLASSES_PER_REQUEST)], 60)
            if FULL and base % 100000 == 0:
                print(f"{base} jobs: another is done after "
                      f"{self.start('plain', 30):.2f} s", flush=True)
        loaded_s = self.start("plain", 30)
        if FULL:
            print(f"all: done after {loaded_s:.2f} s", flush=True)
        self.assertLess(loaded_s, alone_s + harness.patient(10))
        grown = bad_input.resident_bytes(self.pid()) - before
        self.assertLess(grown, self.bound(CLASSES * 4096 + 64 * MIB))

    def test_other_work_passes_jobs_that_fit_nowhere(self):
        for name in ("label", "plain"):
            self.client.make_queue(name)
        for base in range(0, 4000, CLASSES_PER_REQUEST):
            self.client.submit("label", "s", [
                item(pod(selector={"no": f"such-{i}"}))
                for i in range(base, base + CLASSES_PER_REQUEST)], 60)
        self.assertLess(self.start("plain", 30),
                        harness.patient(15))


class Behind(bad_input.Case):
    standalone = False
    config = "store: {maxBehindBytes: 1Mi}"

    def test_a_flood_is_refused_while_the_query_store_is_behind(self):
        self.client.make_queue("flood")
        request = submission("flood", "s", [item()] * 4000)

        def send():
            """How often it was refused before it was taken."""
            for count in range(100):
                code, text = self.client.outcome(SUBMIT, request)
                if code == "OK":
                    return count
                self.assertEqual(code, "RESOURCE_EXHAUSTED", text)
                self.assertIn("query store", text)
                threading.Event().wait(0.2)
            raise AssertionError("refused for 20 s")

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            refused = sum(pool.map(lambda _: send(), range(16)))
        self.assertGreater(refused, 0)
        harness.wait_for("the store has it all", self.is_stored)

    def test_berthctl_waits_until_there_is_room_again(self):
        self.client.make_queue("file")
        request = submission("file", "flood", [item()] * 4000)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            floods = [pool.submit(self.client.outcome, SUBMIT, request)
                      for _ in range(4)]
            jobs = json.dumps({"queue": "file", "jobSetId": "s", "jobs": [{
                "namespace": "default", "podSpec": {"containers": [{
                    "name": "main", "image": "none", "command": ["true"],
                    "resources": {kind: {"cpu": "1", "memory": "1Mi"}
                                  for kind in ("requests", "limits")}}]}}
                for _ in range(2000)]})
            done = self.berth.ctl("submit", "-", input_text=jobs)
            self.assertEqual(done.stdout.count("Submitted job with id"), 2000)
            for flood in floods:
                self.assertIn(flood.result()[0], {"OK", "RESOURCE_EXHAUSTED"})
        harness.wait_for("the store has it all", self.is_stored)

    def is_stored(self):
        url = f"http://{self.berth.http}/metrics"
        with urllib.request.urlopen(url, timeout=harness.patient(20)) as reply:
            return b"\nberth_store_behind_jobs 0\n" in reply.read()


if __name__ == "__main__":
    bad_input.main()
