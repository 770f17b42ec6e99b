"""Executors that lie, repeat themselves, or speak out of turn.

What they say must not break the leader, nor keep it from giving work to an
executor that tells the truth; and a restart must be able to read it again.
"""

import queue as queues
import random

import bad_input
import harness
from bad_input import MIB, Client, field, fields_of, item, number, pair, pod, \
    texts

LEASE = "/executorapi.ExecutorApi/LeaseJobRuns"
REPORT = "/executorapi.ExecutorApi/ReportEvents"
RUN = "01234567-89ab-4cde-8f01-23456789abcd"
# What an executor may report, by its number in EventSequence.Event.
REPORTABLE = (11, 12, 13, 14, 16, 17, 19, 26)
RUN_PREEMPTED, RUN_ERRORS, RUN_SUCCEEDED = 19, 14, 13


def amounts(number_, **each):
    return b"".join(pair(number_, name.replace("_", "-"), field(1, text))
                    for name, text in each.items())


def node(name, cpu="8", memory="64Gi", extra=b""):
    return field(5, field(1, name) + b"".join(
        amounts(n, cpu=cpu, memory=memory, ephemeral_storage="64Gi")
        for n in (4, 5, 6)) + field(13, "default") + extra)


def request(executor, *nodes, leases=0, extra=b""):
    return field(1, executor) + field(2, "default") + b"".join(nodes) + \
        number(7, leases) + extra


def sequence(*events, queue_name="q", job_set="s"):
    return field(1, field(1, queue_name) + field(2, job_set) +
                 b"".join(field(5, event) for event in events))


class Talk:
    """One lease stream."""

    def __init__(self, client, first, seconds=20):
        self.requests = queues.Queue()
        self.requests.put(first)
        self.answers = client.channel.stream_stream(LEASE)(
            iter(self.requests.get, None), timeout=harness.patient(seconds))

    def leases(self):
        """(job's queue, run id) of each lease up to the end marker."""
        found = []
        for message in self.answers:
            kind, value = next(iter(fields_of(message)))
            if kind == 1:
                found.append((texts(value, 2)[0], texts(value, 7)[0]))
            elif kind == 3:
                break
        return found

    def close(self):
        self.requests.put(None)
        self.answers.cancel()


