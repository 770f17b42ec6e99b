"""Host ports, and resources that are no columns, from submission to explain."""

import json
import unittest

import harness

CONFIG = """
executor:
  runtime: fake
  fake:
    runTime: 1h
    nodes: [{name: n, count: 2, resources: {cpu: 8, memory: 64Gi,
             ephemeral-storage: 64Gi, example.com/fpga: 1}}]
"""


def job(ports=(), fpga=0, **more):
    amounts = {"cpu": "1", "memory": "16Mi", "ephemeral-storage": "16Mi"}
    if fpga:
        amounts["example.com/fpga"] = str(fpga)
    return {"namespace": "default", "podSpec": {"containers": [{
        "name": "main", "image": "none",
        "ports": [{"containerPort": port, "hostPort": port} for port in ports],
        "resources": {"requests": amounts, "limits": amounts}}], **more}}


class Extras(unittest.TestCase):
    def submit(self, berth, *jobs):
        told = berth.ctl("submit", "-", input_text=json.dumps(
            {"queue": "q", "jobSetId": "s", "jobs": list(jobs)}))
        return [line.split()[4] for line in told.stdout.splitlines() if line]

    def waits_for(self, berth, name, text):
        def told():
            answer = json.loads(berth.ctl("explain", name, "-o", "json").stdout)
            return answer if answer.get("inUse") == text else None
        return harness.wait_for(f"{name} waits for {text}", told)

    def test_each_node_gives_what_it_has(self):
        with harness.Berth(CONFIG) as berth:
            berth.ctl("create", "queue", "q")
            ports = self.submit(berth, *[job(ports=[8080])] * 3)
            self.waits_for(berth, ports[2], "port:TCP:8080")
            self.assertIn("Host port TCP 8080 is in use",
                          berth.ctl("explain", ports[2]).stdout)
            boards = self.submit(berth, *[job(fpga=1)] * 3)
            self.waits_for(berth, boards[2], "example.com/fpga")
            for name in (boards[0], ports[0]):
                berth.ctl("cancel", "job", name)
            for name in (ports[2], boards[2]):
                harness.wait_for(f"{name} runs", lambda name=name: "running" in
                                 berth.ctl("get", "job", name).stdout.lower())


if __name__ == "__main__":
    unittest.main()
