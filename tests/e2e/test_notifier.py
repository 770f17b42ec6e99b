"""Targets of notifications hear of ended jobs and job sets, and nobody waits
for them."""

import base64
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import unittest
import urllib.request

import harness

KEY = "whsec_" + base64.b64encode(b"a key of thirty-two bytes, or so").decode()
SERVER = """
executor:
  process:
    resources: {cpu: 4, memory: 2Gi, ephemeral-storage: 8Gi}
"""


class Receiver:
    """An HTTP server that keeps what is posted, and answers as it is told."""

    def __init__(self, port=0):
        self.got = []  # (path, headers, body)
        self.status = {}  # by path; else 204
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((self.path, dict(self.headers), body))
                self.send_response(receiver.status.get(self.path, 204))
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port),
                                                      Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.02,),
                         daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def notes(self, path):
        """What came to a path, each id once, in the order of coming."""
        notes = {}
        for at, headers, body in list(self.got):
            if at == path:
                notes.setdefault(headers["webhook-id"], json.loads(body))
        return list(notes.values())


class Notifications(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-e2e-"))
        self.folder.chmod(0o755)
        self.receiver = Receiver()
        self.addCleanup(lambda: self.receiver.close())
        self.berth = None

    def start(self, *targets, more=""):
        """A server with targets at our receiver, each as {key: value}."""
        for target in targets:
            target.setdefault(
                "url", f"http://127.0.0.1:{self.receiver.port}"
                       f"/{target['name']}")
        config = SERVER + "notifications:\n" + more + \
            "  webhooks: " + json.dumps(targets) + "\n"
        self.berth = harness.Berth(config, arguments=["--stop-jobs"],
                                   folder=self.folder)
        self.addCleanup(self.berth.close)
        self.berth.start()
        self.berth.ctl("create", "queue", "q")

    def secret(self, mode=0o640):
        path = self.folder / "key"
        path.write_text(KEY + "\n")
        if os.geteuid() == 0:
            os.chown(path, 0, 65533)
        path.chmod(mode)
        return str(path)

    def submit(self, job_set, *commands, annotations=None, check=True):
        jobs = [{"namespace": "default", "annotations": annotations or {},
                 "podSpec": {"containers": [{
                     "name": "main", "image": "none",
                     "command": ["sh", "-c", command],
                     "resources": {kind: {"cpu": "100m", "memory": "16Mi",
                                          "ephemeral-storage": "16Mi"}
                                   for kind in ("requests", "limits")}}]}}
                for command in commands]
        done = self.berth.ctl(
            "submit", "-", check=check, input_text=json.dumps(
                {"queue": "q", "jobSetId": job_set, "jobs": jobs}))
        return re.findall(r"\b[0-9a-hjkmnp-tv-z]{26}\b", done.stdout) \
            if check else done

    def metric(self, name, labels):
        page = urllib.request.urlopen(f"http://{self.berth.http}/metrics",
                                      timeout=10).read().decode()
        found = re.search(rf"^{name}{{{labels}}} (\d+)$", page, re.M)
        self.assertTrue(found, f"no {name}{{{labels}}} in\n{page}")
        return int(found[1])

    def wait_notes(self, path, count):
        return harness.wait_for(
            f"{count} notes at {path}",
            lambda: (self.receiver.notes(path)
                     if len(self.receiver.notes(path)) >= count else None))

    def test_ends_are_told_signed_and_once(self):
        self.start({"name": "sets", "secretFile": self.secret()},
                   {"name": "bad", "events": ["job"], "states": ["failed"]},
                   {"name": "other", "events": ["job", "jobSet"],
                    "queues": ["another"]})
        ids = self.submit("day", "exit 0", "exit 3", "sleep 0.1")
        self.berth.ctl("wait", "-q", "q", "--job-set", "day", "--for", "ended",
                       check=False)
        note, = self.wait_notes("/sets", 1)
        self.assertEqual(note["type"], "job_set.ended")
        self.assertEqual(note["data"]["queue"], "q")
        self.assertEqual(note["data"]["jobSet"], "day")
        self.assertEqual(note["data"]["state"], "failed")
        self.assertEqual(note["data"]["jobs"],
                         {"total": 3, "succeeded": 2, "failed": 1,
                          "cancelled": 0, "preempted": 0, "rejected": 0})
        failed, = self.wait_notes("/bad", 1)
        self.assertEqual(failed["type"], "job.ended")
        self.assertEqual(failed["data"]["jobId"], ids[1])
        self.assertEqual(failed["data"]["lastRun"]["exitCode"], 3)
        self.assertRegex(failed["timestamp"], r"^\d{4}-\d\d-\d\dT.*Z$")
        self.check_signature()
        harness.wait_for("both are counted", lambda: self.metric(
            "berth_notifications_sent_total", 'target="sets"') == 1)
        # A stop in peace knows what was told: only what is new comes now.
        self.berth.stop()
        before = len(self.receiver.got)
        self.berth.start()
        self.submit("day", "exit 0")
        again = self.wait_notes("/sets", 2)
        self.assertEqual(again[1]["data"]["jobs"]["total"], 4)
        self.assertEqual([path for path, _, _ in self.receiver.got[before:]],
                         ["/sets"])
        self.assertEqual(self.receiver.notes("/other"), [])

    def check_signature(self):
        (_, headers, body), = [got for got in self.receiver.got
                               if got[0] == "/sets"]
        signed = b".".join([headers["webhook-id"].encode(),
                            headers["webhook-timestamp"].encode(), body])
        key = base64.b64decode(KEY.removeprefix("whsec_"))
        expected = base64.b64encode(
            hmac.new(key, signed, hashlib.sha256).digest()).decode()
        self.assertEqual(headers["webhook-signature"], "v1," + expected)
        unsigned = [headers for path, headers, _ in self.receiver.got
                    if path == "/bad"]
        self.assertNotIn("webhook-signature", unsigned[0])

    def test_what_was_not_told_is_told_after_a_crash(self):
        port = self.receiver.port
        self.start({"name": "jobs", "events": ["job"]},
                   {"name": "well", "events": ["job"],
                    "url": f"http://127.0.0.1:{port}/well"})
        self.receiver.status["/jobs"] = 503
        job, = self.submit("day", "exit 0")
        harness.wait_for("it was tried", lambda: self.metric(
            "berth_notifications_retried_total", 'target="jobs"') > 0)
        self.berth.kill()
        self.receiver.close()
        self.receiver = Receiver(port)
        self.check_damage_refused()
        self.berth.start()
        note, = self.wait_notes("/jobs", 1)
        self.assertEqual(note["data"]["jobId"], job)
        harness.wait_for("nothing waits", lambda: self.metric(
            "berth_notifications_waiting", 'target="jobs"') == 0)

    def check_damage_refused(self):
        """Positions that cannot be believed are not gone on from."""
        path = self.berth.data / "notified"
        whole = path.read_bytes()
        path.write_bytes(whole.replace(b"well", b"wall"))
        with self.assertRaises(AssertionError):
            self.berth.start()
        self.assertIn("notified is damaged", self.berth.program.log())
        path.write_bytes(whole)

    def test_a_target_that_is_away_holds_up_nobody(self):
        self.start({"name": "away", "events": ["job"],
                    "url": "http://127.0.0.1:9/"},
                   {"name": "here", "events": ["job"]}, more="  maxQueued: 5\n")
        jobs = self.submit("day", *["exit 0"] * 8)
        self.berth.ctl("wait", *jobs)
        self.wait_notes("/here", 8)
        harness.wait_for("what has no room is counted", lambda: self.metric(
            "berth_notifications_dropped_total",
            'target="away",reason="full"') == 3)
        self.assertEqual(self.metric("berth_notifications_waiting",
                                     'target="away"'), 5)
        self.assertIn("event=notification.dropped target=away",
                      self.berth.program.log())

    def test_nothing_but_the_url_of_the_configuration_is_asked(self):
        self.start({"name": "moved", "events": ["job"]},
                   {"name": "gone", "events": ["job"]})
        self.receiver.status = {"/moved": 307, "/gone": 410}
        self.submit("day", "exit 0")
        harness.wait_for("a redirect is tried again", lambda: self.metric(
            "berth_notifications_retried_total", 'target="moved"') > 0)
        harness.wait_for("a refusal is not", lambda: self.metric(
            "berth_notifications_dropped_total",
            'target="gone",reason="refused"') == 1)
        self.assertEqual({path for path, _, _ in self.receiver.got},
                         {"/moved", "/gone"})

    def test_jobs_name_targets_that_are_there(self):
        self.start({"name": "mine", "events": ["job", "jobSet"],
                    "onRequest": True})
        self.submit("quiet", "exit 0")
        job, = self.submit("loud", "exit 0",
                           annotations={"berth.dev/notify": "mine"})
        notes = self.wait_notes("/mine", 2)
        self.assertEqual({note["data"]["jobSet"] for note in notes}, {"loud"})
        self.assertEqual({note["data"].get("jobId") for note in notes},
                         {job, None})
        done = self.submit("loud", "exit 0", check=False,
                           annotations={"berth.dev/notify": "mine, evil"})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("there is no target of notifications evil; there are "
                      "mine", done.stderr)

    def test_commands_run_beside_the_server(self):
        out = self.folder / "out"
        out.mkdir()
        out.chmod(0o777)
        script = self.folder / "tell"
        script.write_text('#!/bin/sh\nprintf "odd \\033[2J\\n" >&2\n'
                          '[ -e "$1/ready" ] || exit 3\n'
                          'id -u >"$1/user"\ncat >"$1/next"\n'
                          'mv "$1/next" "$1/$BERTH_NOTIFICATION_ID"\n')
        script.chmod(0o755)
        self.start({"name": "sets"}, more="  commands:\n    - " + json.dumps(
            {"name": "tell", "command": [str(script), str(out)],
             "events": ["job"]}) + "\n")
        job, = self.submit("day", "exit 0")
        harness.wait_for("it was tried", lambda: self.metric(
            "berth_notifications_retried_total", 'target="tell"') > 0)
        (out / "ready").touch()
        note = harness.wait_for("it was run again", lambda: (
            out / f"job-{job}").exists() and
            json.loads((out / f"job-{job}").read_text()))
        self.assertEqual(note["data"]["jobId"], job)
        user = int((out / "user").read_text())
        self.assertEqual(user == 0, os.geteuid() == 0 and
                         "privileges.kept" in self.berth.program.log())
        self.wait_notes("/sets", 1)
        runner, = (pid for pid in harness.children_of(
            self.berth.program.process.pid)
            if harness.name_of(pid) == "berth-notify")
        # Nobody of its user, but root, may write to its memory.
        self.assertEqual(os.stat(f"/proc/{runner}/mem").st_uid, 0)
        if "BERTH_SANITIZED" not in os.environ:
            status = pathlib.Path(f"/proc/{runner}/status").read_text("utf-8")
            self.assertIn("\nSeccomp:\t2\n", status)
        self.assertRegex(self.berth.program.log(),
                         rf"event=notification.output target=tell id=job-{job}"
                         r' text="odd \\u001b\[2J"')
        self.assertNotIn("\x1b", self.berth.program.log())
        os.kill(runner, signal.SIGKILL)
        harness.wait_for("it is told", lambda: "event=notification.stopped" in
                         self.berth.program.log())

    def test_a_configuration_that_cannot_work_is_refused(self):
        def errors(mode=0o600, **target):
            path = self.folder / "bad.yaml"
            path.touch()
            path.chmod(mode)
            path.write_text("notifications: " + json.dumps(
                {"webhooks": [dict({"name": "x", "url": "https://h/"},
                                   **target)]}))
            return subprocess.run(
                [harness.program("berthd"), "--check-config", "--config",
                 str(path)], capture_output=True, text=True,
                check=False).stderr

        self.assertEqual(errors(), "")
        self.assertIn("others can read or write", errors(mode=0o644))
        path = self.folder / "command.yaml"
        path.write_text("notifications: {commands: [{name: x, command: "
                        "[relative]}]}")
        self.assertIn("notifications.commands[0].command: must be the "
                      "absolute path", subprocess.run(
                          [harness.program("berthd"), "--check-config",
                           "--config", str(path)], capture_output=True,
                          text=True, check=False).stderr)
        self.assertIn("notifications.webhooks[0].url: it begins with neither "
                      "https:// nor http://", errors(url="file:///etc"))
        self.assertIn("notifications.webhooks[0].url: ",
                      errors(url="https://h:99999/"))
        self.assertIn("a user and password need https://",
                      errors(url="http://u:word@h/"))
        self.assertIn(".name: \"a b\"", errors(name="a b"))
        self.assertIn("neither job nor jobSet", errors(events=["end"]))
        self.assertIn("is not succeeded, failed", errors(states=["well"]))
        self.assertIn("chmod 600", errors(secretFile=self.secret(0o644)))
        (self.folder / "short").write_text("short")
        (self.folder / "short").chmod(0o600)
        self.assertIn("has 5 bytes",
                      errors(secretFile=str(self.folder / "short")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
