"""A real Kubernetes control plane for tests: etcd, kube-apiserver, and kwok in
the place of kubelets where a test wants it.

They listen on loopback only, keep their data in a folder of their own, and are
killed at the end.  See the script testbed for where they come from.
"""

import contextlib
import json
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
READY_S_MAX = 90


def programs():
    """The folder of the programs; ends the test as skipped without them."""
    found = subprocess.run(
        [HERE / "testbed", "--find", "etcd", "kube-apiserver", "kwok"],
        capture_output=True, text=True, check=False)
    if found.returncode != 0:
        print("skipped: no control plane is built here; tests/kube/testbed "
              "builds it")
        sys.exit(SKIPPED)
    return pathlib.Path(found.stdout.strip())


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class ControlPlane:
    """One API server over one etcd."""

    def __init__(self, folder):
        self.bin = programs()
        self.dir = pathlib.Path(folder)
        self.port, self.etcd_port = free_port(), free_port()
        self.server = f"https://127.0.0.1:{self.port}"
        self.started = []
        self.api = None

    def __enter__(self):
        self.make_keys()
        self.start_etcd()
        self.start_api()
        return self

    def __exit__(self, *_):
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.dir, check=True,
                       capture_output=True)

    def make_keys(self):
        """Keys of the accounts' tokens, and a certificate for a user."""
        key = ["genpkey", "-algorithm", "EC", "-pkeyopt",
               "ec_paramgen_curve:P-256", "-out"]
        self.openssl(*key, "sa.key")
        self.openssl("pkey", "-in", "sa.key", "-pubout", "-out", "sa.pub")
        self.openssl(*key, "ca.key")
        self.openssl("req", "-x509", "-new", "-key", "ca.key", "-subj",
                     "/CN=users", "-days", "2", "-out", "users.crt")
        self.openssl(*key, "user.key")
        self.openssl("req", "-new", "-key", "user.key", "-subj",
                     "/O=system:masters/CN=certified", "-out", "user.csr")
        self.openssl("x509", "-req", "-in", "user.csr", "-CA", "users.crt",
                     "-CAkey", "ca.key", "-days", "2", "-CAcreateserial",
                     "-out", "user.crt")
        (self.dir / "tokens.csv").write_text(
            'secret,admin,1,"system:masters"\nfew,limited,2,""\n')

    def start(self, name, arguments, **environment):
        log = open(self.dir / f"{name}.log", "ab")  # pylint: disable=R1732
        process = subprocess.Popen([self.bin / name, *arguments], stdout=log,
                                   stderr=log, cwd=self.dir,
                                   env=os.environ | environment)
        log.close()
        self.started.append(process)
        return process

    def start_etcd(self):
        url = f"http://127.0.0.1:{self.etcd_port}"
        peer = f"http://127.0.0.1:{free_port()}"
        self.start("etcd", [
            "--name", "t", "--data-dir", "etcd", "--unsafe-no-fsync",
            "--log-level", "warn", "--listen-client-urls", url,
            "--advertise-client-urls", url, "--listen-peer-urls", peer,
            "--initial-advertise-peer-urls", peer,
            "--initial-cluster", f"t={peer}"])

    def start_api(self):
        self.api = self.start("kube-apiserver", [
            f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
            f"--secure-port={self.port}", "--cert-dir=certs",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=sa.pub",
            "--service-account-signing-key-file=sa.key",
            "--token-auth-file=tokens.csv", "--client-ca-file=users.crt",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
            "--endpoint-reconciler-type=none", "--profiling=false"])
        self.wait_ready()

    def start_kwok(self, config):
        """Plays the kubelets of nodes that add_nodes() makes (stages.yaml)."""
        self.start("kwok", [
            "--kubeconfig", config, "--config", HERE / "stages.yaml",
            "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
            "--node-lease-duration-seconds=0", "--server-address=127.0.0.1:0"],
            HOME=str(self.dir))

    def add_nodes(self, *names, cpu="8", memory="32Gi", pods="110",
                  taints=()):
        amounts = {"cpu": cpu, "memory": memory, "pods": pods,
                   "ephemeral-storage": "100Gi"}
        for name in names:
            self.ask("POST", "/api/v1/nodes", {
                "metadata": {"name": name,
                             "annotations": {"kwok.x-k8s.io/node": "fake"},
                             "labels": {"kubernetes.io/hostname": name}},
                "spec": {"taints": list(taints)},
                "status": {"capacity": amounts, "allocatable": amounts}})

    def restart_api(self):
        """As after a crash, on the same port."""
        self.api.kill()
        self.api.wait()
        self.start_api()

    def wait_ready(self):
        until = time.monotonic() + READY_S_MAX
        while True:
            with contextlib.suppress(OSError, urllib.error.URLError):
                self.ask("GET", "/readyz")
                return
            if self.api.poll() is not None or time.monotonic() > until:
                raise RuntimeError("the API server does not get ready: "
                                   + str(self.dir / "kube-apiserver.log"))
            time.sleep(0.1)

    def ask(self, method, path, body=None, content_type="application/json"):
        """A request as the administrator; what it answers, read as JSON."""
        request = urllib.request.Request(
            self.server + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer secret",
                     "Content-Type": content_type})
        context = ssl.create_default_context(
            cafile=self.dir / "certs" / "apiserver.crt")
        with urllib.request.urlopen(request, context=context,
                                    timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text.startswith(b"{") else text

    def write_kubeconfig(self):
        """A context for each way to say who one is."""
        cluster = {"server": self.server,
                   "certificate-authority": "certs/apiserver.crt"}
        users = {
            "token": {"token": "secret"},
            "stranger": {"token": "wrong"},
            "limited": {"token": "few"},
            "certificate": {"client-certificate": "user.crt",
                            "client-key": "user.key"},
            "file": {"tokenFile": "token"},
            "plugin": {"exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": "./plugin"}},
        }
        token = self.dir / "token"
        token.write_text("secret\n")
        plugin = self.dir / "plugin"
        plugin.write_text("#!/bin/sh\n"
                          "echo '{\"status\":{\"token\":\"secret\"}}'\n")
        os.chmod(plugin, 0o755)
        config = {
            "current-context": "token",
            "clusters": [
                {"name": "here", "cluster": cluster},
                {"name": "named", "cluster":
                    cluster | {"tls-server-name": "kubernetes.default.svc"}},
                {"name": "unknown", "cluster":
                    {"server": self.server,
                     "certificate-authority": "users.crt"}},
            ],
            "users": [{"name": n, "user": u} for n, u in users.items()],
            "contexts": [{"name": n, "context": {"cluster": "here", "user": n}}
                         for n in users] + [
                {"name": n, "context": {"cluster": n, "user": "token"}}
                for n in ("named", "unknown")],
        }
        path = self.dir / "kubeconfig"
        path.write_text(json.dumps(config))
        for secret in (path, token, self.dir / "user.key"):
            os.chmod(secret, 0o600)
        return path
