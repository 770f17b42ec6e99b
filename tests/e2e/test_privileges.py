"""What the programs give up after their start, as the kernel sees it: system
calls, and root, which only the helper keeps."""

import json
import os
import pathlib
import pwd
import signal
import unittest

import harness

SANITIZED = "BERTH_SANITIZED" in os.environ
HAS_FILTERS = os.path.exists("/proc/sys/kernel/seccomp")
IS_ROOT = os.geteuid() == 0
NO_ACCOUNT = 65533
GONE = 64321  # an id that no account has


def front_user():
    """The user that the programs become."""
    try:
        return pwd.getpwnam("berth").pw_uid
    except KeyError:
        return NO_ACCOUNT


def status_of(pid, thread=None):
    """What the kernel says of a process or one of its threads."""
    path = pathlib.Path(f"/proc/{pid}/task/{thread or pid}/status")
    return dict(line.split(":\t", 1)
                for line in path.read_text("utf-8").splitlines()
                if ":\t" in line)


def threads_of(pid):
    return [int(path.name) for path in
            pathlib.Path(f"/proc/{pid}/task").glob("[0-9]*")]


def helper_of(pid):
    found = [child for child in harness.children_of(pid)
             if harness.name_of(child) == "berth-helper"]
    return found[0] if found else None


class Filter(unittest.TestCase):
    @unittest.skipIf(SANITIZED, "a program with a sanitizer has no filter")
    @unittest.skipUnless(HAS_FILTERS, "this kernel has no filters")
    def test_every_thread_of_a_server_has_it(self):
        with harness.Berth() as berth:
            pid = berth.program.process.pid
            threads = threads_of(pid)
            self.assertGreater(len(threads), 4)
            for thread in threads:
                status = status_of(pid, thread)
                self.assertEqual((status["Seccomp"], status["NoNewPrivs"]),
                                 ("2", "1"), thread)
            self.assertIn("event=filter.on process=berthd",
                          berth.program.log())

    @unittest.skipIf(SANITIZED, "a program with a sanitizer has no filter")
    @unittest.skipUnless(HAS_FILTERS, "this kernel has no filters")
    def test_the_helper_and_what_it_starts_have_one(self):
        with harness.Berth() as berth:
            helper = helper_of(berth.program.process.pid)
            for thread in threads_of(helper):
                status = status_of(helper, thread)
                self.assertEqual((status["Seccomp"], status["NoNewPrivs"]),
                                 ("2", "1"), thread)
            self.assertIn("event=filter.on process=berth-helper",
                          berth.program.log())
            berth.ctl("create", "queue", "q")
            berth.ctl("run", "-q", "q", "--", "sleep", "60")
            harness.wait_for("the job runs", berth.shims)
            self.assertEqual(status_of(berth.shims()[0])["Seccomp"], "2")

    def test_it_can_be_switched_off(self):
        config = "hardening: {systemCallFilter: false}\n"
        with harness.Berth(config) as berth:
            for process in ("berthd", "berth-helper"):
                self.assertIn(f"event=filter.off process={process}",
                              berth.program.log())
            self.assertNotIn("event=filter.on", berth.program.log())
            self.assertEqual(
                status_of(helper_of(berth.program.process.pid))["Seccomp"],
                status_of(os.getpid())["Seccomp"])


