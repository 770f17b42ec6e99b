"""A real control plane with nodes that kwok plays, a server, and an executor with
the rights of deploy/kubernetes: for tests."""

import collections
import json
import os
import pathlib
import sys
import tempfile

import control_plane

try:
    import yaml
except ImportError:
    print("skipped: Python has no yaml; Debian has it as python3-yaml")
    sys.exit(control_plane.SKIPPED)

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
import harness  # noqa: E402 pylint: disable=C0413

BUILD = pathlib.Path(os.environ["BERTH_BUILD"])
NAMESPACE = "jobs"  # of deploy/kubernetes/jobs-namespace.yaml
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
CONTEXT = "limited"  # a user with the rights of deploy/kubernetes
FOR_EVER = 1000000000
KINDS = ["v1/ConfigMap", "v1/Secret", "v1/PersistentVolumeClaim",
         "networking.k8s.io/v1/NetworkPolicy", "example.com/v1/Widget",
         "example.com/v1/Gadget"]
PATHS = {
    "Namespace": "/api/v1/namespaces",
    "ServiceAccount": "/api/v1/namespaces/berth/serviceaccounts",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding":
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "Role": f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/"
                   f"{NAMESPACE}/rolebindings",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
}


def job(run_ms=0, exit_code=0, cpu="1"):
    amounts = {"cpu": cpu, "memory": "16Mi", "ephemeral-storage": "16Mi"}
    return {
        "priority": 0, "namespace": NAMESPACE,
        "annotations": {"berth.dev/fakeRunMs": str(run_ms),
                        "berth.dev/fakeExitCode": str(exit_code)},
        "podSpec": {
            "restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
            "priorityClassName": "armada-preemptible",
            "containers": [{
                "name": "main", "image": "example.com/job",
                "resources": {"requests": amounts, "limits": amounts}}]}}


class BerthCluster:
    """All of it; what it starts, and its folder, ends with the stack."""

    def __init__(self, stack):
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        self.plane = stack.enter_context(control_plane.ControlPlane(folder))
        self.config = self.plane.write_kubeconfig()
        for name in ("rbac.yaml", "jobs-namespace.yaml"):
            self.apply(ROOT / "deploy" / "kubernetes" / name)
        self.plane.start_kwok(self.config)
        self.plane.add_nodes("n1", "n2")
        self.berth = harness.Berth(standalone=False).start()
        stack.callback(self.berth.close)
        self.settings = {"kubeconfig": str(self.config), "context": CONTEXT,
                         "namespaces": [NAMESPACE], "retention": "0s",
                         "objectKinds": KINDS}
        self.executor = harness.Executor(
            self.berth.grpc, "k", self.berth.folder / "k",
            json.dumps({"executor": {"kubernetes": self.settings}}),
            "kubernetes").start()
        stack.callback(lambda: self.executor.stop())
        self.berth.ctl("create", "queue", "q")

    def apply(self, path):
        """As kubectl apply does, and for the user of the test as well."""
        for thing in yaml.safe_load_all(path.read_text()):
            for subject in thing.get("subjects", []):
                subject.clear()
                subject.update(kind="User", name=CONTEXT,
                               apiGroup="rbac.authorization.k8s.io")
            self.plane.ask("POST", PATHS[thing["kind"]], thing)

    def submit(self, job_set, *jobs):
        out = self.berth.ctl("submit", "-", input_text=json.dumps(
            {"queue": "q", "jobSetId": job_set, "jobs": jobs})).stdout
        return [line.split()[4] for line in out.splitlines()
                if line.startswith("Submitted")]

    def job(self, job_id):
        return json.loads(self.berth.ctl("get", "jobs", job_id, "-o",
                                         "json").stdout)[0]

    def wait_state(self, job_id, state):
        return harness.wait_for(
            f"{job_id} is {state}", lambda: self.job(job_id)
            .get("state", "QUEUED") == state and self.job(job_id))

    def all_events(self, job_set):
        """Those of a set whose jobs have ended, or are about to."""
        lines = self.berth.ctl("watch", "q", job_set, "-o", "json",
                               "--exit-if-inactive").stdout.splitlines()
        return [json.loads(line) for line in lines]

    def events(self, job_set):
        """How often each kind of event was, by job."""
        return collections.Counter(
            (event["event"]["jobId"], event["type"])
            for event in self.all_events(job_set))

    def pods(self):
        return {pod["metadata"]["name"]: pod
                for pod in self.plane.ask("GET", PODS)["items"]}

    def wait_no_pods(self):
        harness.wait_for("no pod is left", lambda: not self.pods())
