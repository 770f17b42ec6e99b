"""Kill berthd, berth-executor or both with SIGKILL at random moments while
jobs are submitted and run, and see that

  * nothing that was acknowledged is lost,
  * a repeated submission gives the same job,
  * no run id starts twice,
  * every job reaches its end, and that end is `succeeded`.

    crash.py [--kills N] [--seed N] [--standalone]

(with the Python of armada-client; standalone: the executor is in berthd)

Each job writes its run id to a file when it starts, so that the starts are
counted by the jobs themselves and not by the programs under test.
"""

import argparse
import collections
import os
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

import grpc
from armada_client.armada import submit_pb2
from armada_client.client import ArmadaClient
from armada_client.k8s.io.api.core.v1 import generated_pb2 as core
from armada_client.k8s.io.apimachinery.pkg.api.resource import \
    generated_pb2 as resource

from harness import (
    Berth, Executor, end_pods_below, make_meeting_folder, patient, wait_for)

QUEUE = "crash"
JOBS_PER_REQUEST = 5
OPEN_JOBS_MAX = 40  # submitted and not known to have ended
CONFIG = """
executor:
  runtime: process
  process:
    resources: {cpu: 8, memory: 16Gi, ephemeral-storage: 64Gi}
"""
ENDED = {submit_pb2.SUCCEEDED, submit_pb2.FAILED, submit_pb2.CANCELLED,
         submit_pb2.PREEMPTED, submit_pb2.REJECTED}


def job_item(client, client_id, starts_path):
    quantities = {"cpu": "100m", "memory": "32Mi", "ephemeral-storage": "1Mi"}
    amounts = {k: resource.Quantity(string=v) for k, v in quantities.items()}
    pod = core.PodSpec(containers=[core.Container(
        name="main", image="none",
        command=["sh", "-c",
                 f'echo "$BERTH_RUN_ID" >> {starts_path}; sleep 0.2'],
        resources=core.ResourceRequirements(requests=amounts,
                                            limits=amounts))])
    return client.create_job_request_item(
        priority=1, namespace="default", pod_spec=pod, client_id=client_id)


class Submitter(threading.Thread):
    """Submits until told to stop; repeats what was not acknowledged."""

    def __init__(self, address, starts_path):
        super().__init__(daemon=True)
        self.address = address
        self.starts_path = starts_path
        self.acknowledged = {}  # client id -> job id
        self.errors = []
        self.is_stopped = threading.Event()
        self.open_count = lambda: 0

    def run(self):
        try:
            self.submit_until_stopped()
        except Exception as error:  # shown by the main thread
            self.errors.append(error)

    def submit_until_stopped(self):
        channel = grpc.insecure_channel(
            self.address, options=[("grpc.max_reconnect_backoff_ms", 200)])
        client = ArmadaClient(channel)
        batch = 0
        while not self.is_stopped.is_set():
            if self.open_count() > OPEN_JOBS_MAX:
                self.is_stopped.wait(0.02)
                continue
            ids = [f"c{batch}-{i}" for i in range(JOBS_PER_REQUEST)]
            batch += 1
            self.submit_once_and_again(client, ids)

    def submit_once_and_again(self, client, ids):
        while True:
            try:
                items = [job_item(client, i, self.starts_path) for i in ids]
                reply = client.submit_jobs(QUEUE, "set", items)
                break
            except grpc.RpcError as error:
                if error.code() not in (grpc.StatusCode.UNAVAILABLE,
                                        grpc.StatusCode.CANCELLED,
                                        grpc.StatusCode.UNKNOWN):
                    raise
                time.sleep(0.01)
        for client_id, item in zip(ids, reply.job_response_items):
            self.acknowledged[client_id] = item.job_id
        # The same submission again is the same jobs, also after a crash.
        if random.random() < 0.2:
            try:
                again = client.submit_jobs(QUEUE, "set", items)
            except grpc.RpcError:
                return
            for client_id, item in zip(ids, again.job_response_items):
                if self.acknowledged[client_id] != item.job_id:
                    self.errors.append(AssertionError(
                        f"{client_id} is {self.acknowledged[client_id]} "
                        f"and {item.job_id}"))


