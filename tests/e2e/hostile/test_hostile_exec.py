"""Programs that users run in jobs, and that want more: to outlive the job, to
see the machine, to reach other jobs."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import harness  # noqa: E402
import test_hostile_jobs as hostile  # noqa: E402

SMALL = ("--cpu", "100m", "--memory", "64Mi", "--storage", "16Mi")


class HostileExec(unittest.TestCase):
    def start(self, user, has_namespaces):
        berth = hostile.Server(user, True, has_namespaces)
        self.addCleanup(berth.close)
        berth.start()
        berth.ctl("create", "queue", "q")
        return berth

    def run_job(self, berth):
        done = berth.ctl("run", "-q", "q", *SMALL, "--", "sleep", "1000")
        job = (done.stdout + done.stderr).split("with id ")[1].split()[0]
        harness.wait_for("the job takes users", lambda: berth.ctl(
            "exec", job, "--", "true", check=False).returncode == 0)
        return job

    def in_job(self, berth, job, text):
        return berth.ctl("exec", job, "--", "sh", "-c", text, check=False)

    def check_end(self, berth, mark):
        """What has left its session ends with the job."""
        job = self.run_job(berth)
        done = self.in_job(berth, job, "mkfifo away; setsid sh -c \"trap '' HUP "
                           "TERM INT; echo > away; exec sleep "
                           f"{mark} > /dev/null 2>&1\" & read x < away; "
                           "echo out")
        self.assertEqual((done.returncode, done.stdout), (0, "out\n"))
        harness.wait_for("it has started", lambda: hostile.sleeps_of(mark))
        berth.ctl("cancel", "job", job)
        harness.wait_for("it has ended with its job",
                         lambda: not hostile.sleeps_of(mark))

    def check_view(self, berth, has_namespaces):
        """It sees and reaches what the job does, and no more."""
        job, other = self.run_job(berth), self.run_job(berth)
        shims = berth.shims()
        self.assertEqual(len(shims), 2)
        runs = berth.data / "jobs" / "runs"
        seen = self.in_job(berth, job, f"ls {runs} {runs}/*; cat {runs}/*/spec; "
                           f"kill -9 {' '.join(map(str, shims))}; "
                           "ls /proc/*/environ | wc -l").stdout
        if berth.is_root() or has_namespaces:
            self.assertNotIn("token", seen)
            self.assertNotIn("lock", seen)
        self.assertEqual(berth.shims(), shims)
        if has_namespaces and "pid" in berth.layers():
            self.assertLess(int(seen.split()[-1]), 20)
        if "mount" in berth.layers():
            # Terminals are the pod's own.
            done = berth.ctl("exec", "-t", job, "--", "sh", "-c",
                             "tty; ls /dev/pts")
            self.assertEqual(done.stdout.split(), ["/dev/pts/0", "0", "ptmx"])
        # Nobody comes by the way that the executor comes.
        done = berth.ctl("exec", job, "--", "/usr/bin/env", "python3", "-c",
                         "import glob, socket\n"
                         f"paths = glob.glob('{runs}/*/exec') or "
                         f"['{runs}/x/exec']\n"
                         "for path in paths:\n"
                         "    s = socket.socket(socket.AF_UNIX)\n"
                         "    s.connect(path)\n"
                         "    s.sendall(b'\\1\\0\\0\\0\\0')\n"
                         "    print('heard', s.recv(100))", check=False)
        self.assertNotIn("heard b'\\x", done.stdout)
        self.assertEqual(berth.ctl("exec", other, "--", "echo",
                                   "well").stdout, "well\n")

    def test_with_namespaces(self):
        berth = self.start(None, True)
        self.check_end(berth, str(200_000_000 + os.getpid()))
        self.check_view(berth, True)

    def test_without_namespaces(self):
        berth = self.start(None, False)
        self.check_end(berth, str(300_000_000 + os.getpid()))
        self.check_view(berth, False)

    @unittest.skipUnless(hostile.IS_ROOT, "root alone can be another user")
    def test_as_another_user(self):
        berth = self.start(hostile.NOBODY, True)
        self.check_end(berth, str(400_000_000 + os.getpid()))
        self.check_view(berth, "pid" in berth.layers())


if __name__ == "__main__":
    unittest.main()
