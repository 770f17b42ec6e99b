"""kube/http and kube/api against a real API server."""

import os
import pathlib
import queue
import subprocess
import tempfile
import threading
import unittest

import control_plane

BUILD = pathlib.Path(os.environ["BERTH_BUILD"])
MAPS = "/api/v1/namespaces/default/configmaps"
WAIT_S_MAX = 60
REJECTED = 10  # RUNTIME_CAUSE_REJECTED


class Follower:
    """kube_follow, and the lines that it prints."""

    def __init__(self, config, context, path=MAPS, within=()):
        self.process = subprocess.Popen(
            [*within, BUILD / "tests/kube/kube_follow", config, context, path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.seen = []
        threading.Thread(target=self.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        if self.process.wait(WAIT_S_MAX) != 0:
            raise RuntimeError("kube_follow failed")
        self.process.stdout.close()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def until(self, wanted):
        """The lines up to one that begins like this."""
        got = []
        while not got or not got[-1].startswith(wanted):
            got.append(self.lines.get(timeout=WAIT_S_MAX))
        self.seen += got
        return got


class TestFollow(unittest.TestCase):
    """One control plane for all."""

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.dir.cleanup)
        cls.plane = control_plane.ControlPlane(cls.dir.name)
        cls.enterClassContext(cls.plane)
        cls.config = cls.plane.write_kubeconfig()

    def make(self, name):
        self.plane.ask("POST", MAPS, {"metadata": {"name": name}})

    def remove(self, name):
        self.plane.ask("DELETE", f"{MAPS}/{name}")

    def test_every_way_to_say_who_one_is(self):
        for context in ("token", "certificate", "file", "plugin", "named"):
            with self.subTest(context), \
                    Follower(self.config, context) as follower:
                self.assertEqual(follower.until("listed")[0], "begin")

    def test_answers_come_over_http2(self):
        with Follower(self.config, "token") as follower:
            follower.until("http2")

    def test_strangers_and_strange_servers_are_refused(self):
        with Follower(self.config, "stranger") as follower:
            self.assertIn("status 401", follower.until("failure")[-1])
        with Follower(self.config, "unknown") as follower:
            self.assertIn("certificate", follower.until("failure")[-1])

    def test_what_the_machine_trusts_does_not_count(self):
        """A kubeconfig that names an authority names the only one."""
        trusted = pathlib.Path(self.dir.name) / "trusted"
        trusted.mkdir()
        authority = pathlib.Path(self.dir.name) / "certs" / "apiserver.crt"
        # The last certificate of the file is its authority.
        last = authority.read_text().split("-----BEGIN")[-1]
        (trusted / "one.crt").write_text("-----BEGIN" + last)
        subprocess.run(["openssl", "rehash", trusted], check=True)
        inside = ["unshare", "--map-root-user", "--mount"]
        if subprocess.run([*inside, "true"], check=False,
                          capture_output=True).returncode != 0:
            self.skipTest("no namespaces here")
        mounted = [*inside, "sh", "-c", 'mount --bind "$0" /etc/ssl/certs && '
                   'exec "$@"', trusted]
        with Follower(self.config, "unknown", within=mounted) as follower:
            self.assertIn("certificate", follower.until("failure")[-1])

    def test_what_happens_is_told_also_over_a_crash_of_the_server(self):
        self.make("a")
        with Follower(self.config, "token") as follower:
            self.assertIn("object a", follower.until("listed"))
            self.make("b")
            follower.until("object b")
            self.remove("a")
            follower.until("gone a")
            self.plane.restart_api()
            self.make("c")
            follower.until("object c")
            self.remove("b")
            follower.until("gone b")

    def set_status(self, path, status):
        self.plane.ask("PATCH", path + "/status", {"status": status},
                       "application/merge-patch+json")

    def test_nodes_are_read_as_they_change(self):
        with Follower(self.config, "token", "/api/v1/nodes") as follower:
            follower.until("listed")
            self.plane.ask("POST", "/api/v1/nodes", {
                "metadata": {"name": "n1"},
                "spec": {"taints": [{"key": "k", "effect": "NoExecute"}]},
                "status": {"allocatable": {"cpu": "7500m"}}})
            self.assertEqual(follower.until("node n1")[-1],
                             "node n1 cpu 7500 taints 1 unschedulable")
            self.set_status("/api/v1/nodes/n1", {"conditions": [
                {"type": "Ready", "status": "True"}]})
            follower.until("node n1 cpu 7500 taints 1")
            self.plane.ask("DELETE", "/api/v1/nodes/n1")
            follower.until("gone n1")

    def test_pods_are_read_as_they_change(self):
        pods = "/api/v1/namespaces/default/pods"
        with Follower(self.config, "token", "/api/v1/pods") as follower:
            follower.until("listed")
            self.plane.ask("POST", pods, {
                "metadata": {
                    "name": "p1",
                    "labels": {"armada_job_id": "01f3j0g1md4qx7z5qb148qnh4r",
                               "armada_job_run_id":
                                   "123e4567-e89b-42d3-a456-426614174000",
                               "armada_queue_id": "q"},
                    "annotations": {"armada_jobset_id": "s"}},
                "spec": {"nodeName": "n9",
                         "containers": [{"name": "c", "image": "i"}]}})
            self.assertEqual(follower.until("pod p1")[-1],
                             'pod p1 on "n9" phase 1 cause 0 ours')
            self.set_status(f"{pods}/p1", {"phase": "Running"})
            follower.until('pod p1 on "n9" phase 2 cause 0 ours')
            self.set_status(f"{pods}/p1", {"phase": "Failed",
                                           "reason": "OutOfcpu"})
            self.assertEqual(follower.until("pod p1")[-1],
                             f'pod p1 on "n9" phase 4 cause {REJECTED} ours')
            self.plane.ask("DELETE", f"{pods}/p1?gracePeriodSeconds=0")
            follower.until("gone p1")


if __name__ == "__main__":
    unittest.main()
