"""What chaos.py sees to at the end, and what a server says meanwhile."""

import collections
import json
import subprocess
import threading
import time

import grpc
from armada_client.armada import event_pb2, event_pb2_grpc

import harness
from harness import patient, wait_for

ENDED = {"SUCCEEDED", "FAILED", "CANCELLED", "PREEMPTED", "REJECTED"}
RUNS = {"LEASED", "PENDING", "RUNNING"}
FINAL = {"succeeded", "failed", "cancelled"}
# What was asked for, whether or not anything comes of it.
ECHOES = {"cancelling", "preempting", "reprioritizing", "reprioritized"}
# Reasons that hold for a while only where nothing is closed and nobody comes.
PASSING = {"neverFits", "turn", "rate", "queueRate", "resourceRate",
           "roundWork"}
EXPLAINED_MAX = 40
BROKEN = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED,
          grpc.StatusCode.UNKNOWN, grpc.StatusCode.DEADLINE_EXCEEDED,
          grpc.StatusCode.NOT_FOUND}


def state_of(job):
    return job.get("state", "QUEUED")


def history_problem(names, state):
    """Why these events of a job that ended in that state cannot be, or None."""
    ends = [name for name in names if name in FINAL]
    if names[:2] != ["submitted", "queued"]:
        return "begins oddly"
    if len(ends) != 1:
        return f"has {len(ends)} ends"
    if names[-1] not in FINAL:
        return "goes on after its end"
    if {"succeeded": "SUCCEEDED",
            "cancelled": "CANCELLED"}.get(names[-1], state) != state:
        return f"is {state}"
    if any(name == "running" and names[i - 1] not in ("pending", "leased")
           for i, name in enumerate(names)):
        return "runs from nowhere"
    return None


class Watcher(threading.Thread):
    """Follows a job set for ever, from where it was when a stream broke."""

    def __init__(self, address, queue, job_set):
        super().__init__(daemon=True)
        self.address, self.queue, self.job_set = address, queue, job_set
        self.last_id = ""
        self.seen = collections.defaultdict(list)
        self.is_stopped = threading.Event()
        self.problems = []

    def run(self):
        while not self.is_stopped.is_set():
            try:
                with grpc.insecure_channel(self.address, options=[
                        ("grpc.max_reconnect_backoff_ms", 200)]) as channel:
                    self.follow(event_pb2_grpc.EventStub(channel))
            except grpc.RpcError as error:
                if error.code() not in BROKEN:
                    self.problems.append(repr(error))
                self.is_stopped.wait(0.05)

    def follow(self, stub):
        stream = stub.GetJobSetEvents(event_pb2.JobSetRequest(
            queue=self.queue, id=self.job_set, watch=True,
            from_message_id=self.last_id, errorIfMissing=False),
            timeout=patient(20))
        for message in stream:
            name = message.message.WhichOneof("events")
            event = getattr(message.message, name)
            if message.id == self.last_id:
                self.problems.append(f"{message.id} came twice")
            self.last_id = message.id
            self.seen[event.job_id].append(name)

    def has_seen_end(self, job):
        return not FINAL.isdisjoint(self.seen.get(job, ()))


