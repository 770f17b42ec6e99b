"""Users in jobs: berthctl exec, with a terminal and without."""

import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

import harness

CONFIG = """
executor:
  process:
    resources: {cpu: 8, memory: 4Gi, ephemeral-storage: 8Gi}
"""
SMALL = ("--cpu", "100m", "--memory", "64Mi", "--storage", "16Mi")
SESSIONS_OF_A_JOB = 8


class Terminal:
    """berthctl with a terminal of the user's, which is this one's other end.
    """

    def __init__(self, grpc, *arguments, columns=100, rows=30):
        self.main, user = pty.openpty()
        self.resize(columns, rows)
        self.seen = b""
        self.process = subprocess.Popen(
            [harness.program("berthctl"), "--berthUrl", grpc, *arguments],
            stdin=user, stdout=user, stderr=user, start_new_session=True,
            env={**os.environ, "TERM": "vt220"})
        self.before = termios.tcgetattr(user)
        self.user = user

    def resize(self, columns, rows):
        fcntl.ioctl(self.main, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.main, text)

    def read_some(self, seconds):
        if not select.select([self.main], [], [], seconds)[0]:
            return False
        try:
            self.seen += os.read(self.main, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return False
        return True

    def expect(self, pattern, seconds=20):
        """Read until the pattern is seen, and forget what was up to it."""
        deadline = time.monotonic() + harness.patient(seconds)
        while True:
            match = re.search(pattern, self.seen)
            if match:
                self.seen = self.seen[match.end():]
                return match
            left = deadline - time.monotonic()
            if left <= 0 or (not self.read_some(min(left, 0.2)) and
                             self.process.poll() is not None and
                             not self.read_some(0)):
                raise AssertionError(f"{pattern} was not seen, but "
                                     f"{self.seen[-2000:]}")

    def end(self, seconds=20):
        """Read to the end, and give the exit code."""
        deadline = time.monotonic() + harness.patient(seconds)
        while self.process.poll() is None:
            self.read_some(0.05)
            if time.monotonic() > deadline:
                raise AssertionError(f"it does not end: {self.seen[-2000:]}")
        while self.read_some(0):
            pass
        return self.process.returncode

    def is_set_back(self):
        return termios.tcgetattr(self.user) == self.before

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.main)
        os.close(self.user)


