"""Hostile clients against a server with an address space of 1 GB.

Raw sockets say what no library would: floods of HTTP/2 frames, connections
that say nothing, more of them than there are descriptors.  After each attack
the server serves others, says so at /health, and has not grown beyond what is
allowed.
"""

import ctypes
import json
import os
import pathlib
import resource
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import harness

ADDRESS_SPACE_BYTES = 1 << 30
# libgrpc starts two threads a processor; what each may reserve without using
# it is kept small, so that a machine of many processors passes too.
STACK_BYTES = 1 << 20
ARENAS_MAX = 2
GROWTH_BYTES_MAX = 300 << 20  # above idle, as long as nobody is known
FILES_MAX = 2048
ATTACK_SECONDS = 2.0
NOBODY = 65534
PIDFD_OPEN, PIDFD_GETFD = 434, 438  # system calls

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST, SETTINGS, PING, CONTINUATION = 0, 1, 3, 4, 6, 9
END_HEADERS = 4
CONFIG = """
server: {maxConnectionsPerAddress: 300}
"""


def frame(kind, flags, stream, payload=b""):
    return (struct.pack(">I", len(payload))[1:] + bytes([kind, flags])
            + struct.pack(">I", stream) + payload)


def literal(name, value):
    """An HPACK literal without indexing."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def call_headers(path):
    return (literal(b":method", b"POST") + literal(b":scheme", b"http")
            + literal(b":path", path) + literal(b":authority", b"x")
            + literal(b"content-type", b"application/grpc"))


def limited(argv):
    """The words that run a program within the limits."""
    files = min(FILES_MAX, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    return ["env", f"MALLOC_ARENA_MAX={ARENAS_MAX}", "prlimit",
            f"--as={ADDRESS_SPACE_BYTES}", f"--stack={STACK_BYTES}",
            f"--nofile={files}:{files}", "--", *argv]


class Server(harness.Berth):
    def start(self):
        original = harness.Program

        def start_limited(argv, log_path):
            return original(limited(argv), log_path)
        harness.Program = start_limited
        try:
            return super().start()
        finally:
            harness.Program = original


def socket_of(pid, port):
    """The socket of a process that listens on a port; None: it may not be
    had."""
    inodes = {line.split()[9] for line in
              pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
              if line.split()[1].endswith(f":{port:04X}")}
    libc = ctypes.CDLL(None, use_errno=True)
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        name = os.readlink(link)
        if name.startswith("socket:[") and name[8:-1] in inodes:
            of_process = libc.syscall(PIDFD_OPEN, pid, 0)
            taken = libc.syscall(PIDFD_GETFD, of_process, int(link.name), 0)
            os.close(of_process)
            return socket.socket(fileno=taken) if taken >= 0 else None
    return None


def fails(url):
    try:
        urllib.request.urlopen(url, timeout=harness.patient(10)).close()
        return False
    except urllib.error.HTTPError as error:
        return error.code == 503


class HostileClients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.berth = Server(CONFIG, standalone=False).start()
        cls.port = int(cls.berth.grpc.rsplit(":", 1)[1])

    @classmethod
    def tearDownClass(cls):
        code = cls.berth.stop()
        log = cls.berth.program.log()
        shutil.rmtree(cls.berth.folder)
        assert code == 0, (code, log)

    def setUp(self):
        self.sockets = []
        self.before = self.resident()

    def tearDown(self):
        for connection in self.sockets:
            connection.close()
        harness.wait_for("the server serves", self.serves)
        harness.wait_for("/health is well", lambda: self.health() == 204)
        self.assertLess(self.resident() - self.before, GROWTH_BYTES_MAX)

    def resident(self):
        text = pathlib.Path(
            f"/proc/{self.berth.program.process.pid}/status").read_text()
        return int(text.split("VmRSS:")[1].split()[0]) << 10

    def ctl(self, *arguments, **options):
        return subprocess.run(
            [harness.program("berthctl"), "--berthUrl", self.berth.grpc,
             *arguments], capture_output=True, text=True, check=False,
            timeout=harness.patient(60), **options)

    def serves(self):
        return self.ctl("get", "queues").returncode == 0

    def health(self):
        try:
            with urllib.request.urlopen(f"http://{self.berth.http}/health",
                                        timeout=harness.patient(10)) as reply:
                return reply.status
        except urllib.error.HTTPError as error:
            return error.code

    def dial(self):
        connection = socket.create_connection(("127.0.0.1", self.port),
                                              harness.patient(10))
        self.sockets.append(connection)
        return connection

    def greet(self):
        connection = self.dial()
        connection.sendall(PREFACE + frame(SETTINGS, 0, 0))
        return connection

    def flood(self, begin, rest, seconds=ATTACK_SECONDS):
        """Send `begin` and then `rest` again and again, by as many connections
        as it takes; how many of them the server ended."""
        ended = 0
        peak = 0
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                connection = self.greet()
                connection.sendall(begin)
                while time.monotonic() < until:
                    connection.sendall(rest)
                    peak = max(peak, self.resident())
            except OSError:
                ended += 1
                self.sockets.pop().close()
        self.assertLess(peak - self.before, GROWTH_BYTES_MAX)
        return ended

    def test_header_blocks_without_end(self):
        one = literal(b"ab", b"x")
        indexed = b"\x40\x02ab\x01x"
        for what, begin, part in (
                ("one long value", b"\x00\x01a\x7f\x80\xff\xff\xff\x07",
                 b"x" * 16384),
                ("small headers", b"\x83", one * (16384 // len(one))),
                ("references", indexed, b"\xbe" * 16384),
                ("empty parts", b"\x83", b"")):
            with self.subTest(what):
                self.assertGreater(self.flood(
                    frame(HEADERS, 0, 1, begin),
                    frame(CONTINUATION, 0, 1, part) * 8,
                    ATTACK_SECONDS / 2), 0)

    def test_frames_that_carry_nothing(self):
        for what, kind, stream, payload in (
                ("pings", PING, 0, b"12345678"),
                ("settings", SETTINGS, 0, b"\0\3\0\0\0\x64"),
                ("empty data", DATA, 1, b""),
                ("unknown", 0x77, 0, b"")):
            with self.subTest(what):
                self.assertGreater(self.flood(
                    b"", frame(kind, 0, stream, payload) * 500,
                    ATTACK_SECONDS / 2), 0)

    def test_requests_that_are_reset_at_once(self):
        headers = call_headers(b"/grpc.health.v1.Health/Check")
        streams = iter(range(1, 1 << 30, 2))
        until = time.monotonic() + ATTACK_SECONDS
        while time.monotonic() < until:
            try:
                connection = self.greet()
                while time.monotonic() < until:
                    connection.sendall(b"".join(
                        frame(HEADERS, END_HEADERS, stream, headers)
                        + frame(RST, 0, stream, b"\0\0\0\x08")
                        for stream, _ in zip(streams, range(100))))
            except OSError:
                self.sockets.pop().close()

    def test_bodies_that_nobody_may_send(self):
        headers = (call_headers(b"/executorapi.ExecutorApi/ReportEvents")
                   + literal(b"authorization", b"Basic YTpi"))
        body = struct.pack(">BI", 0, 60 << 20) + b"x" * 16000
        self.flood(b"", b"".join(
            frame(HEADERS, END_HEADERS, stream, headers)
            + frame(DATA, 0, stream, body) for stream in range(1, 201, 2)))

    def test_connections_that_say_nothing_are_bounded(self):
        for _ in range(700):
            try:
                self.dial()
            except OSError:
                break
        harness.wait_for("/health is well", lambda: self.health() == 204)
        text = urllib.request.urlopen(
            f"http://{self.berth.http}/metrics").read().decode()
        open_count = [int(line.split()[1]) for line in text.splitlines()
                      if line.startswith("berth_grpc_connections ")]
        self.assertLessEqual(open_count[0], 300)

    def test_a_listener_that_is_gone_fails_health(self):
        other = harness.Berth(CONFIG, standalone=False).start()
        try:
            port = int(other.grpc.rsplit(":", 1)[1])
            listener = socket_of(other.program.process.pid, port)
            if listener is None:
                self.skipTest("may not take another process's descriptors")
            url = f"http://{other.http}/health"
            urllib.request.urlopen(url).close()
            with listener:
                listener.shutdown(socket.SHUT_RDWR)
            harness.wait_for("/health fails", lambda: fails(url))
        finally:
            other.stop()
            shutil.rmtree(other.folder)

    def test_half_open_http_does_not_block_health(self):
        port = int(self.berth.http.rsplit(":", 1)[1])
        for _ in range(600):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(b"GET /health HTTP/1.1\r\nHost:")
            self.sockets.append(connection)
        begin = time.monotonic()
        self.assertEqual(self.health(), 204)
        self.assertLess(time.monotonic() - begin, harness.patient(5))

    def check_shown(self, done):
        """No terminal obeys it, and no line is the client's own."""
        for text in (done.stdout, done.stderr):
            self.assertFalse(set(text) & set("\x1b\u009b\u202e"),
                             (done.args, text))
            for line in text.splitlines():
                self.assertNotRegex(line, r"^forged", (done.args, text))

    def test_no_terminal_obeys_a_name(self):
        evil = "e\x1b[2J\u009b2J\u202e\nforged"
        made = self.ctl("create", "queue", evil)
        self.assertEqual(made.returncode, 6, made.stderr)
        self.check_shown(made)
        self.check_shown(self.ctl("get", "queue", evil))
        self.assertEqual(self.ctl("create", "queue", "named").returncode, 0)
        done = self.ctl("submit", "-", input=json.dumps({
            "queue": "named", "jobSetId": evil, "jobs": [{
                "namespace": "default", "clientId": evil,
                "labels": {"example.com/a": evil},
                "annotations": {"example.com/a": evil},
                "podSpec": {"priorityClassName": "armada-default",
                            "containers": [{
                                "name": "main", "image": evil,
                                "command": [evil], "resources": {
                                    "requests": {"cpu": "1", "memory": "1Mi"},
                                    "limits": {"cpu": "1", "memory": "1Mi"},
                                }}]}}]}))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_shown(done)
        job = done.stdout.split()[4]
        self.ctl("cancel", "job", job, "--reason", evil[:40])
        harness.wait_for("the job is shown", lambda: job in self.ctl(
            "get", "jobs", "-q", "named").stdout)
        for words in (["get", "jobs", "-q", "named"], ["get", "job", job],
                      ["get", "job-sets", "-q", "named"]):
            for how in ([], ["-o", "wide"], ["-o", "json"], ["-o", "yaml"],
                        ["-o", "name"], ["-o", "csv"],
                        ["-o", "custom-columns=A:.jobSet,B:.clientId"]):
                shown = self.ctl(*words, *how)
                self.check_shown(shown)
        self.check_shown(self.ctl("explain", job))
        self.check_shown(self.ctl("get", "queue", "named" + evil))
        page = urllib.request.urlopen(f"http://{self.berth.http}/metrics")
        for text in (page.read().decode(), self.berth.program.log()):
            self.assertFalse(set(text) & set("\x1b\u009b\u202e"), text)

    def test_a_backup_that_nobody_reads_blocks_no_other(self):
        with tempfile.TemporaryDirectory() as folder:
            connection = self.greet()
            connection.sendall(
                frame(HEADERS, END_HEADERS, 1,
                      call_headers(b"/berth.api.Berth/Backup"))
                + frame(DATA, 1, 1, b"\0\0\0\0\0"))
            target = pathlib.Path(folder) / "copy"
            done = self.ctl("backup", str(pathlib.Path(folder) / "copy"))
            while "another backup is in progress" in done.stderr:
                done = self.ctl("backup", str(pathlib.Path(folder) / "copy"))
            self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs another user")
    def test_another_user_has_what_is_granted(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy(harness.program("berthctl"), folder)

            def as_nobody(*arguments):
                return subprocess.run(
                    [program, "--berthUrl", self.berth.grpc, *arguments],
                    capture_output=True, text=True, check=False, cwd=folder,
                    env={"PATH": os.environ["PATH"], "HOME": folder},
                    user=NOBODY, group=NOBODY, extra_groups=[],
                    timeout=harness.patient(60))
            self.assertEqual(as_nobody("get", "queues").returncode, 0)
            refused = as_nobody("create", "queue", "theirs")
            self.assertEqual(refused.returncode, 4, refused.stderr)
            self.assertIn("lacks permission create_queue", refused.stderr)
            # Who can read the token is the server's own user.
            data = pathlib.Path(folder) / "berth-data"
            data.mkdir()
            shutil.copy(self.berth.data / "token", data / "token")
            os.chown(data / "token", NOBODY, NOBODY)
            os.chmod(data / "token", 0o600)
            known = as_nobody("create", "queue", "theirs")
            self.assertEqual(known.returncode, 0, known.stderr)
        self.assertEqual((self.berth.data / "token").stat().st_mode & 0o777,
                         0o600)
        # Whoever started it needs nothing.
        self.assertEqual(self.ctl("create", "queue", "own").returncode, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
