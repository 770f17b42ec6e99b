#!/usr/bin/env python3
"""What an executor of a large cluster costs: memory and processor time.

usage: kube_size.py BUILD [NODES PODS]

A real API server gives a node and a pod as it sends them.  A server of our own
then shows them NODES and PODS times, each with a name of its own, in pages and
by watches, to berth-executor: first all of them, then 100 changed pods a
second.  Half of the pods are the executor's.  Its server is not there, so no
job is leased.  Prints lines as tools/bench reads them; without a built control
plane they say so.
"""

import http.server
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "kube"))
import control_plane  # noqa: E402 pylint: disable=C0413

PODS = "/api/v1/namespaces/default/pods"
PROTOBUF = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\0"
JOB, RUN = "01f3j0g1md4qx7z5qb148qnh4r", "123e4567-e89b-42d3-a456-426614174000"
UID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
CHANGES_PER_S = 100
IDLE_S = 10
LISTED_S_MAX = 120


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def envelope(kind, data):
    return MAGIC + field(1, field(1, b"v1") + field(2, kind)) + field(2, data)


def unwrap(data):
    """The object in an envelope."""
    at = len(MAGIC)
    while at < len(data):
        tag, at = data[at], at + 1
        length = shift = 0
        while True:
            byte, at = data[at], at + 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if tag == 0x12:
            return data[at:at + length]
        at += length
    raise ValueError("no object in the envelope")


def ask_protobuf(plane, path):
    import ssl  # pylint: disable=C0415
    request = urllib.request.Request(
        plane.server + path,
        headers={"Authorization": "Bearer secret", "Accept": PROTOBUF})
    context = ssl.create_default_context(
        cafile=plane.dir / "certs" / "apiserver.crt")
    with urllib.request.urlopen(request, context=context) as answer:
        return unwrap(answer.read())