class Checks:
    """Of a server that rests; `problems` are sentences."""

    def __init__(self, berth):
        self.berth = berth
        self.problems = []

    def json(self, *arguments):
        return json.loads(self.berth.ctl(*arguments, "-o", "json").stdout)

    def nodes(self):
        return self.json("get", "nodes")

    def jobs(self):
        return {job["jobId"]: job for job in self.json("get", "jobs", "-n",
                                                       "0")}

    def wait_quiet(self, quiet_seconds, seconds_max):
        """Wait until all has ended, or nothing changes for long; the jobs."""
        begun = since = time.monotonic()
        last = None
        while True:
            jobs = self.jobs()
            states = collections.Counter(map(state_of, jobs.values()))
            now = time.monotonic()
            if states != last:
                last, since = states, now
            if ENDED.issuperset(states) or \
                    now - since > patient(quiet_seconds):
                return jobs
            if now - begun > patient(seconds_max):
                self.problems.append(f"no end: {dict(states)}")
                return jobs
            time.sleep(0.2)

    def check_explained(self, job, answer):
        if "nodesTotal" not in answer:
            return
        excluded = sum(answer.get("nodesExcluded", {}).values())
        if answer["nodesTotal"] != answer.get("nodesFit", 0) + excluded:
            self.problems.append(f"explain {job}: nodes do not add up: "
                                 f"{json.dumps(answer)}")

    def check_waiting(self, jobs, rng):
        """Each job waits with a reason that may last; how many for which."""
        waits = collections.Counter()
        left = [job for job, one in jobs.items() if state_of(one) not in ENDED]
        for job in rng.sample(left, min(len(left), EXPLAINED_MAX)):
            if state_of(jobs[job]) != "QUEUED":
                self.problems.append(f"{job} is for ever {jobs[job]}")
                continue
            answer = self.json("explain", job)
            self.check_explained(job, answer)
            reasons = (answer.get("reason"), answer.get("growth"))
            waits[reasons] += 1
            if not PASSING.isdisjoint(reasons):
                self.problems.append(f"{job} waits for ever: "
                                     f"{json.dumps(answer)}")
        return waits

    def check_counts(self, jobs):
        """What nodes, pools, shares and jobs say is the same."""
        states = collections.Counter(map(state_of, jobs.values()))
        runs = sum(states[state] for state in RUNS)
        nodes = self.nodes()
        on_nodes = sum(node.get("runCount", 0) for node in nodes)
        pools = self.json("get", "pools").get("pools", [])
        in_pools = sum(pool.get("runningOwnCount", 0) +
                       pool.get("runningForeignCount", 0) for pool in pools)
        queued = sum(pool.get("queuedOwnCount", 0) for pool in pools)
        if not runs == on_nodes == in_pools:
            self.problems.append(f"{runs} jobs run, {on_nodes} on nodes, "
                                 f"{in_pools} in pools")
        if states["QUEUED"] != queued:
            self.problems.append(f"{states['QUEUED']} jobs wait, {queued} in "
                                 "pools")
        for node in nodes:
            if not node.get("runCount") and node.get("free") != \
                    node.get("capacity"):
                self.problems.append(f"idle but not free: {node}")
        for share in self.json("get", "shares").get("shares", []):
            for key in ("usage", "flow", "actualShare", "infiniteFlow"):
                if share.get(key, 0) < 0:
                    self.problems.append(f"negative: {share}")
            if runs + queued == 0 and share.get("usage", 0) != 0:
                self.problems.append(f"usage of nothing: {share}")

    def check_events(self, watcher, jobs):
        """Its watcher has seen each ended job of a set come and go once."""
        self.problems += watcher.problems
        ended = {job: state_of(one) for job, one in jobs.items()
                 if one["queue"] == watcher.queue
                 and one["jobSet"] == watcher.job_set
                 and state_of(one) in ENDED}
        try:
            wait_for(f"events of {watcher.queue} {watcher.job_set}",
                     lambda: all(watcher.has_seen_end(job) for job in ended),
                     20)
        except AssertionError as error:
            self.problems.append(str(error))
        for job, state in ended.items():
            names = [name for name in watcher.seen.get(job, [])
                     if name not in ECHOES]
            why = history_problem(names, state)
            if why:
                self.problems.append(f"{job} {why}: {names}")
        for job in set(watcher.seen) - set(jobs):
            self.problems.append(f"events of a job that is not: {job}")

    def check_replay(self):
        done = subprocess.run(
            [harness.program("berth-sim"), "replay", str(self.berth.data),
             "--json"], capture_output=True, text=True, check=False)
        if done.returncode:
            self.problems.append(f"replay: exit {done.returncode} "
                                 f"{done.stdout}{done.stderr}")
