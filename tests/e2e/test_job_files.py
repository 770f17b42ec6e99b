"""The files of jobs: get files, cp, and what may not be had."""

import json
import os
import pathlib
import tempfile
import unittest

import harness

CONFIG = """
executor:
  process:
    resources: {cpu: 4, memory: 2Gi, ephemeral-storage: 8Gi}
"""
SHORT = CONFIG + """\
    retention: {folders: 0s}
"""
SMALL = ("--cpu", "100m", "--memory", "16Mi", "--storage", "16Mi")


class JobFiles(unittest.TestCase):
    config = CONFIG

    @classmethod
    def setUpClass(cls):
        cls.berth = harness.Berth(cls.config, arguments=["--stop-jobs"]).start()
        cls.addClassCleanup(cls.berth.close)
        cls.berth.ctl("create", "queue", "q")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)

    def ends(self, code, *arguments, **options):
        done = self.berth.ctl(*arguments, check=False, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def run_job(self, text, code=0, options=()):
        """The id of a job that has ended."""
        out = self.ends(code, "run", "-q", "q", *SMALL, *options, "--follow",
                        "--", "sh", "-c", text)
        return out.stderr.split("with id ")[1].split()[0]

    def tree(self, folder):
        return {str(path.relative_to(folder)):
                path.read_bytes() if path.is_file() else None
                for path in folder.rglob("*")}

    def test_files_are_listed_and_copied(self):
        job = self.run_job(
            "mkdir -p out/deep none; printf hello > out/deep/a; "
            "printf '#!/bin/sh\\n' > out/go; chmod +x out/go; "
            "head -c 2500000 /dev/zero | tr '\\0' z > big", 0)
        listed = json.loads(self.ends(0, "get", "files", job, "-o",
                                      "json").stdout)["files"]
        self.assertEqual([(file["path"], file.get("folder", False),
                           int(file.get("byteCount", 0))) for file in listed],
                         [("big", False, 2500000), ("none", True, 0),
                          ("out", True, 0), ("out/deep", True, 0),
                          ("out/deep/a", False, 5), ("out/go", False, 10)])
        self.assertRegex(self.ends(0, "get", "files", job, "out/deep").stdout,
                         r"SIZE +MODIFIED +PATH\n5 +\S+ ago +out/deep/a\n")
        everything = self.here / "all"
        done = self.ends(0, "cp", f"{job}:", str(everything))
        self.assertIn("Copied 3 files, 2500015 bytes", done.stdout)
        self.assertEqual(self.tree(everything),
                         {"big": b"z" * 2500000, "none": None, "out": None,
                          "out/deep": None, "out/deep/a": b"hello",
                          "out/go": b"#!/bin/sh\n"})
        self.assertTrue(os.access(everything / "out" / "go", os.X_OK))
        # A file to a name, and into a folder; a folder into a folder.
        self.ends(0, "cp", f"{job}:out/deep/a", str(self.here / "b"))
        self.assertEqual((self.here / "b").read_bytes(), b"hello")
        self.ends(0, "cp", f"{job}:out/deep/a", str(self.here))
        self.assertEqual((self.here / "a").read_bytes(), b"hello")
        self.ends(0, "cp", f"{job}:./out/", str(self.here))
        self.assertEqual((self.here / "out/deep/a").read_bytes(), b"hello")

    def test_options_say_which_job(self):
        self.run_job("echo old > model", options=("--name", "train"))
        self.run_job("mkdir out; echo new > out/model", options=(
            "--name", "train", "--label", "team=a"))
        for options in (("--name", "train"), ("-l", "team=a"),
                        ("-q", "q", "--me", "--name", "train")):
            listed = self.ends(0, "get", "files", *options)
            self.assertIn("out/model", listed.stdout)
        self.assertIn("out/model", self.ends(
            0, "get", "files", "--name", "train", "out").stdout)
        self.ends(0, "cp", "--name", "train", ":out/model", str(self.here))
        self.assertEqual((self.here / "model").read_text(), "new\n")
        self.ends(0, "cp", "-l", "team=a", ":", str(self.here / "all"))
        self.assertEqual((self.here / "all/out/model").read_text(), "new\n")

        # Of an array the index says which.
        array = self.ends(0, "run", "-q", "q", *SMALL, "--array", "0-1",
                          "--name", "many", "--", "sh", "-c",
                          "echo $BERTH_ARRAY_INDEX > index").stderr
        self.ends(0, "wait", "-q", "q", "--name", "many")
        self.assertIn("--index", self.ends(
            2, "get", "files", "--name", "many").stderr, array)
        self.ends(0, "cp", "--name", "many", "--index", "1", ":index",
                  str(self.here))
        self.assertEqual((self.here / "index").read_text(), "1\n")

        # Not both, and not neither.
        job = self.run_job("true")
        for words in (("get", "files"), ("cp", ":x", "."),
                      ("get", "files", "--name", "train", job),
                      ("get", "files", "--name", "train", job, "out"),
                      ("cp", "--name", "train", f"{job}:x", "."),
                      ("cp", "--name", "train", "x", ".")):
            self.ends(2, *words)
        self.ends(3, "get", "files", "--name", "nobody")

    def test_what_is_not_there_says_so(self):
        job = self.run_job("exit 3", 3)
        self.assertIn("No such file", self.ends(
            3, "cp", f"{job}:gone", str(self.here)).stderr)
        self.assertIn("path must be", self.ends(
            6, "get", "files", job, "../x").stderr)
        self.ends(3, "get", "files", "01h00000000000000000000000")
        self.ends(2, "cp", job, str(self.here))

    def test_nothing_leads_out(self):
        """Neither out of the job's folder, nor out of the target's."""
        job = self.run_job(
            "ln -s /etc/passwd link; ln -s /etc folder; mkfifo fifo; "
            "printf x > \"$(printf 'a\\033[2Jb')\"; mkdir d; printf y > d/f")
        shown = self.ends(0, "get", "files", job)
        self.assertIn("a\\x1b[2Jb", shown.stdout)
        self.assertNotIn("\033", shown.stdout)
        self.assertIn("3 passed over", shown.stderr)
        for path in "link", "folder/passwd", "fifo":
            self.assertNotEqual(self.berth.ctl(
                "cp", f"{job}:{path}", str(self.here / "x"),
                check=False).returncode, 0)
        self.assertEqual(list(self.here.iterdir()), [])
        # A link in the target's place is replaced, and one on the way refused.
        target, outside = self.here / "t", self.here / "outside"
        target.mkdir()
        outside.mkdir()
        (target / "d").symlink_to(outside)
        self.ends(1, "cp", f"{job}:", str(target))
        self.assertEqual(list(outside.iterdir()), [])
        (target / "d").unlink()
        (target / "d").mkdir()
        (outside / "kept").write_text("kept")
        (target / "d" / "f").symlink_to(outside / "kept")
        self.ends(0, "cp", f"{job}:", str(target))
        self.assertEqual((outside / "kept").read_text(), "kept")
        self.assertEqual((target / "d" / "f").read_text(), "y")

    def test_files_go_with_a_job(self):
        one, two = self.here / "one", self.here / "two"
        one.write_bytes(b"1\0\n")
        two.write_text("two")
        job = self.run_job("mkdir copy; cp -r one conf copy; echo more >> one",
                           options=("--file", f"{one},{two}=conf/two"))
        self.ends(0, "cp", f"{job}:", str(self.here / "all"))
        self.assertEqual(self.tree(self.here / "all"), {
            "one": b"1\0\nmore\n", "conf": None, "conf/two": b"two",
            "copy": None, "copy/one": b"1\0\n", "copy/conf": None,
            "copy/conf/two": b"two"})
        text = json.dumps({"queue": "q", "jobSetId": "s", "jobs": [
            {"namespace": "default", "inputFiles": {"a/b": "hello"},
             "podSpec": {"containers": [{
                 "name": "main", "image": "none",
                 "command": ["grep", "-qx", "hello", "a/b"],
                 "resources": {kind: {"cpu": "100m", "memory": "16Mi"}
                               for kind in ("requests", "limits")}}]}}]})
        job = self.ends(0, "submit", "-", input_text=text).stdout.split()[4]
        self.ends(0, "wait", job)
        for name in "../x", "/x", "a//b":
            self.assertIn("must be names", self.ends(
                6, "run", "-q", "q", *SMALL, "--file", f"{one}={name}", "--",
                "true").stderr)
        one.write_bytes(b"x" * (65 << 10))
        self.assertIn("64 KiB", self.ends(
            6, "run", "-q", "q", *SMALL, "--file", str(one), "--",
            "true").stderr)

    def test_config_maps_go_with_a_job(self):
        text = json.dumps({"queue": "q", "jobSetId": "s", "jobs": [
            {"namespace": "default",
             "objects": [{"apiVersion": "v1", "kind": "ConfigMap",
                          "metadata": {"name": "settings"},
                          "data": {"greeting": "hello"}}],
             "podSpec": {
                 "volumes": [{"name": "v", "configMap": {"name": "settings"}}],
                 "containers": [{
                     "name": "main", "image": "none",
                     "command": ["grep", "-qx", "hello", "/conf/greeting"],
                     "volumeMounts": [{"name": "v", "mountPath": "/conf"}],
                     "resources": {kind: {"cpu": "100m", "memory": "16Mi"}
                                   for kind in ("requests", "limits")}}]}}]})
        job = self.ends(0, "submit", "-", input_text=text).stdout.split()[4]
        self.ends(0, "wait", job)
        self.assertIn("armada-" + job + "-0-settings",
                      self.ends(0, "get", "objects", job).stdout)

    def test_a_running_job_has_files(self):
        job = self.ends(0, "run", "-q", "q", *SMALL, "--", "sh", "-c",
                        "printf 1 > now; exec sleep 600").stdout.split()[4]
        harness.wait_for("the file is there", lambda: self.berth.ctl(
            "cp", f"{job}:now", str(self.here), check=False).returncode == 0)
        self.assertEqual((self.here / "now").read_text(), "1")
        self.ends(0, "cancel", "job", job)


class JobResults(JobFiles):
    """Folders are removed at once; what is at an outputPath stays."""

    config = SHORT
    test_files_are_listed_and_copied = None
    test_what_is_not_there_says_so = None
    test_nothing_leads_out = None
    test_a_running_job_has_files = None
    test_files_go_with_a_job = None

    def gone(self, job):
        done = self.berth.ctl("get", "files", job, check=False)
        return done.returncode == 3 and "retention.folders" in done.stderr

    def test_results_are_kept(self):
        job = self.run_job("echo scratch > here; cd $BERTH_OUTPUT_DIR && "
                           "mkdir m && echo result > m/model",
                           options=("--output-path", "/results"))
        lost = self.run_job("echo scratch > here")
        harness.wait_for("folders are removed", lambda: self.gone(lost))
        self.ends(0, "cp", f"{job}:", str(self.here / "all"))
        self.assertEqual(self.tree(self.here / "all"),
                         {"m": None, "m/model": b"result\n"})
        # As a file of jobs says it; where mounts are allowed, at that path.
        text = json.dumps({"queue": "q", "jobSetId": "s", "jobs": [
            {"namespace": "default", "outputPath": "/results", "podSpec": {
                "containers": [{
                    "name": "main", "image": "none",
                    "command": ["sh", "-c", "d=/results; [ -d $d ] || "
                                "d=$BERTH_OUTPUT_DIR; echo 2 > $d/two"],
                    "resources": {kind: {"cpu": "100m", "memory": "16Mi"}
                                  for kind in ("requests", "limits")}}]}}]})
        done = self.ends(0, "submit", "-", input_text=text)
        self.assertNotIn("ignored", done.stderr)
        job = done.stdout.split()[4]
        self.ends(0, "wait", job)
        harness.wait_for("it is listed", lambda: "two" in self.berth.ctl(
            "get", "files", job, check=False).stdout)
        for path in "results", "/", "/a/../b", "/a:b", "/a//b":
            self.assertRegex(self.ends(
                6, "run", "-q", "q", *SMALL, "--output-path", path, "--",
                "true").stderr, "output-?[pP]ath (must be|takes) an absolute "
                "path")


if __name__ == "__main__":
    unittest.main()
