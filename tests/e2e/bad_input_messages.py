"""Messages that no client would send, to every method of berthd.

Each must end in a clear error, soon, and cost others nothing.
"""

import random
import socket
import struct
import unittest
import zlib

import bad_input
import harness
from bad_input import MIB, Client, Pulse, field, item, number, pod, \
    submission, varint

# What a refusal of a broken message may be called.
REFUSALS = {"INVALID_ARGUMENT", "RESOURCE_EXHAUSTED", "INTERNAL",
            "UNIMPLEMENTED"}

BROKEN = {
    "cut inside a field": b"\x0a\x05ab",
    "cut inside a number": b"\x08\xff",
    "a length beyond all bounds": b"\x0a\xff\xff\xff\xff\x0f",
    "a length of 64 bits": b"\x0a" + b"\xff" * 9 + b"\x01",
    "field number 0": b"\x02\x01a",
    "field number 2^29": varint((1 << 29) << 3 | 2) + b"\x00",
    "wire type 6": b"\x0e\x00",
    "wire type 7": b"\x0f\x00",
    "a number of 11 bytes": b"\x08" + b"\xff" * 10 + b"\x01",
    "a group that never ends": b"\x0b" * 40,
    "a group that never began": b"\x0c",
}


class Garbage(bad_input.Case):
    def setUp(self):
        self.methods = bad_input.methods()
        self.assertGreater(len(self.methods), 40)

    def assert_refused(self, path, request, what, codes=REFUSALS):
        code, text = self.client.outcome(path, request, 5)
        self.assertIn(code, codes, f"{path} given {what}: {text}")
        if code != "UNIMPLEMENTED":
            self.assertTrue(text, f"{path} given {what}: no text")

    def test_no_method_takes_a_message_that_is_not_one(self):
        for path in self.methods:
            if path.endswith("/Health"):
                continue  # asks nothing of its request
            for what, request in BROKEN.items():
                with self.subTest(path=path, what=what):
                    self.assert_refused(path, request, what)

    def test_no_method_breaks_on_random_bytes(self):
        rng = random.Random(3)
        for path in self.methods:
            for _ in range(20):
                request = rng.randbytes(rng.choice([1, 2, 7, 40, 300]))
                code, _ = self.client.outcome(path, request, 2)
                self.assertNotEqual(code, "UNAVAILABLE", path)

    def test_no_method_breaks_on_a_good_message_cut_short(self):
        self.client.make_queue("cut")
        whole = submission("cut", "set", [item()])
        for end in range(1, len(whole)):
            code, text = self.client.outcome("/api.Submit/SubmitJobs",
                                             whole[:end])
            self.assertIn(code, REFUSALS | {"OK", "PERMISSION_DENIED"}, text)

    def test_text_that_is_not_utf8_is_refused(self):
        for text in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80"
                     b"\x80", b"a\xc3"):
            self.assert_refused("/api.Submit/CreateQueue", field(1, text),
                                text, {"INVALID_ARGUMENT"})

    def test_text_with_a_nul_is_refused(self):
        self.assert_refused("/api.Submit/CreateQueue", field(1, b"a\0b"),
                            "a NUL", {"INVALID_ARGUMENT"})
        self.client.make_queue("nul")
        for request in (submission("nul", b"s\0t", [item()]),
                        submission("nul", "s", [item(client_id=b"a\0b")]),
                        submission(b"nul\0x", "s", [item()])):
            self.assert_refused("/api.Submit/SubmitJobs", request, "a NUL",
                                {"INVALID_ARGUMENT"})

    def test_messages_nested_too_deep_are_refused(self):
        # PodSpec.containers[].lifecycle... ends; JSON schemas and groups do
        # not, nor do unknown fields.
        for nested in (b"\x0b" * 100000 + b"\x0c" * 100000,
                       b"\xab\x06" * 5000 + b"\xac\x06" * 5000):
            self.assert_refused("/api.Submit/SubmitJobs", nested,
                                "deep groups")

    def test_a_message_may_not_unpack_into_too_much(self):
        # Two bytes that become a struct of hundreds.
        containers = b"\x12\x00" * (MIB + MIB // 2)
        before = bad_input.resident_bytes(self.pid())
        self.client.make_queue("big")
        self.assert_refused("/api.Submit/SubmitJobs",
                            submission("big", "s", [item(containers)]),
                            "a million containers")
        self.assertLess(bad_input.resident_bytes(self.pid()) - before,
                        self.bound(512 * MIB))


class Credentials(bad_input.Case):
    config = """
auth:
  basicAuthUsers: [{name: amy, password: secret}]
"""

    def code(self, *metadata):
        try:
            self.client.channel.unary_unary("/api.Submit/GetQueue")(
                field(1, "none"), metadata=metadata,
                timeout=harness.patient(10))
        except bad_input.grpc.RpcError as error:
            return error.code().name
        return "OK"

    def test_credentials_that_make_no_sense_give_no_rights(self):
        # Who shows none that count is refused, or is anonymous.
        for text in ("Basic", "Basic ", "Basic !!!!", "Basic YTpi" * 500,
                     "Basic Og==", "Basic " + "A" * 15000, "Bearer x",
                     "basic YTpi", "Basic YTpi YTpi"):
            self.assertIn(self.code(("authorization", text)),
                          {"UNAUTHENTICATED", "RESOURCE_EXHAUSTED",
                           "NOT_FOUND"}, text[:40])

    def test_a_request_id_may_be_anything(self):
        for text in ("", "%s%n", "x" * 10000, '"quoted"', "~" * 300):
            self.assertEqual(self.code(("x-request-id", text)), "NOT_FOUND")


class Sizes(bad_input.Case):
    def oversize(self, byte_count, gzip):
        with Client(self.berth.grpc, gzip) as client:
            return client.outcome("/api.Submit/SubmitJobs",
                                  field(1, b"a" * byte_count))

    def test_a_request_over_4_mib_is_refused(self):
        for byte_count in (4 * MIB, 20 * MIB):
            code, text = self.oversize(byte_count, False)
            self.assertEqual(code, "RESOURCE_EXHAUSTED", text)
            self.assertIn(str(4 * MIB), text)

    def test_the_limit_holds_after_decompression(self):
        before = bad_input.resident_bytes(self.pid())
        bad_input.forget_peak(self.pid())
        code, text = self.oversize(200 * MIB, True)
        self.assertEqual(code, "RESOURCE_EXHAUSTED", text)
        self.assertLess(
            bad_input.resident_bytes(self.pid(), "VmHWM") - before,
            self.bound(64 * MIB))

    def test_a_request_just_under_4_mib_is_read(self):
        code, text = self.oversize(4 * MIB - 100, False)
        self.assertEqual(code, "PERMISSION_DENIED", text[:200])

    def test_many_oversize_requests_at_once_hurt_no_one(self):
        big = field(1, b"a" * (5 * MIB))
        with Pulse(self.berth.grpc, "small") as pulse:
            clients = [Client(self.berth.grpc) for _ in range(8)]
            calls = [client.channel.unary_unary("/api.Submit/SubmitJobs")
                     .future(big, timeout=harness.patient(20))
                     for client in clients
                     for _ in range(3)]
            codes = {call.exception().code().name for call in calls}
            for client in clients:
                client.channel.close()
        self.assertIsNone(pulse.error)
        self.assertEqual(codes, {"RESOURCE_EXHAUSTED"})
        self.assertLess(bad_input.resident_bytes(self.pid()),
                        self.bound(700 * MIB))


def frame(kind, flags, stream, payload):
    """An HTTP/2 frame."""
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + \
        struct.pack(">I", stream) + payload


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"")


