"""Clients that take and do not give back: streams that nobody reads, idle
connections, watchers of nothing, requests that come a byte at a time.

Memory stays bounded, and everyone else is served.
"""

import resource
import socket
import unittest

import bad_input
import harness
from bad_input import MIB, Client, Pulse, field, fields_of, item, number, pod

EVENTS = "/api.Event/GetJobSetEvents"
CONNECTIONS = 1000
WATCHERS = 500
JOBS_PER_REQUEST = 2000


def watch_request(queue_name, job_set, watch=True):
    return field(1, job_set) + number(2, int(watch)) + field(4, queue_name)


class Streams(bad_input.Case):
    EVENTS_COUNT = 100000
    READERS = 20

    def open_unread(self):
        """A client that opens a stream of events and never reads it."""
        client = Client(self.berth.grpc)
        client.kept = client.channel.unary_stream(EVENTS)(
            watch_request("unread", "s"))
        return client

    def test_a_stream_that_is_never_read_costs_little(self):
        self.client.make_queue("unread")
        lazy = [self.open_unread() for _ in range(self.READERS)]
        self.client.submit("unread", "s", [item()])
        before = bad_input.resident_bytes(self.pid())
        with Pulse(self.berth.grpc, "others") as pulse:
            # Each job gives two events: submitted, with its pod, and queued.
            spec = pod(command=["x" * 500])
            for _ in range(self.EVENTS_COUNT // 2 // JOBS_PER_REQUEST):
                self.client.submit("unread", "s",
                                   [item(spec)] * JOBS_PER_REQUEST, 60)
            grown = bad_input.resident_bytes(self.pid()) - before
            # What waits for the unread streams would be a gigabyte.
            self.assertLess(grown, self.bound(300 * MIB))
            with self.subTest("another reader gets them all, in order"):
                ids = self.read_events()
                self.assertEqual(len(ids), self.EVENTS_COUNT + 2)
                self.assertEqual(ids, sorted(set(ids)))
        self.assertIsNone(pulse.error)
        self.assertLess(pulse.longest_s, harness.patient(15))
        for client in lazy:
            client.channel.close()
        self.assert_serves()

    def read_events(self):
        """The ids of all events, as numbers, once they are all there."""
        def read():
            ids = [tuple(int(part) for part in bad_input.texts(
                message, 1)[0].split(":")) for message in self.client.stream(
                    EVENTS, watch_request("unread", "s", False), 120)]
            return ids if len(ids) >= self.EVENTS_COUNT + 2 else []
        return harness.wait_for("all events are there", read, 60)

    def assert_serves(self):
        """The server notices that the streams' clients are gone."""
        with Client(self.berth.grpc) as client:
            self.assertEqual(
                len(client.submit("unread", "s2", [item()])), 1)

    def test_500_watchers_of_nothing(self):
        self.client.make_queue("quiet")
        before = bad_input.resident_bytes(self.pid())
        clients = [Client(self.berth.grpc) for _ in range(10)]
        calls = [clients[i % 10].channel.unary_stream(EVENTS)(
            watch_request("quiet", f"set-{i}")) for i in range(WATCHERS)]
        with Pulse(self.berth.grpc, "others2") as pulse:
            harness.wait_for("others are served", lambda: pulse.count > 10)
            self.assertLess(bad_input.resident_bytes(self.pid()) - before,
                            self.bound(WATCHERS * 256 << 10))
            # One of them is woken, and no other is.
            self.client.submit("quiet", "set-7", [item()])
            first = next(calls[7])
            self.assertEqual([n for n, _ in fields_of(first)], [1, 2])
            self.assertFalse(any(call.done() for call in calls))
        self.assertIsNone(pulse.error)
        for client in clients:
            client.channel.close()

    def test_a_watcher_too_many_is_told_so(self):
        # A thousand calls may be open in one connection.
        self.client.make_queue("many")
        clients = [Client(self.berth.grpc) for _ in range(5)]
        calls = [clients[i // 1000].channel.unary_stream(EVENTS)(
            watch_request("many", "s")) for i in range(4100)]
        harness.wait_for(
            "the last ones are refused",
            lambda: sum(call.done() for call in calls) >= 50, 60)
        codes = {call.code().name for call in calls if call.done()}
        self.assertEqual(codes, {"RESOURCE_EXHAUSTED"})
        for client in clients:
            client.channel.close()
        # They are given back once their clients are gone.
        with Client(self.berth.grpc) as client:
            def opens():
                call = client.channel.unary_stream(EVENTS)(
                    watch_request("many", "s", False),
                    timeout=harness.patient(5))
                try:
                    list(call)
                    return True
                except bad_input.grpc.RpcError:
                    return False
            harness.wait_for("there is room again", opens, 30)


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"


class Connections(bad_input.Case):
    # Each takes a descriptor there and one here.
    @classmethod
    def setUpClass(cls):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE,
                           (min(hard, max(soft, 4096)), hard))
        super().setUpClass()

    def open(self, address, greeting):
        host, port = address.rsplit(":", 1)
        peer = socket.create_connection((host, int(port)), 5)
        peer.sendall(greeting)
        return peer

    def test_1000_idle_connections(self):
        before = bad_input.resident_bytes(self.pid())
        peers = []
        with Pulse(self.berth.grpc, "busy") as pulse:
            for i in range(CONNECTIONS):
                # Some greet and then are silent, some say nothing at all.
                peers.append(self.open(self.berth.grpc,
                                       PREFACE if i % 4 else b""))
            seen = pulse.count
            harness.wait_for("others are served",
                             lambda: pulse.count > seen + 10)
            with Client(self.berth.grpc) as client:
                client.make_queue("late")
            self.assertLess(bad_input.resident_bytes(self.pid()) - before,
                            self.bound(CONNECTIONS * 128 << 10))
        self.assertIsNone(pulse.error)
        self.assertLess(pulse.longest_s, harness.patient(10))
        for peer in peers:
            peer.close()

    def test_idle_connections_to_the_http_port(self):
        peers = [self.open(self.berth.http, b"GET /hea")
                 for _ in range(500)]
        with self.open(self.berth.http, b"GET /health HTTP/1.1\r\nHost: x"
                       b"\r\nConnection: close\r\n\r\n") as peer:
            self.assertIn(b" 20", peer.recv(100))
        for peer in peers:
            peer.close()

    def test_requests_that_come_a_byte_at_a_time(self):
        peers = [self.open(self.berth.grpc, PREFACE) for _ in range(50)]
        slow = b"\0\0\x30\1\4\0\0\0\1" + b"\x82\x86" * 8
        with Pulse(self.berth.grpc, "fast") as pulse:
            for i in range(len(slow)):
                for peer in peers:
                    peer.send(slow[i:i + 1])
            harness.wait_for("others are served", lambda: pulse.count > 10)
        self.assertIsNone(pulse.error)
        for peer in peers:
            peer.close()

    def test_clients_that_leave_in_the_midst(self):
        with Pulse(self.berth.grpc, "stays") as pulse:
            self.client.make_queue("leaves")
            for i in range(60):
                client = Client(self.berth.grpc)
                call = client.channel.unary_unary(
                    "/api.Submit/SubmitJobs").future(bad_input.submission(
                        "leaves", "s", [item()] * 200))
                watch = client.channel.unary_stream(EVENTS)(
                    watch_request("leaves", "s"))
                if i % 3:
                    call.cancel()
                if i % 2:
                    watch.cancel()
                client.channel.close()
            harness.wait_for("others are served", lambda: pulse.count > 10)
        self.assertIsNone(pulse.error)


class FewDescriptors(bad_input.Case):
    """A server that may open few files, as a service manager would start it,
    still serves a thousand."""

    @classmethod
    def setUpClass(cls):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 4096:
            raise unittest.SkipTest("the hard limit is too low")
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
        try:
            super().setUpClass()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096)
                                                        if hard >= 4096
                                                        else soft, hard))

    test_1000_idle_connections = Connections.test_1000_idle_connections
    open = Connections.open


if __name__ == "__main__":
    bad_input.main()