def templates():
    """A node and a pod that runs, as an API server encodes them."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with tempfile.TemporaryDirectory() as folder, \
            control_plane.ControlPlane(folder) as plane:
        plane.add_nodes("node-000000")
        plane.ask("PATCH", "/api/v1/nodes/node-000000/status", {"status": {
            "conditions": [{"type": kind, "status": "True",
                            "lastHeartbeatTime": now, "reason": "KubeletReady",
                            "message": "kubelet is posting its status"}
                           for kind in ("Ready", "MemoryPressure",
                                        "DiskPressure", "PIDPressure")],
            "images": [{"names": [f"registry.example.org/team/image-{i}:1.0"],
                        "sizeBytes": 123456789} for i in range(50)]}},
                  "application/merge-patch+json")
        amounts = {"cpu": "1", "memory": "1Gi"}
        plane.ask("POST", PODS, {
            "metadata": {
                "name": f"armada-{JOB}-0",
                "labels": {"armada_job_id": JOB, "armada_job_run_id": RUN,
                           "armada_queue_id": "q", "armada_pod_number": "0",
                           "armada_pod_count": "1",
                           "berth.dev/executor": "bench"},
                "annotations": {"armada_jobset_id": "set",
                                "armada_owner": "owner"}},
            "spec": {"nodeName": "node-000000", "restartPolicy": "Never",
                     "containers": [{
                         "name": "main", "image": "registry.example.org/i:1",
                         "command": ["python3", "train.py", "--epochs", "3"],
                         "env": [{"name": f"NAME_{i}", "value": "value"}
                                 for i in range(10)],
                         "resources": {"requests": amounts,
                                       "limits": amounts}}]}})
        plane.ask("PATCH", f"{PODS}/armada-{JOB}-0/status", {"status": {
            "phase": "Running", "podIP": "10.0.0.1", "startTime": now,
            "conditions": [{"type": kind, "status": "True",
                            "lastTransitionTime": now}
                           for kind in ("Initialized", "Ready",
                                        "ContainersReady", "PodScheduled")],
            "containerStatuses": [{
                "name": "main", "image": "i", "imageID": "i", "ready": True,
                "restartCount": 0, "state": {"running": {"startedAt": now}}}]}},
                  "application/merge-patch+json")
        return (ask_protobuf(plane, "/api/v1/nodes/node-000000"),
                ask_protobuf(plane, f"{PODS}/armada-{JOB}-0"))


class Cluster:
    """The objects, made from the templates when they are asked for."""

    def __init__(self, nodes, pods):
        self.node, self.pod = templates()
        self.nodes, self.pods = nodes, pods
        self.watches = {}
        self.changes_per_s = 0
        self.node_uid = UID.search(self.node)[0]
        self.pod_uid = next(u for u in UID.findall(self.pod)
                            if u != RUN.encode())

    def node_at(self, i):
        return self.node.replace(b"node-000000", b"node-%06d" % i).replace(
            self.node_uid, str(uuid.UUID(int=1 << 64 | i)).encode())

    def pod_at(self, i):
        pod = self.pod.replace(b"node-000000",
                               b"node-%06d" % (i % self.nodes))
        pod = pod.replace(self.pod_uid,
                          str(uuid.UUID(int=2 << 64 | i)).encode())
        pod = pod.replace(JOB.encode(), b"01f3j0g1md4qx7z5qb%08d" % i)
        pod = pod.replace(RUN.encode(), str(uuid.UUID(int=3 << 64 | i)).encode())
        # Half of them are another executor's.
        return pod if i % 2 else pod.replace(b"\x05bench", b"\x05other")

    def page(self, kind, start):
        count, make = ((self.nodes, self.node_at) if kind == "nodes"
                       else (self.pods, self.pod_at))
        end = min(start + 500, count)
        meta = field(2, b"1000")
        if end < count:
            meta += field(3, str(end).encode())
        items = b"".join(field(2, make(i)) for i in range(start, end))
        return envelope(b"List", field(1, meta) + items)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cluster = None

    def log_message(self, *_):  # pylint: disable=W0221
        pass

    def do_GET(self):  # pylint: disable=C0103
        kind = "nodes" if self.path.startswith("/api/v1/nodes") else "pods"
        if "watch=true" in self.path:
            self.watch(kind)
            return
        found = re.search(r"continue=(\d+)", self.path)
        body = self.cluster.page(kind, int(found[1]) if found else 0)
        self.send_response(200)
        self.send_header("Content-Type", PROTOBUF)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def watch(self, kind):
        self.send_response(200)
        self.send_header("Content-Type", PROTOBUF + ";stream=watch")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        self.cluster.watches[kind] = True
        at = 0
        while True:
            time.sleep(0.1)
            if kind == "nodes" or not self.cluster.changes_per_s:
                continue
            for _ in range(self.cluster.changes_per_s // 10):
                at += 7
                pod = self.cluster.pod_at(at % self.cluster.pods)
                event = field(1, b"MODIFIED") + field(2, field(
                    1, envelope(b"Pod", pod)))
                frame = struct.pack(">I", len(event)) + event
                self.wfile.write(b"%x\r\n%b\r\n" % (len(frame), frame))
            self.wfile.flush()


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1]
    user, system = fields.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def rss_mb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def say(name, value, unit):
    print(json.dumps({"name": name, "value": round(value, 2), "unit": unit}),
          flush=True)


def settle(pid):
    """Wait until it works no more; the processor time so far."""
    was = -1
    while cpu_s(pid) - was > 0.02:
        was = cpu_s(pid)
        time.sleep(1)
    return cpu_s(pid)


def measure(build, cluster):
    Handler.cluster = cluster
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "kubeconfig"
        config.write_text(json.dumps({
            "current-context": "c",
            "clusters": [{"name": "c", "cluster": {
                "server": f"http://127.0.0.1:{server.server_port}"}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "c",
                          "context": {"cluster": "c", "user": "u"}}]}))
        own = pathlib.Path(folder) / "executor.yaml"
        own.write_text(json.dumps({"executor": {
            "id": "bench", "server": "127.0.0.1:1", "runtime": "kubernetes",
            "kubernetes": {"kubeconfig": str(config)}}}))
        with subprocess.Popen(
                [build / "src/main/berth-executor", "--config", own],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as it:
            until = time.monotonic() + LISTED_S_MAX
            while len(cluster.watches) < 2 and time.monotonic() < until:
                time.sleep(0.2)
            say("kube.relist_cpu_s", settle(it.pid), "s")
            cluster.changes_per_s = CHANGES_PER_S
            began_s, began = cpu_s(it.pid), time.monotonic()
            time.sleep(IDLE_S)
            say("kube.idle_cpu_percent", 100 * (cpu_s(it.pid) - began_s) /
                (time.monotonic() - began), "%")
            say("kube.executor_rss_mb", rss_mb(it.pid), "MiB")
            it.kill()


def main():
    build = pathlib.Path(sys.argv[1])
    nodes, pods = (int(a) for a in sys.argv[2:4] or ("5000", "100000"))
    measure(build, Cluster(nodes, pods))


if __name__ == "__main__":
    main()