def header(name, value):
    """A header of HPACK, without an index or compression."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def headers(path, *more):
    block = b"".join(header(*one) for one in (
        (b":method", b"POST"), (b":scheme", b"http"), (b":path", path),
        (b":authority", b"x"), (b"te", b"trailers"),
        (b"content-type", b"application/grpc"), *more))
    return frame(1, 4, 1, block)


def data(flag, length, body):
    return frame(0, 1, 1, bytes([flag]) + struct.pack(">I", length) + body)


class Sockets(bad_input.Case):
    """What is not gRPC at all."""

    def exchange(self, address, *parts, seconds=harness.patient(3)):
        """Send the parts, end, and read what comes until the other ends."""
        host, port = address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), seconds) as peer:
            answer = b""
            try:
                for part in parts:
                    peer.sendall(part)
                peer.shutdown(socket.SHUT_WR)
                while chunk := peer.recv(65536):
                    answer += chunk
            except OSError:
                pass
            return answer

    def test_garbage_on_the_grpc_port(self):
        rng = random.Random(5)
        for garbage in (b"", b"\0", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
                        rng.randbytes(100), rng.randbytes(100000)):
            self.exchange(self.berth.grpc, garbage)

    def test_broken_frames_on_the_grpc_port(self):
        rng = random.Random(7)
        path = b"/api.Submit/CreateQueue"
        for frames in (
                frame(9, 0, 1, b"x"), frame(0, 0, 99, b"x"),
                frame(8, 0, 0, b"\0\0\0\0"), frame(5, 0, 1, b"\0\0\0\2"),
                frame(1, 4, 1, b"\xff" * 100), frame(4, 0, 0, b"\0" * 5),
                b"\xff\xff\xff\x00\x00" + b"\0" * 4 + b"a" * 1000,
                headers(path) + data(0, 1 << 31, b"abc"),
                headers(path) + data(0, 2, b"abc"),
                headers(path) + data(9, 3, b"abc"),
                headers(path, (b"grpc-encoding", b"gzip")) +
                data(1, 10, b"not gzip!!"),
                headers(path, (b"grpc-encoding", b"snake")) +
                data(1, 3, b"abc"),
                headers(path, (b"grpc-timeout", b"-5X")) + data(0, 0, b""),
                headers(b"/") + data(0, 0, b""), rng.randbytes(5000)):
            self.exchange(self.berth.grpc, PREFACE, frames)

    def test_a_gzip_stream_cut_short_is_an_error(self):
        packer = zlib.compressobj(wbits=31)
        whole = packer.compress(field(1, "a" * 1000)) + packer.flush()
        for end in (1, len(whole) // 2, len(whole) - 5):
            self.exchange(
                self.berth.grpc, PREFACE,
                headers(b"/api.Submit/CreateQueue",
                        (b"grpc-encoding", b"gzip")) +
                data(1, end, whole[:end]))

    def test_headers_without_end_are_refused(self):
        block = b"".join(header(b"x-%d" % i, b"y" * 120) for i in range(900))
        self.exchange(self.berth.grpc, PREFACE,
                      *[frame(1 if i == 0 else 9, 0, 1,
                              block[i:i + 16000])
                        for i in range(0, len(block), 16000)])
        code, _ = self.client.outcome("/api.Submit/Nothing", b"")
        self.assertEqual(code, "UNIMPLEMENTED")

    def test_garbage_on_the_http_port(self):
        rng = random.Random(9)
        for garbage in (b"", b"\0" * 100, rng.randbytes(100000),
                        b"GET /health\r\n\r\n", b"GET " + b"a" * 100000,
                        b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n"
                        b"Connection: close\r\n\r\n",
                        b"POST /metrics HTTP/1.1\r\nHost: x\r\n"
                        b"Content-Length: 99999999999999\r\n\r\nabc",
                        b"GET /health HTTP/1.1\r\n" + b"X: y\r\n" * 10000):
            answer = self.exchange(self.berth.http, garbage)
            self.assertNotIn(b"root:", answer)
        answer = self.exchange(self.berth.http,
                               b"GET /health HTTP/1.1\r\nHost: x\r\n"
                               b"Connection: close\r\n\r\n")
        self.assertIn(b" 204 ", answer)

    def test_numbers_out_of_range_are_taken_or_refused(self):
        self.client.make_queue("numbers")
        for extra in (b"\x09" + struct.pack("<d", float("nan")),
                      b"\x09" + struct.pack("<d", float("inf")),
                      b"\x09" + struct.pack("<d", -1e300)):
            code, text = self.client.outcome(
                "/api.Submit/SubmitJobs",
                submission("numbers", "s", [item(extra=extra)]))
            self.assertIn(code, {"OK", "INVALID_ARGUMENT"}, text)
        for factor in ("nan", "inf", "-inf", "0", "-1", "1e-300", "1e300"):
            request = field(1, "factor") + b"\x11" + struct.pack(
                "<d", float(factor))
            code, text = self.client.outcome("/api.Submit/CreateQueue",
                                             request)
            self.assertIn(code, {"OK", "INVALID_ARGUMENT"}, text)
        for amount in ("99999999999999999999", "1e400", "-1", "1.5.5", "",
                       "1Zi", "9223372036854775807", "0.0000000001",
                       "1" * 5000):
            code, text = self.client.outcome(
                "/api.Submit/SubmitJobs",
                submission("numbers", "s", [item(pod({
                    "cpu": amount, "memory": amount}))]))
            self.assertIn(code, {"OK", "INVALID_ARGUMENT"}, text)
        code, _ = self.client.outcome(
            "/api.Submit/SubmitJobs", submission("numbers", "s", [
                item(extra=field(9, number(2, 0) + number(2, (1 << 32) - 1)))
            ]))
        self.assertIn(code, {"OK", "INVALID_ARGUMENT"})


if __name__ == "__main__":
    bad_input.main()
