"""Use everything at once, seeded, while servers and executors are killed.

    chaos.py [--seed N] [--seconds N] [--threads N] [--no-kills] [--verbose]

(with the Python of armada-client)

Pools that are made, edited and deleted; queues of every ordering whose
weights, quotas and bounds change; single jobs, gangs, groups of pods that grow
and shrink, TrainingJobs; lifetimes, deadlines, licences, urgent classes;
cancelling, reprioritizing and preempting; nodes and executors closed and
opened; other policies; SIGKILL.  Watchers follow every job set meanwhile, over
restarts.

Then all is opened, and when nothing happens any more it is seen that

  * every acknowledged job is there, and waits with a reason that can last or
    has ended, in one state;
  * no event came twice, out of order, or after its job's end;
  * what nodes, pools, shares and jobs say of what runs is the same;
  * once the rest is cancelled all has ended, and nothing is in use;
  * the log's decisions, made again, are the same to the byte;
  * no process is left.

The seed decides what is done; when it happens is the machine's business.
"""

import argparse
import collections
import json
import os
import random
import signal
import sys
import time

import chaos_draw as draw
from chaos_check import Checks, Watcher, state_of
from chaos_draw import CLASSES, POOLS, QUEUES
from harness import Berth, Executor, patient, shims_below, wait_for

JOBS_MAX = 30000
JOB_SETS = ("s0", "s1")
PROCESS = """
executor:
  process:
    resources: {cpu: 2, memory: 4Gi, ephemeral-storage: 64Gi}
"""


