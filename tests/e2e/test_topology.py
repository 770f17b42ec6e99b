"""Groups near together in the running system: where they start, what one that
has no room near enough says, and what the pool's report tells of labels."""

import json
import unittest

import harness

RACK = "      - {{name: {name}, count: {count}, labels: [{labels}],\n" \
       "         resources: {{cpu: 1, memory: 1Gi, ephemeral-storage: 4Gi}}}}\n"
CONFIG = """
scheduling:
  pools: [{name: default, topology: [net/leaf, net/agg, net/core]}]
executor:
  runtime: fake
  fake:
    runTime: 600s
    nodes:
""" + "".join(
    RACK.format(name=name, count=count, labels=labels)
    for name, count, labels in (
        ("a", 3, "net/leaf=L1, net/agg=P1, net/core=c"),
        ("b", 4, "net/leaf=L2, net/agg=P1, net/core=c"),
        ("c", 6, "net/leaf=L3, net/agg=P2, net/core=c")))


def gang_file(name, size, hops):
    resources = {"cpu": "1", "memory": "16Mi", "ephemeral-storage": "16Mi"}
    spec = {"containers": [{
        "name": "main", "image": "none",
        "resources": {"requests": resources, "limits": resources}}]}
    job = {"priority": 0, "namespace": "default", "podSpec": spec,
           "annotations": {"armadaproject.io/gangId": name,
                           "armadaproject.io/gangCardinality": str(size),
                           "armadaproject.io/maxHops": str(hops)}}
    return json.dumps({"queue": "q", "jobSetId": name, "jobs": [job] * size})


class Topology(unittest.TestCase):
    def setUp(self):
        self.berth = harness.Berth(CONFIG)
        self.berth.start()
        self.addCleanup(self.berth.close)
        self.berth.ctl("create", "queue", "q")

    def jobs(self, job_set):
        return [job for job in json.loads(self.berth.ctl(
            "get", "jobs", "-n", "0", "-q", "q", "-o", "json").stdout)
                if job["jobSet"] == job_set]

    def submit(self, name, size, hops):
        self.berth.ctl("submit", "-", input_text=gang_file(name, size, hops))
        return [job["jobId"] for job in harness.wait_for(
            f"{name} is known",
            lambda: len(self.jobs(name)) == size and self.jobs(name))]

    def racks(self, jobs):
        """The letters of the racks that jobs run in, or None."""
        texts = [self.berth.ctl("explain", job).stdout for job in jobs]
        if any("is on node" not in text for text in texts):
            return None
        nodes = [text.split("is on node ")[1].split()[0] for text in texts]
        return {node.split("-")[-2] for node in nodes}

    def test_groups_are_near_together(self):
        four = self.submit("four", 4, 2)
        self.assertEqual(harness.wait_for(
            "four runs", lambda: self.racks(four)), {"b"})
        seven = self.submit("seven", 7, 3)[0]  # which no leaf ever holds
        self.assertIn(
            "The gang can never start: 7 members of sub-group",
            harness.wait_for("seven is rejected", lambda: [
                text for text in [self.berth.ctl("explain", seven).stdout]
                if "domain L3 of cluster" in text])[0])
        five = self.submit("five", 5, 2)
        self.assertEqual(harness.wait_for(
            "five runs", lambda: self.racks(five)), {"c"})
        other = self.submit("other", 4, 2)[0]
        why = harness.wait_for("other waits for topology", lambda: [
            why for why in [json.loads(self.berth.ctl(
                "explain", other, "-o", "json").stdout)]
            if why.get("reason") == "topology"])[0]
        self.assertEqual(
            (why["gangPresent"], why["gangWanted"], why["gangEmpty"],
             why["hops"], why["domain"]), (3, 4, 4, 2, "L1"))
        self.assertIn(
            "Domain L1 of pool default holds 3 of 4 members within 2 hops",
            self.berth.ctl("explain", other).stdout)
        three = self.submit("three", 3, 2)  # and it keeps nothing from others
        self.assertEqual(harness.wait_for(
            "three runs", lambda: self.racks(three)), {"a"})
        self.assertIn("3 levels, 7 domains", self.berth.ctl(
            "get", "scheduling-report").stdout)


if __name__ == "__main__":
    unittest.main()
