#!/usr/bin/env python3
"""Kills an executor of a real cluster at random moments, while jobs come and go:

    kills.py [--kills N] [--seed N]

In the end each job has succeeded (or was cancelled), by one run, of which each
thing was told once; for each there was at most one pod; no pod is left; and
services and objects belong to the pods of their jobs.  Only a job whose secret
nobody had any more was leased again, or failed and said so.  A seed repeats the jobs and the
moments, as far as the machine is as fast.
"""

import argparse
import contextlib
import json
import os
import random
import ssl
import sys
import threading
import time
import urllib.request

from berth_cluster import NAMESPACE, PODS, ROOT, BerthCluster, harness, job

LIFE_S_MAX = 0.4
JOB_SET = "kills"
TOLD_AGAIN = {"JobIngressInfoEvent"}  # after each start of an executor


class PodWatch:
    """Which pods were there, by name, as the API server tells of them."""

    def __init__(self, plane):
        self.made = {}
        self.alive = set()
        self.lock = threading.Lock()
        version = plane.ask("GET", PODS)["metadata"]["resourceVersion"]
        request = urllib.request.Request(
            f"{plane.server}{PODS}?watch=true&resourceVersion={version}",
            headers={"Authorization": "Bearer secret"})
        context = ssl.create_default_context(
            cafile=plane.dir / "certs" / "apiserver.crt")
        self.answer = urllib.request.urlopen(  # pylint: disable=R1732
            request, context=context)
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.answer:
            event = json.loads(line)
            meta = event["object"]["metadata"]
            with self.lock:
                self.made.setdefault(meta["name"], set()).add(meta["uid"])
                if event["type"] == "DELETED":
                    self.alive.discard(meta["uid"])
                else:
                    self.alive.add(meta["uid"])

    def is_empty(self):
        with self.lock:
            return not self.alive


class Kills:
    """One series."""

    def __init__(self, cluster, seed):
        self.cluster = cluster
        self.random = random.Random(seed)
        self.watch = PodWatch(cluster.plane)
        self.jobs, self.cancelled, self.reached = [], set(), set()
        self.bringing, self.secret, self.again = set(), set(), 0

    def draw(self):
        drawn = job(self.random.choice((0, 0, 100, 400, 1500)), cpu="100m")
        if self.random.random() < 0.3:
            drawn["services"] = [{"type": "NodePort", "ports": [80]}]
            drawn["podSpec"]["containers"][0]["ports"] = [
                {"containerPort": 80, "protocol": "TCP"}]
        if self.random.random() < 0.3:
            drawn["objects"] = [
                {"apiVersion": "v1", "kind": kind, "metadata": {"name": "o"}}
                for kind in self.random.choice((["ConfigMap"], ["Secret"],
                                                ["ConfigMap", "Secret"]))]
        return drawn

    def stir(self):
        """Jobs come, and sometimes one is cancelled."""
        drawn = [self.draw() for _ in range(self.random.randint(0, 3))]
        if drawn:
            ids = self.cluster.submit(JOB_SET, *drawn)
            self.jobs += ids
            self.reached |= {i for i, j in zip(ids, drawn) if "services" in j}
            for job_id, drawn_job in zip(ids, drawn):
                kinds = [o["kind"] for o in drawn_job.get("objects", [])]
                self.bringing |= {job_id} if kinds else set()
                self.secret |= {job_id} if "Secret" in kinds else set()
        chosen = self.random.choice(self.jobs[-4:] or [None])
        if self.random.random() < 0.1 and chosen not in self.cancelled | {None}:
            self.cancelled.add(chosen)
            self.cluster.berth.ctl("cancel", "job", chosen, check=False)

    def kill(self):
        executor = self.cluster.executor
        self.stir()
        time.sleep(self.random.uniform(0, LIFE_S_MAX))  # the random moment
        executor.kill()
        if self.random.random() < 0.2:
            # The next does not even come to say that it is ready.
            executor.program = harness.Program(executor.argv,
                                               executor.folder / "early.log")
            time.sleep(self.random.uniform(0, LIFE_S_MAX / 10))
            executor.kill()
        executor.start()

    def check_job(self, job_id, events):
        told = self.cluster.job(job_id)
        pods = self.watch.made.get(f"armada-{job_id}-0", set())
        if job_id in self.secret and self.is_of_secrets(told):
            return
        assert len(pods) <= 1, f"{job_id} had pods {pods}"
        if job_id not in self.cancelled:
            assert told["state"] == "SUCCEEDED", told
            assert told["runCount"] == 1, told
            assert len(pods) == 1, f"{job_id} had no pod"
        for (of, kind), count in events.items():
            if of == job_id and kind not in TOLD_AGAIN:
                assert count == 1, f"{job_id}: {count} {kind}"

    def is_of_secrets(self, told):
        """Killed between pod and secret: the job was leased again, or it fails
        where the pod runs already, for kwok waits for no secret."""
        if told["state"] == "FAILED":
            assert "was started anew" in json.dumps(told), told
        self.again += told["state"] == "FAILED" or told["runCount"] > 1
        return told["state"] == "FAILED" or told["runCount"] > 1

    def check_things(self, plural, meant):
        things = self.cluster.plane.ask(
            "GET", f"/api/v1/namespaces/{NAMESPACE}/{plural}"
            "?labelSelector=armada_job_id")["items"]
        found = set()
        for thing in things:
            job_id = thing["metadata"]["labels"]["armada_job_id"]
            owner, = thing["metadata"]["ownerReferences"]
            assert owner["uid"] in self.watch.made[owner["name"]], thing
            assert job_id not in found, f"{job_id} has two {plural}"
            found.add(job_id)
        assert found <= meant, found - meant

    def settle(self):
        for job_id in self.jobs:
            harness.wait_for(f"{job_id} has ended", lambda j=job_id:
                             self.cluster.job(j).get("state") in
                             ("SUCCEEDED", "FAILED", "CANCELLED"))
        self.cluster.wait_no_pods()
        harness.wait_for("the watch has told all", self.watch.is_empty)

    def check(self):
        events = self.cluster.events(JOB_SET)
        for job_id in self.jobs:
            self.check_job(job_id, events)
        self.check_things("services", self.reached)
        self.check_things("secrets", self.secret)
        self.check_things("configmaps", self.bringing)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int,
                        default=int.from_bytes(os.urandom(4), "little"))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with contextlib.ExitStack() as stack:
        cluster = BerthCluster(stack)
        cluster.apply(ROOT / "deploy" / "kubernetes" / "jobs-objects.yaml")
        kills = Kills(cluster, options.seed)
        for _ in range(options.kills):
            kills.kill()
        kills.settle()
        kills.check()
        print(f"{options.kills} kills, {len(kills.jobs)} jobs, "
              f"{len(kills.reached)} of them with a service, "
              f"{len(kills.bringing)} with objects, "
              f"{len(kills.secret)} with a secret ({kills.again} of these lost "
              "it and were told so), "
              f"{len(kills.cancelled)} cancelled: nothing lost, made twice or "
              "left behind")
    return 0


if __name__ == "__main__":
    sys.exit(main())
