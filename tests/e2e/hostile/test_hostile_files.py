"""Hostile files: jobs that make theirs hard to list, to copy or to keep.

Whoever may read a job's files asks for them; the server must answer, live, and
show nobody else's.
"""

import concurrent.futures
import json
import os
import stat
import unittest

from test_hostile_jobs import Server, harness

NAME_BYTES_MAX, PATH_BYTES_MAX = 255, 4095
DEPTH = (PATH_BYTES_MAX + 1) // (NAME_BYTES_MAX + 1)
FILES_MAX = 10_000  # of one list
LISTS = 4
LIST_SECONDS = 10
SECRET = "nobody may see this"
# What the folder of results has that is a file of the job's.
OWN = {"about", "mine", "mine-too"}


class HostileFiles(unittest.TestCase):
    more = ""

    @classmethod
    def setUpClass(cls):
        cls.berth = Server(None, True, True, more=cls.more).start()
        cls.addClassCleanup(cls.berth.close)
        cls.secret = cls.berth.folder / "secret"
        cls.secret.write_text(SECRET)
        cls.secret.chmod(0o600)
        cls.berth.ctl("create", "queue", "q")

    def tearDown(self):
        self.assertIsNone(self.berth.program.process.poll())
        self.assertEqual(self.berth.ctl("get", "queues").returncode, 0)

    def submit(self, command, check=True, **more):
        # The kernel counts the names that it keeps of a tree, too.
        most = {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Mi"}
        return self.berth.ctl("submit", "-", check=check, input_text=json.dumps(
            {"queue": "q", "jobSetId": "s", "jobs": [
                {"namespace": "default", "podSpec": {"containers": [{
                    "name": "main", "image": "none", "command": command,
                    "env": [{"name": "ATTACK_SECRET",
                             "value": str(self.secret)}],
                    "resources": {"requests": most, "limits": most}}]},
                 **more}]}))

    def play(self, *command, **more):
        """The id of a job that has run."""
        job = self.submit(command, **more).stdout.split()[4]
        self.berth.ctl("wait", job)
        return job

    def attack(self, name, **more):
        return self.play(str(self.berth.bin / "hostile_attacker"), name, **more)

    def files(self, job, *path):
        out = self.berth.ctl("get", "files", job, *path, "-o", "json").stdout
        return json.loads(out).get("files", [])

    def test_a_path_of_the_longest(self):
        job = self.attack("long-path")
        names = ["n" * NAME_BYTES_MAX] * DEPTH
        path = "/".join(names)
        self.assertEqual(len(path), PATH_BYTES_MAX)
        self.assertEqual([file["path"] for file in self.files(job)],
                         ["/".join(names[:i + 1]) for i in range(DEPTH)])
        self.assertEqual(self.files(job, path), [])
        self.assertEqual([file["path"] for file in
                          self.files(job, "/".join(names[:-1]))], [path])
        self.assertIn("path must be names", self.berth.ctl(
            "get", "files", job, path + "/below", check=False).stderr)
        here = self.berth.folder / "long"
        self.berth.ctl("cp", f"{job}:", str(here), check=False)
        self.assertTrue((here / names[0]).is_dir())
        # The process that looks for jobs' files starts jobs, too.
        self.play("true")

    def test_input_files_deep_down(self):
        for depth in (1000, PATH_BYTES_MAX // 2):
            # YAML takes no such key; the annotation says the same.
            done = self.submit(["true"], check=False, annotations={
                "berth.dev/inputFiles": "d/" * depth + "f:eA==\n"})
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("d/d/d/", done.stderr)
            self.assertIn("folders", done.stderr)

    def test_a_wide_tree_holds_up_nobody(self):
        job = self.attack("many-entries")
        with concurrent.futures.ThreadPoolExecutor(LISTS) as pool:
            lists = [pool.submit(self.files, job) for _ in range(LISTS)]
            other = self.submit(["sleep", "600"]).stdout.split()[4]
            harness.wait_for("another job runs", lambda: "RUNNING" in
                             self.berth.ctl("get", "jobs", "-q", "q", "-o",
                                            "json").stdout, LIST_SECONDS)
            self.berth.ctl("cancel", "job", other, "--yes")
            self.berth.ctl("wait", other, check=False, seconds=LIST_SECONDS)
            # Fewer, where the machine looks at less in the time of a list.
            for listed in lists:
                self.assertIn(len(listed.result()), range(1, FILES_MAX + 1))


class HostileResults(HostileFiles):
    """Their folders are removed at once; what is at an outputPath stays."""

    more = "    retention: {folders: 0s}\n"
    test_a_path_of_the_longest = None
    test_input_files_deep_down = None
    test_a_wide_tree_holds_up_nobody = None

    def test_results_that_are_none(self):
        job = self.attack("false-output", outputPath="/results")
        kept = self.berth.data / "jobs" / "outputs" / job / "files"
        harness.wait_for("they are kept", kept.is_dir)
        seen = {file["path"] for file in self.files(job)}
        self.assertLessEqual(OWN, seen)
        self.assertFalse([path for path in seen
                          if not path.startswith("hard") and path not in OWN])
        here = self.berth.folder / "copy"
        done = self.berth.ctl("cp", f"{job}:", str(here), check=False)
        self.assertIn("passed over", done.stdout + done.stderr)
        for path in here.rglob("*"):
            self.assertTrue(stat.S_ISREG(os.lstat(path).st_mode), path)
            if self.berth.is_root():  # else the job may read it anyway
                self.assertNotIn(SECRET, path.read_text("utf-8"))
        for path in ("link0", "root/etc/passwd", "up/about", "loop/mine",
                     "fifo0", "socket"):
            done = self.berth.ctl("cp", f"{job}:{path}", str(here / "x"),
                                  check=False)
            self.assertNotEqual(done.returncode, 0, path)
            self.assertFalse((here / "x").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