class Chaos:
    def __init__(self, options):
        self.options = options
        self.rng = random.Random(options.seed)
        self.acknowledged = {}  # job id -> (queue, job set)
        self.training_count = 0
        self.counts = collections.Counter()
        self.rss_kib = []
        self.berth = Berth(draw.server_config(self.rng, options.threads),
                           standalone=False)
        self.checks = Checks(self.berth)
        self.problems = self.checks.problems
        self.executors = {}
        self.watchers = []

    # Starting and stopping.

    def begin(self):
        self.berth.start()
        for name, options in QUEUES.items():
            self.berth.ctl("create", "queue", name, "--priority-factor",
                           str(self.rng.choice([1, 2, 10])), *options)
        for i in range(self.rng.randint(2, 3)):
            self.add_executor(f"e{i}", draw.executor_config(self.rng), "fake")
        self.add_executor("p0", PROCESS, "process")
        for queue in QUEUES:
            for job_set in JOB_SETS:
                watcher = Watcher(self.berth.grpc, queue, job_set)
                watcher.start()
                self.watchers.append(watcher)

    def add_executor(self, name, config, runtime):
        self.executors[name] = Executor(
            self.berth.grpc, name, self.berth.folder / name, config,
            runtime).start()

    def close(self):
        for watcher in self.watchers:
            watcher.is_stopped.set()
        for executor in self.executors.values():
            if executor.program.process.poll() is None:
                executor.stop()
        self.berth.close(is_kept=bool(self.problems or sys.exc_info()[0]))

    def shims(self):
        """Processes over pods that run, of all executors."""
        return shims_below(self.berth.folder)

    # What users and operators do.

    def ctl(self, *arguments, text=None):
        done = self.berth.ctl(*arguments, input_text=text, check=False)
        self.counts[f"{arguments[0]} exit {done.returncode}"] += 1
        if done.returncode == 2:
            self.problems.append(f"no such command: {arguments}")
        if done.returncode < 0:
            self.problems.append(f"{arguments} died: {done.returncode}")
        return done

    def some_set(self):
        return self.rng.choice(list(QUEUES)), self.rng.choice(JOB_SETS)

    def submit(self, jobs, queue, job_set):
        done = self.ctl("submit", "-", text=json.dumps(
            {"queue": queue, "jobSetId": job_set, "jobs": jobs}))
        for line in done.stdout.splitlines():
            words = line.split()
            if line.startswith("Submitted job with id"):
                self.acknowledged[words[4]] = (queue, job_set)

    def do_jobs(self):
        rng = self.rng
        queue, job_set = self.some_set()
        class_name = rng.choice(CLASSES)
        one = {"namespace": "default", "priority": rng.randint(0, 5),
               "annotations": draw.notes(rng),
               "podSpec": draw.pod(rng, class_name)}
        count = rng.choice([1, 2, 10, 40, 40, 200])
        if draw.has_licence(one["podSpec"]):
            count = min(count, 10)
        self.submit([one] * count, queue, job_set)

    def do_gang(self):
        rng = self.rng
        queue, job_set = self.some_set()
        count = rng.choice([2, 3, 5, 8, 20, 300])
        annotations = {**draw.notes(rng),
                       "armadaproject.io/gangId": f"g{rng.random()}",
                       "armadaproject.io/gangCardinality": str(count)}
        if rng.random() < 0.3:
            annotations["armadaproject.io/gangNodeUniformityLabel"] = "rack"
        elif rng.random() < 0.5:
            annotations["armadaproject.io/nodeReservation"] = rng.choice(
                ["Whole", "Shared"])
        if rng.random() < 0.3:
            annotations["armadaproject.io/gangMinimumCardinality"] = str(
                rng.randint(1, count))
        spec = draw.pod(rng, rng.choice(CLASSES))
        if count > 20:
            for kind in ("requests", "limits"):
                spec["containers"][0]["resources"][kind]["cpu"] = "50m"
        one = {"namespace": "default", "priority": rng.randint(0, 5),
               "annotations": annotations, "podSpec": spec}
        self.submit([one] * count, queue, job_set)

    def do_group(self):
        rng = self.rng
        queue, job_set = self.some_set()
        class_name = rng.choice(CLASSES)
        groups = []
        for i in range(rng.randint(1, 3)):
            least = rng.randint(0 if i else 1, 4)
            groups.append({"name": f"g{i}", "min": least,
                           "max": max(1, least + rng.choice([0, 1, 5])),
                           "auxiliary": i > 0 and rng.random() < 0.4,
                           "template": draw.pod(rng, class_name)})
            if rng.random() < 0.2:
                groups[-1]["maxHops"] = rng.randint(0, 2)
        self.submit([{
            "namespace": "default", "annotations": draw.notes(rng),
            "priority": rng.randint(0, 5), "podGroup": {
                "subGroups": groups,
                "nodeReservation": rng.choice(["Whole", "Shared", "Shared"]),
                "freezingWindowSeconds": rng.choice([0, 1, 5]),
                "replaceTimeoutSeconds": rng.choice([0, 2, 300])}}],
                    queue, job_set)

    def do_training(self):
        rng = self.rng
        self.training_count += 1
        least = rng.randint(1, 4)
        resources = {"requests": {"cpu": rng.choice(["200m", "1"]),
                                  "memory": "100Mi"}}
        spec = {"fault_tolerant": rng.random() < 0.8, "trainer": {
            "min-instance": least,
            "max-instance": least + rng.choice([0, 2, 10]),
            "entrypoint": "true", "resources": resources}}
        if rng.random() < 0.6:
            spec["pserver"] = {"min-instance": 1, "max-instance": 1,
                               "resources": resources}
        self.ctl("submit", "-q", rng.choice(["train", "plain", "aware"]), "-j",
                 "s0", "-", text=json.dumps({
                     "apiVersion": "paddlepaddle.org/v1",
                     "kind": "TrainingJob", "spec": spec, "metadata": {
                         "name": f"t{self.training_count}", "annotations": {
                             "armadaproject.io/freezingWindowSeconds":
                                 rng.choice(["0", "2"]), **{
                                 key: value for key, value in
                                 draw.notes(rng).items() if "fake" not in key},
                             "armadaproject.io/priorityClassName":
                                 rng.choice(CLASSES[3:])}}}))

    def do_training_change(self):
        name = f"t{self.rng.randint(1, max(1, self.training_count))}"
        if self.rng.random() < 0.5:
            self.ctl("delete", "trainingjob", name)
        else:
            self.ctl("update", "trainingjob", name, "--priority-class",
                     self.rng.choice(CLASSES[3:]))

    def do_job_change(self):
        rng = self.rng
        if not self.acknowledged:
            return
        recent = list(self.acknowledged)[-200:]
        for job in rng.sample(recent, min(len(recent), rng.randint(1, 4))):
            queue, job_set = self.acknowledged[job]
            what = rng.choice(["cancel", "reprioritize", "preempt"])
            self.ctl(what, "job", queue, job_set, job, *{
                "cancel": [], "reprioritize": [str(rng.randint(0, 9))],
                "preempt": ["chaos"]}[what])

    def do_many(self):
        rng = self.rng
        queue, job_set = self.some_set()
        executor = rng.choice(list(self.executors))
        rng.choice([
            lambda: self.ctl("cancel", "job-set", queue, job_set),
            lambda: self.ctl("reprioritize", "job-set", queue, job_set,
                             str(rng.randint(0, 9))),
            lambda: self.ctl("cancel", "queues", queue, "-s",
                             rng.choice(["queued", "running", "leased"]),
                             "-a"),
            lambda: self.ctl("preempt", "queues", queue, "-a"),
            lambda: self.ctl("cancel", "executor", executor, "-a"),
            lambda: self.ctl("preempt", "executor", executor, "-a")])()

    def do_queue(self):
        rng = self.rng
        queue = rng.choice(list(QUEUES))
        option = rng.choice([
            ["--priority-factor", str(rng.choice([1, 3, 100]))],
            ["--quota", rng.choice(["cpu=6", "cpu=30", ""])],
            ["--max-running-apps", str(rng.choice([0, 1, 3]))],
            ["--ordering", rng.choice(["priority", "fifo", "fair",
                                       "stateaware", "cfs"])],
            ["--over-share-factor", rng.choice(["-1", "0", "0.5"])],
            ["--excess-budget", rng.choice(["-1", "0", "5"])],
            [rng.choice(["--cordon", "--cordon=false", "--cordon=false"])],
            ["--ignore-class-priority", ],
            ["--default-pool", rng.choice([*POOLS, "nowhere", ""])]])
        self.ctl("update", "queue", queue, *option)

    def do_limits(self):
        """Limits by class, which only a file can say."""
        rng = self.rng
        self.limit(rng.choice(list(QUEUES)), {
            rng.choice(CLASSES): {"maximumResourceFraction": {
                "cpu": rng.choice([0.1, 0.5, 1.0])}}})

    def limit(self, queue, limits):
        document = {"apiVersion": "armadaproject.io/v1beta1", "kind": "Queue",
                    "name": queue, "resourceLimitsByPriorityClassName": limits}
        self.ctl("apply", "-f", "-", text=json.dumps(document))

    def do_pool(self):
        rng = self.rng
        name = rng.choice(list(POOLS))
        what = rng.random()
        if what < 0.45:
            self.ctl("create", "pool", name, "--selector", POOLS[name])
        elif what < 0.6:
            self.ctl("delete", "pool", name)
        else:
            self.ctl("edit", "pool", name, *rng.choice([
                [f"--disable-sharing={rng.choice(['true', 'false'])}"],
                [f"--disable-borrowing={rng.choice(['true', 'false'])}"],
                [f"--disable-preemption={rng.choice(['true', 'false'])}"],
                ["--preemption-order", rng.choice(["borrow-first",
                                                   "preempt-first"])],
                ["--borrowing-pools", rng.choice(["", "default", "pg"])],
                ["--selector", rng.choice([*POOLS.values(), "gpu!=true"])]]))

    def do_node(self):
        rng = self.rng
        nodes = self.checks.nodes()
        if not nodes:
            return
        node = rng.choice(nodes)
        what = rng.choice(["cordon", "uncordon", "uncordon", "quarantine",
                           "release", "release"])
        self.ctl(what, "node", node["name"], *(
            ["chaos"] if what == "quarantine" else []))

    def do_executor(self):
        executor = self.rng.choice(list(self.executors))
        if self.rng.random() < 0.3:
            self.ctl("cordon", "executor", executor, "chaos")
        else:
            self.ctl("uncordon", "executor", executor)

    def do_policy(self):
        """SIGHUP with another policy."""
        self.berth.config_path.write_text(
            draw.server_config(self.rng, self.options.threads))
        self.berth.program.process.send_signal(signal.SIGHUP)

    def do_look(self):
        """Read what there is, while it changes."""
        rng = self.rng
        self.ctl(*rng.choice([
            ["get", "shares"], ["get", "pools"], ["get", "nodes"],
            ["get", "executors"], ["get", "podgroups"], ["get", "apps"],
            ["get", "scheduling-report"], ["get", "trainingjobs"],
            ["get", "pools", "--statistics"],
            ["get", "queue-report", rng.choice(list(QUEUES))]]))
        self.look_at_some(3)

    def look_at_some(self, count):
        recent = list(self.acknowledged)[-300:]
        for job in self.rng.sample(recent, min(len(recent), count)):
            done = self.ctl("explain", job, "-o", "json")
            if done.returncode == 0:
                self.checks.check_explained(job, json.loads(done.stdout))

    def do_kill(self):
        if self.options.no_kills:
            return
        rng = self.rng
        executor = rng.choice(list(self.executors.values()))
        victims = rng.choice([[self.berth], [executor],
                              [self.berth, executor]])
        for victim in victims:
            self.check_alive(victim)
            victim.kill()
        if rng.random() < 0.15:
            time.sleep(rng.uniform(0, 6))  # an outage, not a restart
        for victim in victims:
            victim.start()

    def check_alive(self, victim):
        code = victim.program.process.poll()
        if code is not None:
            raise AssertionError(
                f"{victim.program.argv[0]} ended by itself with {code}:\n"
                f"{victim.program.log()}")

    ACTIONS = {"do_jobs": 30, "do_gang": 12, "do_group": 12, "do_training": 6,
               "do_training_change": 3, "do_job_change": 12, "do_many": 3,
               "do_queue": 10, "do_limits": 2, "do_pool": 10, "do_node": 6,
               "do_executor": 2, "do_policy": 1, "do_look": 12, "do_kill": 2}

    def play(self):
        deadline = time.monotonic() + self.options.seconds
        names, weights = zip(*self.ACTIONS.items())
        while time.monotonic() < deadline:
            name = self.rng.choices(names, weights)[0]
            if (name in ("do_jobs", "do_gang", "do_group") and
                    len(self.acknowledged) > JOBS_MAX):
                name = "do_job_change"
            if self.options.verbose:
                print(f"{time.monotonic():.2f} {name}", flush=True)
            getattr(self, name)()
            for one in [self.berth, *self.executors.values()]:
                self.check_alive(one)
            self.note_memory()

    def note_memory(self):
        pid = self.berth.program.process.pid
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            self.rss_kib.append(int(file.read().split()[1]) * 4)

    # The end.

    def open_all(self):
        """Lift what holds work back, and cancel part of it to come to an
        end."""
        for queue in QUEUES:
            self.ctl("update", "queue", queue, "--cordon=false", "--quota",
                     "", "--max-running-apps", "0", "--over-share-factor",
                     "-1", "--excess-budget", "-1")
            self.limit(queue, None)
        for queue in self.rng.sample(list(QUEUES), len(QUEUES) - 2):
            self.ctl("cancel", "queues", queue, "-s", "queued", "-a")
        for executor in self.executors:
            self.ctl("uncordon", "executor", executor)
        for pool in POOLS:
            self.ctl("delete", "pool", pool)
        for node in wait_for("nodes are told of", self.checks.nodes):
            self.ctl("uncordon", "node", node["name"])
            self.ctl("release", "node", node["name"])

    def finish(self):
        checks = self.checks
        self.open_all()
        jobs = checks.wait_quiet(self.options.quiet, 120)
        self.problems += [f"lost: {job}" for job in self.acknowledged
                          if job not in jobs]
        waits = checks.check_waiting(jobs, self.rng)
        if not self.problems:  # else it does not rest
            checks.check_counts(jobs)
        for queue in QUEUES:
            self.ctl("cancel", "queues", queue, "-s",
                     "queued,leased,pending,running", "-a")
        wait_for("no pod is left", lambda: not self.shims())
        jobs = checks.wait_quiet(self.options.quiet, 30)
        states = collections.Counter(map(state_of, jobs.values()))
        checks.check_waiting(jobs, self.rng)
        checks.check_counts(jobs)
        for watcher in self.watchers:
            checks.check_events(watcher, jobs)
        self.berth.stop()
        checks.check_replay()
        print(f"seed {self.options.seed}: {len(jobs)} jobs, {dict(states)}, "
              f"waited {dict(waits)}, {self.rss_kib[0]} to "
              f"{max(self.rss_kib)} KiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--quiet", type=float, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--no-kills", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    chaos = Chaos(parser.parse_args())
    try:
        chaos.begin()
        chaos.play()
        chaos.finish()
    finally:
        chaos.close()
    if chaos.options.verbose:
        for key, value in sorted(chaos.counts.items()):
            print("  ", key, value)
    for problem in chaos.problems[:40]:
        print("PROBLEM", problem[:3000])
    if chaos.problems:
        print(f"{len(chaos.problems)} problems; kept: {chaos.berth.folder}")
        sys.exit(1)


if __name__ == "__main__":
    main()
