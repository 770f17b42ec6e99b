"""What users do every day with berthctl: run, wait, follow, select."""

import fcntl
import json
import os
import pathlib
import pty
import struct
import subprocess
import tempfile
import termios
import unittest

import harness

CONFIG = """
executor:
  errorCategories:
    categories:
      - name: machine
        rules:
          - {onTerminationMessage: {pattern: "(?i)disk [a-z]+ failed"},
             subcategory: disk}
          - {onExitCodes: {operator: In, values: [74]}}
  process:
    resources: {cpu: 4, memory: 2Gi, ephemeral-storage: 8Gi}
"""
SMALL = ("--cpu", "100m", "--memory", "16Mi", "--storage", "16Mi")


class UserDay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.berth = harness.Berth(CONFIG, arguments=["--stop-jobs"]).start()
        cls.addClassCleanup(cls.berth.close)

    def setUp(self):
        self.queue = "q-" + self.id().rsplit(".", 1)[1].replace("_", "-")
        self.ctl("create", "queue", self.queue)

    def ctl(self, *arguments, **options):
        return self.berth.ctl(*arguments, **options).stdout

    def ends(self, code, *arguments, **options):
        """A command that must exit with `code`."""
        done = self.berth.ctl(*arguments, check=False, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def run_job(self, *words, options=()):
        """The id of a job that runs a shell's text."""
        out = self.ctl("run", "-q", self.queue, *SMALL, *options, "--",
                       "sh", "-c", *words)
        return out.split()[4]

    def file(self, command):
        return json.dumps({"queue": self.queue, "jobSetId": "file", "jobs": [
            {"namespace": "default", "podSpec": {"containers": [{
                "name": "main", "image": "none",
                "command": ["sh", "-c", command],
                "resources": {kind: {"cpu": "100m", "memory": "16Mi",
                                     "ephemeral-storage": "16Mi"}
                              for kind in ("requests", "limits")}}]}}]})

    def test_run_follows_a_job_to_its_own_code(self):
        done = self.ends(7, "run", "-q", self.queue, *SMALL, "--name", "seven",
                         "--follow", "-e", "WHO=anna", "--",
                         "sh", "-c", "echo hello $WHO; exit 7")
        self.assertEqual(done.stdout, "hello anna\n")
        self.assertIn("Submitted job with id", done.stderr)
        self.assertEqual(
            self.ends(0, "run", "-q", self.queue, *SMALL, "-f", "true").stdout,
            "")
        job_id = self.run_job("exit 3")
        self.ends(3, "logs", "-f", job_id)
        text = self.ctl("explain", job_id)
        self.assertRegex(text, r"It was submitted at 2\d{3}-\S+ by anonymous\.")
        self.assertRegex(text, r"Run 1 started at \S+ on node \S+ of executor "
                               r"\S+, after it had waited for \S+; it ended "
                               r"at \S+, after \S+, with exit code 3\.")
        told = json.loads(self.ctl("explain", job_id, "-o", "json"))
        self.assertEqual((told["state"], told["exitCode"]), ("failed", 3))
        self.assertGreaterEqual(told["endedMs"], told["startedMs"])

    def test_members_of_an_array_know_their_index(self):
        self.ctl("run", "-q", self.queue, *SMALL, "--array", "0-4", "--name",
                 "many", "--", "sh", "-c", "exit $BERTH_ARRAY_INDEX")
        told = json.loads(self.ends(7, "wait", "--name", "many", "-o",
                                    "json").stdout)
        self.assertEqual((len(told["succeeded"]), len(told["failed"])), (1, 4))
        third = json.loads(self.ctl(
            "get", "jobs", "-q", self.queue, "-l", "berth.dev/arrayIndex=3",
            "-o", "json"))
        self.assertEqual([job["exitCode"] for job in third], [3])
        rows = self.ctl("get", "jobs", "-q", self.queue, "--name", "many",
                        "--members").splitlines()
        self.assertEqual(rows[0].split()[:2], ["JOB", "INDEX"])
        self.assertEqual(sorted(row.split()[1] for row in rows[1:]),
                         list("01234"))

    def test_the_newest_job_of_a_name_is_meant(self):
        for word in ("first", "second"):
            self.ctl("run", "-q", self.queue, *SMALL, "--name", "again", "--",
                     "echo", word)
            self.ctl("wait", "-q", self.queue, "--name", "again")
        self.assertEqual(self.ctl("logs", "-q", self.queue, "--name", "again"),
                         "second\n")
        self.assertIn("succeeded", self.ctl(
            "explain", "-q", self.queue, "--name", "again").lower())
        self.ctl("run", "-q", self.queue, *SMALL, "--array", "0-2", "--name",
                 "many", "--", "sh", "-c", "echo $BERTH_ARRAY_INDEX")
        self.ctl("wait", "-q", self.queue, "--name", "many")
        self.assertIn("--index", self.ends(
            2, "logs", "-q", self.queue, "--name", "many").stderr)
        self.assertEqual(self.ctl("logs", "-q", self.queue, "--name", "many",
                                  "--index", "1"), "1\n")
        self.ends(3, "logs", "-q", self.queue, "--name", "many", "--index", "7")
        self.ends(2, "logs")

    def test_only_some_members_of_an_array_run_at_once(self):
        folder = self.berth.meeting / "members"
        folder.mkdir()
        folder.chmod(0o777)
        out = self.berth.ctl(
            "run", "-q", self.queue, *SMALL, "--array", "0-6%2", "--name",
            "few", "--", "sh", "-c",
            f"touch {folder}/$BERTH_ARRAY_INDEX; until [ -e {folder}/go ]; "
            "do sleep 0.05; done; "
            f"ls {folder} | wc -l > {folder}/seen-$BERTH_ARRAY_INDEX; "
            f"rm {folder}/$BERTH_ARRAY_INDEX")
        array = out.stderr.split()[2].rstrip(":")
        harness.wait_for("two of them run", lambda: len(os.listdir(folder))
                         == 2)
        jobs = json.loads(self.ctl("get", "jobs", "-l",
                                   f"berth.dev/array={array}", "-o", "json"))
        held = [job for job in jobs if job.get("held")]
        self.assertEqual((len(jobs), len(held)), (7, 5))
        self.assertEqual({job["waitReason"] for job in held}, {"concurrency"})
        self.assertIn(f"its group {array} has as many jobs as may run at once "
                      "(2)", self.ctl("explain", f"{array}_6"))
        # The array is one row, and its id stands for all members.
        harness.wait_for("the list says so", lambda: "2 running, 5 queued" in
                         self.ctl("get", "jobs", "-q", self.queue))
        rows = self.ctl("get", "jobs", "-q", self.queue).splitlines()
        self.assertEqual((len(rows), rows[1].split()[0]), (2, array))
        self.assertEqual(len(self.ctl("get", "jobs", "-q", self.queue,
                                      "--members").splitlines()), 8)
        self.assertEqual(len(self.ctl("get", "jobs", array).splitlines()), 8)
        second = json.loads(self.ctl("get", "jobs", f"{array}_2", "-o",
                                     "json"))
        self.assertEqual([job["arrayIndex"] for job in second], ["2"])
        self.assertIn("no member", self.ends(3, "cancel", "job",
                                             f"{array}_7").stderr)
        # The turn of one that is cancelled goes on, too.
        self.ctl("cancel", "job", f"{array}_0")
        harness.wait_for("the third runs", lambda: "2" in os.listdir(folder))
        self.ctl("cancel", "job", f"{array}_5", f"{array}_6")
        (folder / "go").touch()
        told = json.loads(self.ends(7, "wait", array, "-o", "json").stdout)
        self.assertEqual((len(told["succeeded"]), len(told["failed"])), (4, 3))
        self.assertEqual(self.ctl("logs", f"{array}_2"), "")
        self.assertIn("4 succeeded, 3 cancelled",
                      self.ctl("get", "jobs", "-q", self.queue))
        self.assertEqual(len(list(folder.glob("seen-*"))), 4)

    def test_lists_are_written_as_asked(self):
        a = self.run_job("true", options=["--name", "a"])
        self.ends(0, "wait", a)
        self.assertEqual(self.ctl("get", "jobs", "-q", self.queue, "-o",
                                  "name"), a + "\n")
        self.assertEqual(
            self.ctl("get", "jobs", a, "-o", "custom-columns=S:.state"),
            "S\nSUCCEEDED\n")
        self.assertEqual(
            self.ctl("get", "queue", self.queue, "-o", "jsonpath={.name}"),
            self.queue + "\n")
        done = subprocess.run(
            ["bash", "-c", 'eval "$(berthctl completion bash)"\n'
             "COMP_WORDS=(berthctl get job); COMP_CWORD=2; _berthctl\n"
             'echo "${COMPREPLY[@]}"\n'
             "COMP_WORDS=(berthctl wait --ti); COMP_CWORD=2; _berthctl\n"
             'echo "${COMPREPLY[@]}"'], text=True, capture_output=True,
            check=True, env={**os.environ, "PATH": os.path.dirname(
                harness.program("berthctl")) + ":" + os.environ["PATH"]})
        self.assertEqual(done.stdout, "jobs jobsets job-report\n--timeout\n")

    def test_usage_is_reported(self):
        good = self.run_job("sleep 1")
        bad = self.run_job("sleep 1; exit 1")
        self.ends(7, "wait", good, bad)
        report = ("report", "usage", "-q", self.queue)

        def usage(*words):
            return json.loads(self.ctl(*report, *words, "-o", "json"))
        harness.wait_for("both are counted", lambda: sum(
            row.get("runs", 0) for row in usage()) == 2)
        row = usage()[0]
        self.assertEqual((row["submitted"], row["succeeded"], row["failed"]),
                         (2, 1, 1))
        # Each held a tenth of a core for a second and a little.
        self.assertGreater(row["coreHours"], 2 * 0.1 / 3600)
        self.assertGreater(row["wastedCoreHours"], 0.1 / 3600)
        self.assertLess(row["wastedCoreHours"], row["coreHours"])
        self.assertAlmostEqual(row["coreHours"], 0.1 * row["ranHours"])
        by_user = usage("--by", "day,user")
        self.assertEqual({row["user"] for row in by_user}, {"anonymous"})
        self.assertRegex(by_user[0]["day"], r"^2\d{3}-\d\d-\d\d$")
        self.assertEqual(usage("--to", "2000-01-01"), [])
        self.assertEqual(usage("--by", "", "--me")[0]["runs"], 2)
        lines = self.ctl(*report, "-o", "csv").splitlines()
        self.assertTrue(lines[0].startswith("DAY,QUEUE,USER,JOBS,"))
        self.assertTrue(lines[1].startswith(f",{self.queue},,2,1,1,"))
        self.ends(6, *report, "--from", "yesterday")
        self.ends(6, *report, "--by", "moon")
        self.ends(3, "report", "usage", "-q", "nor")

    def test_jobs_are_reported_and_summed(self):
        jobs = [self.run_job(f"sleep 0.1; exit {code}", options=[
            "-l", f"team={team}", "--name", name]) for team, name, code in (
                ("a", "x", 0), ("a", "y", 3), ("b", "x", 0))]
        self.ends(7, "wait", *jobs)
        report = ("report", "jobs", "-q", self.queue)

        def hours():
            return {job["jobId"]: job["usage"] for job in json.loads(
                self.ctl(*report, "-o", "json"))}
        harness.wait_for("all have been charged", lambda: all(
            int(usage.get("ranMs", 0)) >= 100 for usage in hours().values()))
        used = hours()
        self.assertEqual(sorted(used), sorted(jobs))
        self.assertEqual(used[jobs[1]]["wastedMs"], used[jobs[1]]["ranMs"])
        self.assertEqual(used[jobs[0]]["coreMilli"], 100)
        rows = json.loads(self.ctl(*report, "--by", "label:team,name", "-o",
                                   "json"))
        self.assertEqual([(row["label:team"], row["name"], row["jobs"],
                           row["succeeded"], row["failed"]) for row in rows],
                         [("a", "x", 1, 1, 0), ("a", "y", 1, 0, 1),
                          ("b", "x", 1, 1, 0)])
        self.assertAlmostEqual(
            sum(row["coreHours"] for row in rows),
            sum(int(usage["ranMs"]) for usage in used.values()) * 0.1 / 3.6e6)
        sums = self.ctl(*report, "--by", "queue", "-o", "csv").splitlines()
        self.assertEqual(sums[1].split(",")[:5],
                         [self.queue, "3", "2", "1", "0"])
        self.assertEqual(len(self.ctl(*report).splitlines()), 4)
        self.assertEqual(json.loads(self.ctl(
            *report, "--to", "2020-01-01", "-o", "json")), [])
        self.assertIn("--by takes", self.ends(
            2, *report, "--by", "colour").stderr)
        self.assertIn("a day such as", self.ends(
            2, *report, "--from", "today").stderr)

    def test_a_file_of_jobs_has_parameters(self):
        file = json.loads(self.file("exit {{ code }}"))
        file["parameters"] = {"code": 0, "who": None}
        file["jobs"][0]["labels"] = {"who": "{{ who }}"}
        values = pathlib.Path(self.berth.folder) / "values.yaml"
        values.write_text("- {who: a}\n- {who: b, code: 3}\n",
                          encoding="utf-8")
        done = self.ends(0, "submit", "-", "--values", str(values),
                         input_text=json.dumps(file))
        self.assertEqual(done.stdout.count("Submitted job with id"), 2)
        told = json.loads(self.ends(7, "wait", "-q", self.queue, "-l", "who=b",
                                    "-o", "json").stdout)
        self.assertEqual(len(told["failed"]), 1)
        self.ends(0, "wait", "-q", self.queue, "-l", "who=a")
        self.ends(0, "submit", "-", "--set", "who=c",
                  input_text=json.dumps(file))
        self.ends(0, "wait", "-q", self.queue, "-l", "who=c")
        self.assertIn("has no value", self.ends(
            6, "submit", "-", input_text=json.dumps(file)).stderr)

    def test_the_server_checks_without_submitting(self):
        self.assertEqual(
            self.ctl("submit", "--check", "-", input_text=self.file("true")),
            "The server accepts 1 job; nothing was submitted\n")
        bad = json.loads(self.file("true"))
        bad["jobs"][0]["annotations"] = {"berth.dev/hold": "maybe"}
        self.assertIn("must be true or false", self.ends(
            6, "submit", "--check", "-", input_text=json.dumps(bad)).stderr)
        self.ends(3, "submit", "--check", "-q", "nor", "-",
                  input_text=self.file("true"))
        self.assertEqual(self.ctl("get", "jobs", "-q", self.queue, "-o",
                                  "name"), "")

    def test_who_took_a_place_is_told(self):
        job_id = self.run_job("sleep 600", options=[
            "--priority-class", "armada-preemptible"])
        harness.wait_for("it runs", lambda: "Run 1 started at" in
                         self.ctl("explain", job_id))
        self.ctl("preempt", "job", job_id, "--reason", "lunch")
        self.ends(7, "wait", job_id)
        self.assertIn("Preempted by anonymous - lunch",
                      self.ctl("explain", job_id))
        held = self.run_job("true", options=["--hold"])
        self.ctl("cancel", "job", held)
        self.ends(7, "wait", held)
        self.assertIn("It was cancelled by anonymous at ",
                      self.ctl("explain", held))

    def test_a_script_gets_its_arguments(self):
        script = "#!/bin/sh\necho \"$# $2\"\nexit 4\n"
        done = self.ends(4, "run", "-q", self.queue, *SMALL, "-f", "--script",
                         "-", "--", "a", "b c", input_text=script)
        self.assertEqual(done.stdout, "2 b c\n")

    def test_wait_by_ids_names_and_labels(self):
        go = self.berth.meeting / "go-wait"
        self.addCleanup(lambda: go.unlink(missing_ok=True))
        wait = f"until [ -e {go} ]; do sleep 0.05; done"
        good = self.run_job(wait, options=["--name", "good", "-l", "k=v"])
        bad = self.run_job("exit 1", options=["-l", "k=v,x=y"])
        self.assertIn("1 failed", self.ends(
            7, "wait", good, bad, "--for", "succeeded").stdout)
        self.ends(7, "wait", "-l", "k=v", "--for", "any", "-q", self.queue)
        self.ends(8, "wait", "--name", "good", "--timeout", "50ms")
        self.ends(3, "wait", "-l", "k=w")
        self.ends(3, "wait", "01h00000000000000000000000")
        go.touch()
        self.assertEqual(self.ends(0, "wait", "--name", "good").stdout,
                         "1 succeeded, 0 failed, 0 have not ended\n")
        told = json.loads(self.ends(
            7, "wait", "-q", self.queue, "-o", "json").stdout)
        self.assertEqual(told, {"succeeded": [good], "failed": [bad],
                                "waiting": []})

    def test_jobs_are_acted_on_by_id_name_and_label(self):
        wait = "sleep 600"
        a = self.run_job(wait, options=["--name", "a"])
        b = self.run_job(wait, options=["-l", "k=v"])
        c = self.run_job(wait, options=["-j", "other"])
        listed = json.loads(self.ctl("get", "jobs", "-l", "k=v", "--me", "-q",
                                     self.queue, "-o", "json"))
        self.assertEqual([job["jobId"] for job in listed], [b])
        self.ends(0, "reprioritize", "job", a, b, c, "5")
        self.ends(2, "reprioritize", "job", a, "0.5")
        done = self.ends(2, "cancel", "job", "-q", self.queue)
        self.assertIn("3 jobs match:", done.stderr)
        self.ends(0, "cancel", "job", c)
        self.assertEqual(
            sorted(self.ctl("cancel", "jobs", "-q", self.queue, "-j", "run",
                            "-l", "k=v", "--yes").splitlines()),
            [f"Requested cancellation for job {b}"])
        self.ends(7, "wait", b, c)
        self.ends(8, "wait", a, "--timeout", "1ms")
        self.ends(0, "cancel", "job", "--name", "a", "-y")
        self.ends(7, "wait", a)
        self.ends(3, "cancel", "job", "01h00000000000000000000000")
        self.ends(0, "cancel", "job", a)  # as it was to be, with a remark

    def test_a_retry_policy_tries_again_what_its_rules_say(self):
        policy = {"apiVersion": "armadaproject.io/v1beta1",
                  "kind": "RetryPolicy", "name": "again", "retryLimit": 2,
                  "defaultAction": "Fail", "rules": [
                      {"action": "Retry", "match": {"exitCodes": [3, 9]}}]}
        self.ctl("create", "-f", "-", input_text=json.dumps(policy))
        self.ctl("update", "queue", self.queue, "--retry-policies", "again")
        count = self.berth.meeting / "tries"
        count.touch()
        count.chmod(0o666)  # jobs may run as another user
        # The third try succeeds.
        good = self.run_job(f"echo x >> {count}; [ $(wc -l < {count}) -ge 3 ] "
                            "|| exit 9")
        self.ends(0, "wait", good)
        bad = self.run_job("exit 3", options=["-j", "bad"])
        other = self.run_job("exit 4", options=["-j", "other"])
        self.ends(7, "wait", bad, other)

        def job(job_id):
            return json.loads(self.ctl("get", "jobs", job_id, "-o", "json"))[0]
        self.assertEqual(job(good)["runCount"], 3)
        self.assertEqual(job(bad)["runCount"], 3)
        self.assertRegex(job(bad)["reason"],
                         r"^Retry policy: the limit of policy again \(2\) is "
                         r"reached\n\nFinal run error:\n")
        self.assertNotIn("runCount", {k: v for k, v in job(other).items()
                                      if k == "runCount" and v != 1})
        self.assertIn("no rule of policy again matches", job(other)["reason"])
        events = [json.loads(line) for line in self.ctl(
            "watch", self.queue, "bad", "--exit-if-inactive", "-o",
            "json").splitlines()]
        failed = [event["event"].get("retryable", False) for event in events
                  if event["type"] == "JobFailedEvent"]
        self.assertEqual(failed, [True, True, False])
        self.assertIn("Retry policy", self.ctl("explain", bad))
        # A job may name another policy, which waits between tries.
        policy.update(name="slowly", defaultAction="Retry", retryLimit=1,
                      rules=[], backoff={"initialSeconds": 1})
        self.ctl("create", "-f", "-", input_text=json.dumps(policy))

        def file(name):
            file = json.loads(self.file("exit 5"))
            file["jobs"][0]["annotations"] = {"berth.dev/retryPolicy": name}
            return json.dumps(file)
        self.assertIn('no retry policy "nor"', self.ends(
            6, "submit", "-", input_text=file("nor")).stderr)
        out = self.ctl("submit", "-", input_text=file("slowly"))
        slow = out.split()[4]
        harness.wait_for("it waits between tries",
                         lambda: job(slow).get("held"))
        self.assertIn("does not start before", self.ctl("explain", slow))
        self.ends(7, "wait", slow)
        self.assertEqual(job(slow)["runCount"], 2)

    def test_a_retry_policy_goes_by_the_category_of_a_failure(self):
        policy = {"apiVersion": "armadaproject.io/v1beta1",
                  "kind": "RetryPolicy", "name": "disks", "retryLimit": 1,
                  "defaultAction": "Fail", "rules": [
                      {"action": "Retry", "onCategory": "machine",
                       "onSubcategory": "disk"}]}
        self.ctl("create", "-f", "-", input_text=json.dumps(policy))
        self.ctl("update", "queue", self.queue, "--retry-policies", "disks")
        jobs = {self.run_job("echo Disk sda failed >&2; exit 1"): 2,
                self.run_job("exit 74"): 1, self.run_job("exit 1"): 1}
        self.ends(7, "wait", *jobs)
        told = json.loads(self.ctl("get", "jobs", *jobs, "-o", "json"))
        self.assertEqual({job["jobId"]: job["runCount"] for job in told}, jobs)

    def test_each_job_has_gpus_of_its_own(self):
        with tempfile.TemporaryDirectory() as devices:
            for number in (0, 1, 5):
                (pathlib.Path(devices) / f"nvidia{number}").touch()
            config = ("executor:\n  process:\n"
                      f"    devices: {devices}\n"
                      "    resources: {cpu: 4, example.com/licence: 3}\n")
            with harness.Berth(config, arguments=["--stop-jobs"]) as berth:
                berth.ctl("create", "queue", "gpus")
                meeting = berth.meeting

                def run(gpus):
                    return berth.ctl(
                        "run", "-q", "gpus", *SMALL, "--gpu", str(gpus), "--",
                        "sh", "-c", f"echo $CUDA_VISIBLE_DEVICES; until [ -e "
                        f"{meeting}/end ]; do sleep 0.05; done"
                    ).stdout.split()[4]

                def state(job):
                    return json.loads(berth.ctl(
                        "get", "jobs", job, "-o", "json").stdout)[0]["state"]
                jobs = [run(2), run(1)]
                harness.wait_for("both run", lambda: all(
                    state(job) == "RUNNING" for job in jobs))
                third = run(1)
                harness.wait_for("the third waits for a GPU",
                                 lambda: "nvidia.com/gpu" in berth.ctl(
                                     "explain", third).stdout)
                (meeting / "end").touch()
                berth.ctl("wait", *jobs, third)
                told = [berth.ctl("logs", job).stdout for job in jobs]
                self.assertEqual(sorted(told), ["0,1\n", "5\n"])
                # Counted, but not given: the log says so.
                self.assertRegex(berth.program.log(), r"runtime.resource resource="
                                 r"example.com/licence offered=3")

    def test_jobs_are_held_and_released(self):
        def listed(job_id):
            return json.loads(self.ctl("get", "jobs", job_id, "-o", "json"))[0]
        held = self.run_job("true", options=["--hold"])
        later = self.run_job("true", options=[
            "--begin", "2100-01-01T00:00:00Z"])
        big = self.ctl("run", "-q", self.queue, "--cpu", "4", "sleep",
                       "600").split()[4]
        waits = self.ctl("run", "-q", self.queue, "--cpu", "4", "-j", "w",
                         "true").split()[4]
        self.assertTrue(listed(held)["held"])
        self.assertIn("held since it was submitted", listed(held)["reason"])
        self.assertIn("2100-01-01", self.ctl("explain", later))
        self.assertEqual(json.loads(self.ctl("explain", held, "-o", "json"))
                         ["reason"], "held")
        harness.wait_for("the big job runs", lambda: listed(big).get("state")
                         == "RUNNING")
        self.assertIn("has a node", self.ends(1, "hold", "job", big).stderr)
        self.assertEqual(self.ctl("hold", "job", waits),
                         f"Held job {waits}\n")
        self.assertIn("held by anonymous", self.ctl("explain", waits))
        # A restart forgets none of it.
        self.berth.stop()
        self.berth.start()
        self.assertTrue(listed(waits)["held"])
        self.ctl("cancel", "job", big)
        self.ends(7, "wait", big)
        self.assertTrue(listed(waits)["held"])
        self.ctl("release", "jobs", "-q", self.queue, "-j", "w", "--yes")
        self.ctl("release", "job", held)
        self.ends(0, "wait", held, waits)
        self.assertIn("still waits", self.ends(0, "release", "job",
                                               later).stderr)
        self.ctl("cancel", "job", later)
        self.ends(7, "wait", later)
        late = self.run_job("true", options=["--hold", "--max-wait", "1s"])
        self.ends(7, "wait", late)
        self.assertIn("maxWaitSeconds", listed(late)["reason"])

    def test_each_waiting_job_has_a_reason_in_the_list(self):
        big = self.ctl("run", "-q", self.queue, "--cpu", "4", "-j", "s",
                       "sleep", "600").split()[4]
        self.addCleanup(self.berth.ctl, "cancel", "jobs", "-q", self.queue,
                        "--yes", check=False)
        harness.wait_for("the big job runs", lambda: "RUNNING" in
                         self.ctl("get", "jobs", big, "-o", "json"))
        ids = [self.ctl("run", "-q", self.queue, "--cpu", "4", "-j", "s",
                        *options, "true").split()[4]
               for options in ((), (), ("--hold",),
                               ("--begin", "2100-01-01T00:00:00Z"),
                               ("--after", big))]
        jobs = {job["jobId"]: job for job in json.loads(self.ctl(
            "get", "jobs", "-q", self.queue, "-s", "queued", "-o", "json"))}
        self.assertEqual([jobs[i]["waitReason"] for i in ids],
                         ["capacity", "priority", "held", "beginTime",
                          "dependency"])
        lines = self.ctl("get", "jobs", *ids[:2]).splitlines()
        self.assertRegex(lines[1], r" resources(; starts by \S+)?$")
        self.assertEqual(lines[2].split()[-1], "priority")
        self.assertRegex(lines[1], r" \d+s ")
        self.assertRegex(self.ctl("get", "jobs", big, "-o", "wide"),
                         r" 20\d\d-\S+Z .* 1 +anonymous ")
        self.ctl("cancel", "jobs", "-q", self.queue, "--yes")
        self.ends(7, "wait", big, *ids)

    def test_job_sets_are_listed(self):
        self.run_job("true", options=["-j", "well"])
        self.run_job("exit 1", options=["-j", "ill"])
        self.run_job("true", options=["-j", "ill", "--hold"])
        harness.wait_for("two have ended", lambda: len(json.loads(self.ctl(
            "get", "jobs", "-q", self.queue, "-s", "succeeded,failed", "-o",
            "json"))) == 2)
        sets = json.loads(self.ctl("get", "jobsets", "-q", self.queue, "-o",
                                   "json"))
        for each in sets:
            self.assertRegex(each.pop("lastTransition"), r"^2\d{3}-.*Z$")
        self.assertEqual(sets, [
            {"queue": self.queue, "jobSet": "ill", "queued": 1,
             "failed": 1},
            {"queue": self.queue, "jobSet": "well", "succeeded": 1}])
        self.assertEqual(self.ctl("get", "jobsets", "-q", self.queue, "-o",
                                  "name"), "ill\nwell\n")
        self.assertRegex(self.ctl("get", "jobsets"), r"(?m)^well .* ago$")
        self.ends(3, "get", "jobsets", "-q", "nor")

    def test_jobs_wait_for_others(self):
        def job(name, command, *after):
            return {"clientId": name, "namespace": "default",
                    "dependsOn": list(after), "podSpec": {"containers": [{
                        "name": "main", "image": "none",
                        "command": ["sh", "-c", command],
                        "resources": {kind: {
                            "cpu": "100m", "memory": "16Mi",
                            "ephemeral-storage": "16Mi"}
                            for kind in ("requests", "limits")}}]}}

        def submit(*jobs, code=0):
            return self.ends(code, "submit", "-", input_text=json.dumps(
                {"queue": self.queue, "jobSetId": "flow",
                 "jobs": list(jobs)}))
        # The last comes first in the file, and is submitted last.
        done = submit(job("end", "true", "left", "right:ended"),
                      job("left", "true", "start"),
                      job("right", "exit 3", "start"),
                      job("start", "true"),
                      job("never", "true", "right"),
                      job("nor", "true", "never"),
                      job("mend", "true", "right:failed"))
        ids = [line.split()[4] for line in done.stdout.splitlines()]
        self.assertEqual(len(ids), 7)
        told = json.loads(self.ends(7, "wait", *ids, "-o", "json").stdout)
        self.assertEqual(len(told["succeeded"]), 4)  # start left end mend
        jobs = {job["jobId"]: job for job in json.loads(
            self.ctl("get", "jobs", *told["failed"], "-o", "json"))}
        reasons = [job["reason"] for job in jobs.values()]
        self.assertEqual(sum("depends on job" in r for r in reasons), 2)
        self.assertIn("cycle: a -> b -> a", submit(
            job("a", "true", "b"), job("b", "true", "a"), code=6).stderr)
        self.assertIn("no job with clientId nobody", submit(
            job("c", "true", "nobody"), code=6).stderr)
        # What has ended well is waited for no more; what has not is refused.
        good, bad = told["succeeded"][0], told["failed"][0]
        self.ends(0, "wait", self.run_job("true", options=["--after", good]))
        self.assertIn("would never start", self.ends(
            6, "run", "-q", self.queue, "--after", bad, "true").stderr)
        held = self.run_job("true", options=["--hold"])
        waits = self.run_job("true", options=["--after", held + ":ended"])
        self.assertIn(f"waits for job {held} to end",
                      self.ctl("explain", waits))
        self.berth.stop()
        self.berth.start()
        self.ctl("cancel", "job", held)
        self.ends(0, "wait", waits)

    def test_the_server_comes_from_the_environment(self):
        done = subprocess.run(
            [harness.program("berthctl"), "get", "queue", self.queue],
            env={**os.environ, "BERTH_SERVER": self.berth.grpc},
            capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def on_terminal(self, *words):
        """What berthctl shows on a terminal of 100 columns, and its code."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 20, 100, 0, 0))
        with subprocess.Popen(
                [harness.program("berthctl"), "--berthUrl", self.berth.grpc,
                 *words], stdin=theirs, stdout=theirs, stderr=theirs,
                env={**os.environ, "TERM": "xterm"}) as process:
            os.close(theirs)
            shown = b""
            while True:
                try:
                    piece = os.read(ours, 65536)
                except OSError:  # the other end is closed
                    break
                if not piece:
                    break
                shown += piece
        os.close(ours)
        return shown.decode(), process.returncode

    def test_a_terminal_shows_one_live_table(self):
        ids = [self.run_job("true", options=["-j", "s"]) for _ in range(3)]
        bad = self.run_job("sleep 0.2; exit 1", options=["-j", "s"])
        shown, code = self.on_terminal("watch", self.queue, "s", "--exit-code")
        self.assertEqual(code, 7)
        last = shown.rsplit("\x1b[J", 1)[-1]
        self.assertIn("3 succeeded, 1 failed", last)
        self.assertIn("100%", last)
        for job_id in (*ids, bad):
            self.assertEqual(last.count(job_id), 1, last)
        self.assertIn("\x1b[31mfailed", last)
        self.assertNotIn("JobFailedEvent", shown)
        shown, code = self.on_terminal("watch", self.queue, "s",
                                       "--exit-if-inactive", "--raw")
        self.assertIn("JobFailedEvent {", shown)
        shown, code = self.on_terminal("wait", "-q", self.queue)
        self.assertEqual(code, 7)
        self.assertIn("[========================] 100% 4 of 4 jobs", shown)

    def test_watch_tells_how_it_went(self):
        self.run_job("true", options=["-j", "well"])
        self.run_job("exit 1", options=["-j", "ill"])
        self.ends(0, "watch", self.queue, "well", "--exit-code")
        self.ends(7, "watch", self.queue, "ill", "--exit-code")
        # armadactl's own flag keeps its meaning.
        self.ends(0, "watch", self.queue, "ill", "--exit-if-inactive")


class Retention(unittest.TestCase):
    """What ended jobs leave is kept by rule, and it is said when it is gone."""

    def test_logs_of_more_runs_than_are_kept_go(self):
        config = CONFIG.replace("    resources:", "    retention: {maxRuns: 1, "
                                "folders: 0s}\n    resources:")
        self.assertIn("maxRuns", config)
        with harness.Berth(config, arguments=["--stop-jobs"]) as berth:
            berth.ctl("create", "queue", "q")
            first, second = (berth.ctl(
                "run", "-q", "q", *SMALL, "--", "sh", "-c",
                f"echo {word}; echo {word} >file").stdout.split()[4]
                for word in ("one", "two"))
            berth.ctl("wait", first)
            berth.ctl("wait", second)

            def logs(job):
                return berth.ctl("logs", job, check=False)
            harness.wait_for("one of them has lost its logs", lambda: 1 == sum(
                "executor.process.retention" in logs(job).stderr
                for job in (first, second)))
            texts = {logs(job).stdout for job in (first, second)}
            self.assertIn("", texts)
            self.assertTrue(texts & {"one\n", "two\n"}, texts)
            spaces = berth.data / "jobs" / "spaces"
            harness.wait_for("their folders are gone",
                             lambda: not list(spaces.iterdir()))


if __name__ == "__main__":
    unittest.main()