def states_of(client, job_ids):
    states = {}
    for at in range(0, len(job_ids), 500):
        reply = client.get_job_status(job_ids[at:at + 500])
        states.update(reply.job_states)
    return states


class Watch:
    """How many of the acknowledged jobs have not ended, asked now and then."""

    def __init__(self, client, submitter):
        self.client = client
        self.submitter = submitter
        self.ended = set()

    def refresh(self):
        open_ids = [j for j in list(self.submitter.acknowledged.values())
                    if j not in self.ended]
        try:
            states = states_of(self.client, open_ids)
        except grpc.RpcError:
            return
        self.ended |= {j for j, s in states.items() if s in ENDED}

    def open_count(self):
        return len(self.submitter.acknowledged) - len(self.ended)


def crash(rng, berth, executor):
    choices = [[berth], [executor], [berth, executor]] if executor \
        else [[berth]]
    victims = rng.choice(choices)
    for victim in victims:
        victim.kill()
    rng.shuffle(victims)
    for victim in victims:
        victim.start()


def read_starts(path):
    return path.read_text().split() if path.exists() else []


def check_end(client, submitter, starts_path):
    job_ids = list(submitter.acknowledged.values())

    def all_ended():
        states = states_of(client, job_ids)
        return states if all(s in ENDED for s in states.values()) else None

    states = wait_for("every job has ended", all_ended, 120)
    bad = {j: submit_pb2.JobState.Name(s) for j, s in states.items()
           if s != submit_pb2.SUCCEEDED}
    starts = collections.Counter(read_starts(starts_path))
    twice = [run for run, count in starts.items() if count > 1]
    assert len(set(job_ids)) == len(job_ids), "two client ids share a job"
    assert not bad, f"did not succeed: {bad}"
    assert not twice, f"run ids that started twice: {twice}"
    assert len(starts) >= len(job_ids), "a job succeeded and never started"
    return len(job_ids)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--standalone", action="store_true")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-crash-"))
    os.chmod(folder, 0o755)
    starts_path = make_meeting_folder() / "starts"
    starts_path.touch()
    os.chmod(starts_path, 0o666)
    (folder / "server").mkdir()
    berth = Berth(CONFIG if options.standalone else "",
                  standalone=options.standalone,
                  folder=folder / "server").start()
    executor = None
    if not options.standalone:
        executor = Executor(berth.grpc, "worker", folder / "executor", CONFIG,
                            "process").start()
    client = ArmadaClient(grpc.insecure_channel(
        berth.grpc, options=[("grpc.max_reconnect_backoff_ms", 200)]))
    client.create_queue(client.create_queue_request(
        name=QUEUE, priority_factor=1.0))
    submitter = Submitter(berth.grpc, starts_path)
    watch = Watch(client, submitter)
    submitter.open_count = watch.open_count
    submitter.start()
    begun = time.monotonic()
    for kill in range(options.kills):
        time.sleep(rng.uniform(0, 0.4))  # the random moment
        crash(rng, berth, executor)
        watch.refresh()
        assert not submitter.errors, submitter.errors
        if sys.stdout.isatty():
            print(f"\r{kill + 1} kills, {len(submitter.acknowledged)} jobs",
                  end="", flush=True)
    submitter.is_stopped.set()
    submitter.join(patient(60))
    assert not submitter.errors, submitter.errors
    count = check_end(client, submitter, starts_path)
    print(f"ok: seed {options.seed}, {options.kills} kills, {count} jobs, "
          f"{time.monotonic() - begun:.0f} s")
    if executor:
        executor.stop()
        end_pods_below(executor.folder)
    berth.close()
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(starts_path.parent, ignore_errors=True)


if __name__ == "__main__":
    main()
