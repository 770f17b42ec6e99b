"""What chaos.py draws: configurations, and jobs of every kind."""

QUEUES = {
    "plain": [], "first": ["--ordering", "fifo"],
    "even": ["--ordering", "fair", "--max-running-apps", "4"],
    "aware": ["--ordering", "stateaware", "--allow-stateaware-disable"],
    "train": ["--ordering", "cfs"], "tight": ["--quota", "cpu=9"],
}
CLASSES = ["armada-default", "armada-preemptible", "armada-resilient",
           "experiment", "normal", "production"]
LABELS = ["a=true", "b=true", "gpu=true"]
POOLS = {"pa": "a=true", "pb": "b=true", "pg": "gpu=true"}
SERVER = """
log: {{checkpointRecords: {checkpoint}}}
planner: {{threads: {threads}}}
scheduling:
  fullRoundPeriod: 100ms
  cooldown: {cooldown}
  executorTimeout: 5s
  executorLostTimeout: {lost}
  maximumSchedulingRate: {rate}
  maximumSchedulingBurst: {burst}
  maximumPerQueueSchedulingRate: {queue_rate}
  maximumPerQueueSchedulingBurst: {queue_burst}
  nodeQuarantine: {{window: 1m, minFailures: 3, minJobSets: 1}}
  elastic: {{period: 1s, freezingWindow: {freeze}}}
  floatingResources:
    - {{name: licence, pools: [{{name: default, quantity: {licences}}}]}}
  pools:
    - name: default
      profile: {profile}
      excessBudgetMinutes: {budget}
      starvedAfter: {starved}
      topology: [rack]
      elasticMaxLoad: {load}
"""
EXECUTOR = """
executor:
  heldStream: {held}
  leasePeriod: 300ms
  fake:
    runTime: {run_time}
    distribution: exponential
    startDelay: {delay}
    failureRate: {failures}
    seed: {seed}
    nodes:
{nodes}
"""
NODE = ("      - {{name: {name}, count: {count}, resources: {{cpu: {cpu}, "
        "memory: 64Gi, ephemeral-storage: 400Gi, nvidia.com/gpu: {gpu}}}, "
        "labels: [{labels}]}}\n")


def server_config(rng, threads):
    return SERVER.format(
        threads=threads, checkpoint=rng.choice([1000, 5000, 1000000]),
        cooldown=rng.choice(["0s", "1s", "5s"]), lost=rng.choice(["8s", "20s"]),
        rate=rng.choice([0, 0, 200]), burst=rng.choice([50, 300]),
        queue_rate=rng.choice([0, 0, 50]), queue_burst=300,
        freeze=rng.choice(["0s", "1s", "4s"]), licences=rng.choice([2, 6]),
        profile=rng.choice(["berth", "flow", "armada"]),
        budget=rng.choice([-1, 1, 60]), starved=rng.choice(["2s", "1h"]),
        load=rng.choice(["0.9", "1.0"]))


def executor_config(rng):
    nodes = "".join(NODE.format(
        name=f"n{i}", count=rng.randint(1, 3), cpu=rng.choice([4, 8, 16]),
        gpu=rng.choice([0, 0, 4]),
        labels=", ".join(rng.sample(LABELS, rng.choice([0, 1, 1, 1, 2]))
                         + [f"rack=r{rng.randint(0, 2)}"]))
                    for i in range(rng.randint(2, 4)))
    return EXECUTOR.format(
        held=rng.choice(["true", "true", "false"]),
        run_time=rng.choice(["200ms", "500ms", "1500ms"]),
        delay=rng.choice(["0s", "50ms", "300ms"]),
        failures=rng.choice([0, 0.02, 0.1]), seed=rng.randint(1, 999),
        nodes=nodes)


def amounts(rng):
    found = {"cpu": rng.choice(["500m", "1", "1", "2", "4"]),
             "memory": "100Mi", "ephemeral-storage": "1Gi"}
    if rng.random() < 0.1:
        found["nvidia.com/gpu"] = rng.choice(["1", "2"])
    return found


def pod(rng, class_name):
    requests = amounts(rng)
    if rng.random() < 0.05:
        requests["licence"] = "1"
    spec = {"restartPolicy": "Never", "priorityClassName": class_name,
            "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "main", "image": "none",
                            "command": ["true"],
                            "resources": {"requests": requests,
                                          "limits": requests}}]}
    if rng.random() < 0.4:
        spec["activeDeadlineSeconds"] = rng.choice([2, 5, 20])
    if rng.random() < 0.05:
        spec["nodeSelector"] = {"b": "true"}
    return spec


def has_licence(spec):
    return "licence" in spec["containers"][0]["resources"]["requests"]


def notes(rng):
    """Annotations that any job may have."""
    found = {}
    if rng.random() < 0.4:
        found["resource.aibee.cn/pool"] = rng.choice([*POOLS, "nowhere"])
    if rng.random() < 0.4:
        found["berth.dev/lifetimeSeconds"] = rng.choice(
            ["0", "1", "5", "infinite"])
    if rng.random() < 0.5:
        found["berth.dev/onPreemption"] = "requeue"
    if rng.random() < 0.3:
        found["berth.dev/onExecutorLost"] = "requeue"
    if rng.random() < 0.3:
        found["berth.dev/fakeRunMs"] = str(rng.choice([10, 100, 1000, 4000]))
    if rng.random() < 0.03:
        found["berth.dev/fakeExitCode"] = "1"
    if rng.random() < 0.2:
        found["yunikorn.apache.org/app-id"] = f"app-{rng.randint(0, 9)}"
    if rng.random() < 0.05:
        found["application.stateaware.disable"] = "true"
    return found
