"""What the suites of bad input share: raw calls, wire bytes, measures.

Requests are bytes here, made by hand, since no client library would send what
these tests send.  `main()` runs a suite with the Python that has grpcio.
"""

import os
import pathlib
import re
import sys
import threading
import time
import unittest

import harness

try:
    import grpc
except ImportError:  # main() starts again with a Python that has it
    grpc = None

CALL_SECONDS_MAX = harness.patient(20)
# A sanitizer keeps memory a while.
MEMORY_SLACK = 6 if os.environ.get("BERTH_SANITIZED") else 1
SKIPPED = 77  # what Meson takes for "skipped"
MIB = 1 << 20


def main():
    """Run the tests of the calling script, in a Python that has grpcio."""
    if grpc is None:
        try:
            python = harness.armada_python()
        except Exception as error:  # no network, no venv: say so
            print(f"skipped: no Python with grpcio: {error}")
            sys.exit(SKIPPED)
        os.execv(python, [python, *sys.orig_argv[1:]])
    unittest.main(verbosity=2)


# What goes over the wire.

def varint(value):
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def field(number_, value):
    """A string, bytes or message field."""
    if isinstance(value, str):
        value = value.encode()
    return varint(number_ << 3 | 2) + varint(len(value)) + value


def pair(number_, key, value):
    """An entry of a map of strings."""
    return field(number_, field(1, key) + field(2, value))


def pod(requests=None, extra=b"", command=("true",), selector=None):
    """A pod spec with one container that asks for `requests`."""
    requests = requests or {"cpu": "100m", "memory": "16Mi"}
    amounts = {name: field(1, text) for name, text in requests.items()}
    resources = b"".join(
        pair(1, name, amount) + pair(2, name, amount)
        for name, amount in amounts.items())
    container = field(1, "main") + field(2, "none") + field(8, resources) + \
        b"".join(field(3, word) for word in command)
    return field(2, container) + extra + b"".join(
        pair(7, key, value) for key, value in (selector or {}).items())


def item(pod_spec=None, client_id="", extra=b""):
    """An item of a submission."""
    return field(3, "default") + field(7, pod() if pod_spec is None
                                       else pod_spec) + \
        (field(8, client_id) if client_id else b"") + extra


def submission(queue, job_set, items):
    return field(1, queue) + field(2, job_set) + \
        b"".join(field(3, one) for one in items)


def queue(name, extra=b""):
    # A priority factor of 1.0 as a double.
    return field(1, name) + b"\x11" + b"\0\0\0\0\0\0\xf0\x3f" + extra


def fields_of(data):
    """(number, value) of each field of a well-formed message."""
    at = 0

    def take_varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = take_varint()
        kind = key & 7
        if kind == 0:
            value = take_varint()
        else:
            size = {1: 8, 5: 4}.get(kind) or take_varint()
            value = data[at:at + size]
            at += size
        yield key >> 3, value


def texts(data, number_):
    return [value.decode() for n, value in fields_of(data) if n == number_]


# Calls.

def methods():
    """Every method that the contracts name: path -> does it stream back."""
    found = {}
    for path in sorted((harness.ROOT / "proto").glob("*/*.proto")):
        text = path.read_text()
        package = re.search(r"^package ([\w.]+);", text, flags=re.M)
        for service, body in re.findall(
                r"^service (\w+) \{(.*?)^\}", text, flags=re.M | re.S):
            for name, asks, answers in re.findall(
                    r"rpc (\w+)\((stream )?[\w.]+\)\s+returns \((stream )?",
                    body):
                found[f"/{package[1]}.{service}/{name}"] = (bool(asks),
                                                            bool(answers))
    return found