class Exec(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.berth = harness.Berth(CONFIG, arguments=["--stop-jobs"]).start()
        cls.addClassCleanup(cls.berth.close)
        cls.berth.ctl("create", "queue", "q")

    def setUp(self):
        self.job = self.start_job()

    def start_job(self, text="exec sleep 1000"):
        """A job that runs."""
        done = self.berth.ctl("run", "-q", "q", *SMALL, "--", "sh", "-c",
                              "echo up; " + text)
        job = (done.stdout + done.stderr).split("with id ")[1].split()[0]
        harness.wait_for("the job runs", lambda: "RUNNING" in self.berth.ctl(
            "get", "jobs", job, check=False).stdout.upper() and
            self.berth.ctl("logs", job, check=False).stdout == "up\n")
        self.addCleanup(self.berth.ctl, "cancel", "job", job, check=False)
        return job

    def exec(self, *arguments, code=0, **options):
        done = self.berth.ctl("exec", *arguments, check=False, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def terminal(self, *arguments, **options):
        terminal = Terminal(self.berth.grpc, *arguments, **options)
        self.addCleanup(terminal.close)
        return terminal

    def begin(self, *arguments, **options):
        """berthctl exec, which is not waited for."""
        process = subprocess.Popen(
            [harness.program("berthctl"), "--berthUrl", self.berth.grpc,
             "exec", *arguments], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **options)

        def close():
            process.kill()
            process.communicate()
        self.addCleanup(close)
        return process

    def has_process(self, mark):
        return any(mark in b" ".join(harness.words_of(pid))
                   for pid in harness.processes())

    def test_a_program_runs_as_the_job(self):
        job = self.start_job("exec sleep 1011")
        done = self.exec(job, "--", "sh", "-c",
                         "id -u; pwd; echo wrong >&2; exit 7", code=7)
        inside = self.exec(job, "--", "sh", "-c",
                           "cat /proc/self/cgroup; grep -E "
                           "'NoNewPrivs|Seccomp:|CapEff' /proc/self/status; "
                           "ls -d /proc/[0-9]*; readlink /proc/self/ns/pid "
                           "/proc/self/ns/mnt").stdout
        self.assertEqual(done.stderr, "wrong\n")
        self.assertRegex(done.stdout, r"^\d+\n/.*/work\n$")
        self.assertIn("NoNewPrivs:\t1", inside)
        self.assertIn("Seccomp:\t2", inside)
        # What the job's own program has, it has.
        outside = self.exec(
            job, "--", "sh", "-c", "for p in /proc/[0-9]*; do "
            "case $(tr '\\0' ' ' < $p/cmdline 2> /dev/null) in "
            "'sleep 1011 ') cat $p/cgroup; readlink $p/ns/pid $p/ns/mnt;; "
            "esac; done").stdout
        self.assertIn("mnt:", outside)
        for line in outside.splitlines():
            self.assertIn(line, inside)

    def test_input_and_output_are_exact(self):
        bytes_ = bytes(range(256)) * 4000
        done = subprocess.run(
            [harness.program("berthctl"), "--berthUrl", self.berth.grpc,
             "exec", "-i", self.job, "--", "cat"], input=bytes_,
            capture_output=True, timeout=harness.patient(60), check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout, bytes_)
        # Without -i there is nothing to read.
        self.assertEqual(self.exec(self.job, "--", "wc", "-c",
                                   input_text="x").stdout, "0\n")

    def test_what_cannot_start_says_so(self):
        self.assertIn("No such file", self.exec(
            self.job, "--", "/no/such", code=127).stderr)
        self.assertIn("Permission denied", self.exec(
            self.job, "--", "/etc/passwd", code=126).stderr)
        self.assertIn('no container "x"', self.exec(
            self.job, "--container", "x", "--", "true", code=128).stderr)
        self.exec("01h00000000000000000000000", "--", "true", code=3)
        self.exec(self.job, code=2)
        self.exec(self.job, "--timeout", "soon", "--", "true", code=2)

    def test_a_session_has_its_time(self):
        done = self.exec(self.job, "--timeout", "300ms", "--", "sh", "-c",
                         "sleep 1001", code=8)
        self.assertIn("0.300 s, is over", done.stderr)
        self.assertFalse(self.has_process(b"sleep 1001"))

    def test_a_terminal(self):
        t = self.terminal("exec", "-it", self.job, "--", "sh")
        t.type(b"stty size; echo $TERM; tty\r")
        t.expect(rb"30 100\r\nvt220\r\n/dev/pts/\d+\r\n")
        # Its size follows, and its program is told.
        t.type(b"trap 'stty size' WINCH; echo rea''dy\r")
        t.expect(rb"ready\r\n")
        t.resize(77, 20)
        os.kill(t.process.pid, signal.SIGWINCH)
        t.type(b"\r")
        t.expect(rb"20 77\r\n")
        # Ctrl-C is the program's, not berthctl's.
        t.type(b"echo be''gun; sleep 1000\r")
        t.expect(rb"begun\r\n")
        t.type(b"\x03")
        t.expect(rb"\$ ")
        t.type(b"echo af''ter\r")
        t.expect(rb"after\r\n")
        # Output is as it is, and so is the exit code.
        t.type(b"printf '\\033[31mred\\n'; exit 5\r")
        t.expect(rb"\x1b\[31mred\r\n")
        self.assertEqual(t.end(), 5)
        self.assertTrue(t.is_set_back())

    def test_without_a_terminal_nothing_is_obeyed(self):
        t = self.terminal("exec", self.job, "--", "printf",
                          "a\\033[31mb\\n\\303\\251\\n\\377\\n")
        t.expect(rb"a\\x1b\[31mb\r\n\xc3\xa9\r\n\\xff\r\n")
        self.assertEqual(t.end(), 0)

    def test_a_killed_client_leaves_nothing(self):
        for mark, arguments in (b"sleep 1002", ()), (b"sleep 1003", ("-t",)):
            process = self.begin(*arguments, self.job, "--",
                                 *mark.decode().split())
            harness.wait_for("it runs", lambda: self.has_process(mark))
            process.kill()
            harness.wait_for("it is gone",
                             lambda: not self.has_process(mark))
        # Who is signalled sets the terminal back.
        t = self.terminal("exec", "-it", self.job, "--", "sh")
        t.type(b"echo o''n; sleep 1004\r")
        t.expect(rb"on\r\n")
        t.process.terminate()
        self.assertEqual(t.end(), 128 + signal.SIGTERM)
        self.assertTrue(t.is_set_back())
        harness.wait_for("it is gone",
                         lambda: not self.has_process(b"sleep 1004"))

    def test_what_does_not_read_or_write_holds_up_nobody(self):
        # The client does not read; the job's own program goes on.
        reader = self.begin(self.job, "--", "yes", "1009")
        # The program does not read.
        with open("/dev/zero", "rb") as zeros:
            writer = self.begin("-i", self.job, "--", "sleep", "1005",
                                stdin=zeros)
        harness.wait_for("it runs", lambda: self.has_process(b"sleep 1005"))
        self.assertEqual(self.exec(self.job, "--", "echo", "x").stdout, "x\n")
        self.assertTrue(reader.stdout.read(10))
        reader.kill()
        writer.kill()
        for mark in b"yes 1009", b"sleep 1005":
            harness.wait_for(f"{mark} is gone",
                             lambda mark=mark: not self.has_process(mark))

    def test_the_job_ends_its_sessions(self):
        job = self.start_job()
        process = self.begin(job, "--", "sh", "-c",
                             "trap '' HUP TERM; echo in; sleep 1006")
        self.assertEqual(process.stdout.readline(), b"in\n")
        self.berth.ctl("cancel", "job", job)
        self.assertEqual(process.wait(harness.patient(60)), 1)
        self.assertIn(b"the job has ended", process.stderr.read())
        harness.wait_for("it is gone",
                         lambda: not self.has_process(b"sleep 1006"))
        harness.wait_for("it has ended", lambda: "has ended" in self.berth.ctl(
            "exec", job, "--", "true", check=False).stderr)

    def test_a_job_has_a_limit_of_sessions(self):
        held = [self.begin(self.job, "--", "sh", "-c", "echo in; sleep 1007")
                for _ in range(SESSIONS_OF_A_JOB)]
        for process in held:
            self.assertEqual(process.stdout.readline(), b"in\n")
        self.assertIn("as many sessions", self.exec(
            self.job, "--", "true", code=1).stderr)
        held[0].kill()
        harness.wait_for("there is room", lambda: self.berth.ctl(
            "exec", self.job, "--", "true", check=False).returncode == 0)

    def test_it_is_told_of(self):
        self.exec(self.job, "--", "true")
        for event in "call.begun", "call.done":
            self.assertRegex(self.berth.program.log(), rf"event={event} "
                             rf"method=\S+Exec user=\S+ .*job={self.job}")


class Others(unittest.TestCase):
    """Runtimes that cannot, executors that go, users who may not."""

    def start(self, *arguments, **options):
        berth = harness.Berth(*arguments, **options)
        self.addCleanup(berth.close)
        return berth.start()

    def run_job(self, berth, *words):
        done = berth.ctl("run", "-q", "q", *SMALL, "--", *words)
        job = (done.stdout + done.stderr).split("with id ")[1].split()[0]
        harness.wait_for("the job runs", lambda: "RUNNING" in berth.ctl(
            "get", "jobs", job, check=False).stdout.upper())
        return job

    def test_a_runtime_that_cannot_says_its_name(self):
        berth = self.start("executor:\n  runtime: fake\n")
        berth.ctl("create", "queue", "q")
        job = self.run_job(berth, "true")
        done = berth.ctl("exec", job, "--", "true", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("runtime fake cannot exec", done.stderr)

    def test_an_executor_that_is_killed_leaves_nothing(self):
        berth = self.start(standalone=False)
        executor = harness.Executor(berth.grpc, "near", berth.folder / "near",
                                    CONFIG, runtime="process").start()
        self.addCleanup(harness.end_pods_below, berth.folder)
        self.addCleanup(lambda: executor.stop())
        berth.ctl("create", "queue", "q")
        job = self.run_job(berth, "sleep", "1000")
        harness.wait_for("it takes users", lambda: berth.ctl(
            "exec", job, "--", "true", check=False).returncode == 0)
        process = subprocess.Popen(
            [harness.program("berthctl"), "--berthUrl", berth.grpc, "exec",
             job, "--", "sh", "-c", "echo in; sleep 1010"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"in\n")
        executor.kill()
        self.assertEqual(process.wait(harness.patient(30)), 5)
        self.assertIn(b"the executor has disconnected",
                      process.communicate()[1])
        harness.wait_for("it is gone", lambda: not any(
            b"sleep 1010" in b" ".join(harness.words_of(pid))
            for pid in harness.processes()))
        executor.start()
        harness.wait_for("it takes users again", lambda: berth.ctl(
            "exec", job, "--", "true", check=False).returncode == 0)
        berth.ctl("cancel", "job", job)

    def test_who_may_not_is_refused(self):
        berth = self.start(CONFIG + "auth:\n  basicAuthUsers:\n"
                           "  - {name: amy, password: secret}\n"
                           "  - {name: bob, password: secret}\n")
        berth.ctl("create", "queue", "q", "--owners", "amy")
        job = self.run_job(berth, "sleep", "1000")

        def enter(name):
            config = berth.folder / f"{name}.yaml"
            config.write_text(
                f"contexts: {{it: {{basicAuth: {{username: {name}, "
                "password: secret}, forceNoTls: true}}\ncurrentContext: it\n")
            config.chmod(0o600)
            return berth.ctl("--config", str(config), "exec", job, "--",
                             "echo", "in", check=False)
        harness.wait_for("its owner is let in",
                         lambda: enter("amy").stdout == "in\n")
        done = enter("bob")
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)

    def test_a_server_that_is_killed_leaves_nothing(self):
        berth = self.start(CONFIG)
        berth.ctl("create", "queue", "q")
        job = self.run_job(berth, "sleep", "1000")
        process = subprocess.Popen(
            [harness.program("berthctl"), "--berthUrl", berth.grpc, "exec",
             job, "--", "sh", "-c", "echo in; sleep 1008"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"in\n")
        berth.kill()
        self.assertEqual(process.wait(harness.patient(30)), 5)
        process.communicate()

        def is_gone():
            return not any(b"sleep 1008" in b" ".join(harness.words_of(pid))
                           for pid in harness.processes())
        harness.wait_for("it is gone", is_gone)
        # The job is not, and takes users again.
        berth.start()
        harness.wait_for("it is there again", lambda: berth.ctl(
            "exec", job, "--", "echo", "x", check=False).stdout == "x\n")
        berth.ctl("cancel", "job", job)


if __name__ == "__main__":
    unittest.main()