class Executors(bad_input.Case):
    def lie(self, message):
        """Say it, and take whatever comes; the code of the end."""
        code, text = self.client.outcome(LEASE, message,
                                         harness.patient(10))
        self.assertIn(code, {"OK", "INVALID_ARGUMENT", "RESOURCE_EXHAUSTED",
                             "NOT_FOUND"}, text)
        return code

    def work_is_leased(self, name):
        """A good executor gets a new job, which no liar has a node for."""
        first = request(f"good-{name}", node(
            f"good-{name}", extra=pair(3, "good", name)), leases=1000)

        def leases():
            talk = Talk(self.client, first)
            found = talk.leases()
            talk.close()
            return [run for queue_name, run in found if queue_name == name]
        self.client.make_queue(name)
        self.assertEqual(leases(), [])
        job = self.client.submit(name, "s", [item(pod(
            {"cpu": "1", "memory": "1Gi"}, selector={"good": name}))])[0]
        return job, harness.wait_for("the job is leased", leases, 10)[0]

    def test_amounts_that_make_no_sense(self):
        for amount in ("", "x", "-8", "1e400", "9223372036854775807",
                       "99999999999999999999999", "0.0000000000001", "NaN",
                       "1" * 10000):
            self.lie(request("odd", node("odd", cpu=amount, memory=amount)))
        self.work_is_leased("amounts")

    def test_nodes_that_make_no_sense(self):
        same = node("same")
        self.lie(request("same", same, same, same))
        self.lie(request("a", node("shared")))
        self.lie(request("b", node("shared")))
        self.lie(request("nameless", node("")))
        self.lie(request("", node("n")))
        self.lie(request("x" * 100000, node("y" * 100000)))
        self.lie(request("labels", node("labels", extra=b"".join(
            pair(3, f"label-{i}", "v") for i in range(5000)))))
        self.lie(request("taints", node("taints", extra=b"".join(
            field(2, field(1, f"k{i}") + field(3, "NoSuchEffect"))
            for i in range(1000)))))
        self.lie(request("pool", node("p", extra=field(13, "p" * 5000))))
        self.work_is_leased("nodes")

    def test_runs_that_nobody_gave_out(self):
        runs = b"".join(field(8, text) for text in (
            RUN, RUN, "", "not-an-id", "0" * 36, RUN.upper()))
        self.lie(request("runs", node("r"), extra=runs))
        states = b"".join(field(8, field(1, text) + number(2, state))
                          for text in (RUN, "x") for state in (0, 2, 99))
        self.lie(request("runs", node("r", extra=states)))
        self.work_is_leased("runs")

    def test_60000_nodes_in_a_request(self):
        before = bad_input.resident_bytes(self.pid())
        self.assertEqual(self.lie(request("crowd", *[
            node(f"crowd-{i}") for i in range(60000)])), "OK")
        self.assertLess(bad_input.resident_bytes(self.pid()) - before,
                        self.bound(512 * MIB))
        self.work_is_leased("crowd")

    def test_a_delta_before_anything_else(self):
        delta = number(1000, 1) + number(1003, 1) + field(1001, RUN) + \
            field(1002, RUN) + field(1004, "no-such-node")
        talk = Talk(self.client, request("delta", node("d"), extra=delta))
        talk.requests.put(request("delta", extra=delta))
        talk.requests.put(request("other-name", extra=delta))
        self.work_is_leased("delta")
        talk.close()

    def test_held_streams_without_number_under_one_name(self):
        held = request("held", node("h"), leases=1, extra=number(1000, 1))
        talks = [Talk(self.client, held) for _ in range(100)]
        self.work_is_leased("held")
        for talk in talks:
            talk.close()
        self.work_is_leased("held-after")

    def test_reports_of_runs_that_nobody_gave_out(self):
        self.client.make_queue("q")
        job = self.client.submit("q", "s", [item()])[0]
        rng = random.Random(11)
        for kind in REPORTABLE:
            for fact in (b"", field(4, job) + field(5, RUN),
                         field(4, "x") + field(5, "y"),
                         field(4, job) + field(5, RUN) + field(
                             3, number(1, 1) + field(8, field(
                                 2, "z" * 100000)))):
                code, text = self.client.outcome(
                    REPORT, sequence(field(kind, fact)))
                self.assertIn(code, {"OK", "INVALID_ARGUMENT"}, text)
            for _ in range(30):
                self.client.outcome(REPORT, sequence(field(
                    kind, rng.randbytes(rng.choice([1, 5, 30])))))
        # No one but the server says what it decides.
        for kind in (1, 2, 5, 7, 8, 9, 10, 20, 22, 1000, 1001, 1002, 1010):
            code, text = self.client.outcome(
                REPORT, sequence(field(kind, b"")))
            self.assertEqual(code, "INVALID_ARGUMENT", f"{kind}: {text}")
        # Some executor may have been given it; none has said its end.
        self.assertIn(self.client.states([job])[job], bad_input.OPEN)
        self.work_is_leased("reports")

    def test_a_report_that_no_record_can_hold(self):
        self.client.make_queue("q")
        big = sequence(field(RUN_ERRORS, field(300, "x" * MIB)))
        code, text = self.client.outcome(REPORT, big * 62)
        self.assertEqual(code, "RESOURCE_EXHAUSTED", text)
        self.work_is_leased("records")

    def test_ends_out_of_turn_and_again(self):
        job, run = self.work_is_leased("turn")
        whose = field(4, job) + field(5, run)
        for kind in (RUN_SUCCEEDED, RUN_SUCCEEDED, 12, 11, RUN_PREEMPTED,
                     RUN_ERRORS, RUN_SUCCEEDED):
            self.client.call(REPORT, sequence(field(kind, whose),
                                              queue_name="turn"))
        harness.wait_for("the first word holds", lambda: self.client.states(
            [job])[job] == bad_input.SUCCEEDED, 20)

    def test_what_they_said_can_be_read_again(self):
        jobs = self.client.submit("alive", "s", [item()] * 5)
        self.berth.kill()
        self.berth.start()
        self.client.channel.close()
        type(self).client = Client(self.berth.grpc)
        self.assertEqual(set(self.client.states(jobs)), set(jobs))
        self.work_is_leased("again")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.make_queue("alive")


if __name__ == "__main__":
    bad_input.main()