class Client:
    """Calls with bytes in and bytes out."""

    def __init__(self, address, gzip=False, options=()):
        compression = grpc.Compression.Gzip if gzip else None
        self.channel = grpc.insecure_channel(
            address, compression=compression, options=[
                ("grpc.use_local_subchannel_pool", 1),
                ("grpc.max_receive_message_length", 64 * MIB),
                ("grpc.max_send_message_length", -1), *options])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def call(self, path, request=b"", seconds=CALL_SECONDS_MAX):
        """The reply of a unary method; raises grpc.RpcError."""
        return self.channel.unary_unary(path)(request, timeout=seconds)

    def stream(self, path, request=b"", seconds=CALL_SECONDS_MAX):
        """The replies, as they come."""
        return self.channel.unary_stream(path)(request, timeout=seconds)

    def outcome(self, path, request, seconds=CALL_SECONDS_MAX):
        """(code, text) of how a call of any kind ends."""
        asks, answers = methods().get(path, (False, False))
        try:
            if asks:
                list(self.channel.stream_stream(path)(iter([request]),
                                                      timeout=seconds))
            elif answers:
                list(self.stream(path, request, seconds))
            else:
                self.call(path, request, seconds)
        except grpc.RpcError as error:
            return error.code().name, error.details()
        return "OK", ""

    def make_queue(self, name):
        self.call("/api.Submit/CreateQueue", queue(name))

    def submit(self, queue_name, job_set, items, seconds=CALL_SECONDS_MAX):
        """The ids of the jobs."""
        reply = self.call("/api.Submit/SubmitJobs",
                          submission(queue_name, job_set, items), seconds)
        return [texts(value, 1)[0] for n, value in fields_of(reply) if n == 1]

    def states(self, job_ids):
        """The state of each job that is known."""
        reply = self.call("/api.Jobs/GetJobStatus",
                          b"".join(field(1, job) for job in job_ids))
        found = {}
        for n, value in fields_of(reply):
            if n == 1:
                entry = dict(fields_of(value))
                found[entry[1].decode()] = entry.get(2, 0)
        return found


QUEUED, PENDING, RUNNING, SUCCEEDED, FAILED, UNKNOWN, SUBMITTED, LEASED = \
    range(8)
OPEN = {QUEUED, PENDING, RUNNING, SUBMITTED, LEASED}


# Measures.

def forget_peak(pid):
    """Let VmHWM be of what comes: earlier requests may have needed more."""
    with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def resident_bytes(pid, name="VmRSS"):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{name}:\s+(\d+) kB", text, flags=re.M)[1]) << 10


class Pulse(threading.Thread):
    """Another client that submits all the while; keeps its longest
    wait."""

    def __init__(self, address, queue_name):
        super().__init__(daemon=True)
        self.client = Client(address)
        self.queue_name = queue_name
        self.longest_s = 0.0
        self.count = 0
        self.error = None
        self.is_over = threading.Event()

    def run(self):
        try:
            while not self.is_over.is_set():
                begin = time.monotonic()
                self.client.submit(self.queue_name, "pulse", [item()])
                self.longest_s = max(self.longest_s,
                                     time.monotonic() - begin)
                self.count += 1
                self.is_over.wait(0.02)
        except Exception as error:
            self.error = error

    def __enter__(self):
        self.client.make_queue(self.queue_name)
        self.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.join(CALL_SECONDS_MAX)
        self.client.channel.close()


class Case(unittest.TestCase):
    """Tests that share one server, which must outlive them all."""

    config = ""
    standalone = False

    @classmethod
    def setUpClass(cls):
        cls.berth = harness.Berth(config=cls.config,
                                  standalone=cls.standalone).start()
        cls.client = Client(cls.berth.grpc)

    @classmethod
    def tearDownClass(cls):
        cls.client.channel.close()
        code = cls.berth.stop()
        log = cls.berth.program.log()
        cls.berth.close()
        if code != 0:
            raise AssertionError(f"berthd ended with {code}:\n{log}")

    @staticmethod
    def bound(amount):
        """A bound on bytes."""
        return amount * MEMORY_SLACK

    def pid(self):
        return self.berth.program.process.pid

    def tearDown(self):
        """Whatever was sent, the server lives and serves others."""
        self.assertIsNone(self.berth.program.process.poll(),
                          self.berth.program.log())
        with Client(self.berth.grpc) as other:
            other.make_queue("alive")
            self.assertEqual(
                len(other.submit("alive", "alive", [item()])), 1)