class Root(unittest.TestCase):
    def check_powerless(self, pid):
        """Nothing of root is left in any thread."""
        user = str(front_user())
        for thread in threads_of(pid):
            status = status_of(pid, thread)
            self.assertEqual(status["Uid"].split(), [user] * 4)
            self.assertNotIn("0", status["Gid"].split()
                             + status["Groups"].split())
            for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                self.assertEqual(int(status[kind], 16), 0, kind)
            self.assertEqual(status["NoNewPrivs"], "1")

    def run_job(self, berth, *command):
        berth.ctl("create", "queue", "q", check=False)
        return berth.ctl("run", "-q", "q", "-f", "--", *command).stdout

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_a_server_keeps_no_right_and_its_jobs_run(self):
        with harness.Berth() as berth:
            pid = berth.program.process.pid
            self.check_powerless(pid)
            self.assertIn("event=privileges.dropped", berth.program.log())
            helper = status_of(helper_of(pid))
            self.assertEqual(helper["Uid"].split()[0], "0")
            self.assertEqual(helper["Name"].strip(), "berth-helper")
            self.assertIn("uid=65534", self.run_job(berth, "id"))
            jobs = os.stat(berth.data / "jobs")
            self.assertEqual((jobs.st_uid, jobs.st_mode & 0o777), (0, 0o711))
            data = os.stat(berth.data)
            self.assertEqual((data.st_uid, data.st_mode & 0o7777),
                             (0, 0o1771))
            # Of an older release its files would be root's.
            berth.stop()
            for path in berth.data.glob("*.db*"):
                os.chown(path, 0, 0)
            berth.start()
            self.check_powerless(berth.program.process.pid)
            self.run_job(berth, "true")

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_files_of_an_account_that_is_gone_become_the_users(self):
        with harness.Berth() as berth:
            berth.stop()
            for path in berth.data.glob("*.db*"):
                os.chown(path, GONE, GONE)
            others = berth.data / "of-another"
            others.touch()
            os.chown(others, pwd.getpwnam("daemon").pw_uid, 0)
            berth.start()
            self.check_powerless(berth.program.process.pid)
            self.assertEqual({path.stat().st_uid
                              for path in berth.data.glob("*.db*")},
                             {front_user()})
            self.assertEqual(others.stat().st_uid,
                             pwd.getpwnam("daemon").pw_uid)

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_an_executor_keeps_no_right_and_its_jobs_run(self):
        with harness.Berth(standalone=False) as berth:
            executor = harness.Executor(berth.grpc, "apart",
                                        berth.folder / "apart",
                                        runtime="process").start()
            try:
                self.check_powerless(executor.program.process.pid)
                self.assertIn("uid=65534", self.run_job(berth, "id"))
            finally:
                self.assertEqual(executor.stop(), 0)

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_what_it_cannot_use_as_that_user_keeps_it_root_and_is_said(self):
        berth = harness.Berth()
        berth.config_path.chmod(0o600)
        with berth:
            self.assertRegex(berth.program.log(),
                             r"event=privileges.kept process=berthd reason=.*cannot read")
            self.assertEqual(status_of(berth.program.process.pid)["Uid"]
                             .split()[0], "0")

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_no_user_means_root(self):
        with harness.Berth('hardening: {user: ""}\n') as berth:
            self.assertIn("hardening.user is empty", berth.program.log())

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_a_planted_folder_of_jobs_is_not_believed(self):
        berth = harness.Berth()
        berth.data.mkdir()
        (berth.folder / "elsewhere").mkdir()
        (berth.data / "jobs").symlink_to(berth.folder / "elsewhere")
        with berth:
            self.assertRegex(berth.program.log(),
                             r"event=privileges.kept process=berthd reason=.*jobs is not")

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_no_job_is_the_servers_user(self):
        config = "executor: {process: {allowedUsers: ['%d']}}\n" % front_user()
        with harness.Berth(config) as berth:
            berth.ctl("create", "queue", "q")
            most = {"cpu": "100m", "memory": "64Mi",
                    "ephemeral-storage": "64Mi"}
            done = berth.ctl("submit", "-", input_text=json.dumps({
                "queue": "q", "jobSetId": "s", "jobs": [{
                    "namespace": "default", "podSpec": {
                        "securityContext": {"runAsUser": front_user()},
                        "containers": [{
                            "name": "main", "image": "none",
                            "command": ["true"],
                            "resources": {"requests": most, "limits": most},
                        }]}}]}))
            job_id = done.stdout.split()[4]
            berth.ctl("wait", job_id, check=False)
            self.assertIn("which the executor itself runs as",
                          berth.ctl("get", "jobs", "-n", "0", "-o", "json").stdout)


class Helper(unittest.TestCase):
    def test_a_server_whose_helper_is_killed_ends_and_starts_again(self):
        with harness.Berth() as berth:
            berth.ctl("create", "queue", "q")
            job_id = berth.ctl("run", "-q", "q", "--", "sh", "-c",
                               "echo up; exec sleep 60").stdout
            harness.wait_for("the job runs", berth.shims)
            os.kill(helper_of(berth.program.process.pid), signal.SIGKILL)
            self.assertEqual(berth.program.end(), 1, job_id)
            self.assertIn("event=helper.lost", berth.program.log())
            self.assertTrue(berth.shims())
            berth.start()
            harness.wait_for("the job is known to run", lambda: [
                job["state"] for job in json.loads(berth.ctl(
                    "get", "jobs", "-q", "q", "-o", "json").stdout)
            ] == ["RUNNING"])

    def test_it_ends_with_a_server_that_is_killed(self):
        with harness.Berth() as berth:
            helper = helper_of(berth.program.process.pid)
            berth.kill()
            harness.wait_for("the helper has ended",
                             lambda: not harness.words_of(helper))
            berth.start()


if __name__ == "__main__":
    unittest.main()
