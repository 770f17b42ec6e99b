"""Random workloads of jobs that are preemptible and requeued, as scenarios.

A workload is a dict of plain numbers, so that it is easily copied and changed.
Times are in s.  Each stream is some equal jobs, or gangs of equal pods.
"""

import copy

QUEUES_MAX = 6
STREAMS_MAX = 24
JOBS_MAX = 12  # of a stream
GANG_MAX = 12
TIME_MAX_S = 2 * 24 * 3600


def length(random, low, high):
    """A number that is as often of one magnitude as of another."""
    return max(low, min(high, round(low * (high / low) ** random.random())))


def draw_stream(random, workload):
    size = random.choice((0, 0, random.randint(2, GANG_MAX)))
    run_s = length(random, 10, TIME_MAX_S)
    return {
        "queue": random.randrange(len(workload["weights"])),
        "count": length(random, 1, JOBS_MAX),
        "first": random.choice((0, length(random, 1, TIME_MAX_S))),
        "gap": random.choice((0, 0, length(random, 1, 1000))),
        "cores": random.randint(1, workload["cores"]),
        "gang": size,
        "run": run_s,
        "deadline": random.choice((0, 0, run_s, 3 * run_s)),
        "lifetime": random.choice((0, 0, 0, length(random, 10, 3600))),
        "priority": random.choice((0, 0, 1)),
    }


def draw(random):
    workload = {
        "nodes": length(random, 1, 12),
        "cores": random.choice((1, 1, 2, 4, 6, 8, 9)),
        "more": random.choice((0, 0, random.randint(1, 8))),
        "weights": [random.choice((1, 1, 0.75, 2 / 3, 0.5, 0.25, 0.1))
                    for _ in range(random.randint(2, QUEUES_MAX))],
        "streams": [],
    }
    for _ in range(random.randint(2, 10)):
        workload["streams"].append(draw_stream(random, workload))
    return workload


def change_stream(random, workload, stream):
    """Draw one number of a stream anew, or move it a little."""
    key = random.choice(sorted(stream))
    other = draw_stream(random, workload)
    if key in ("first", "gap", "run", "lifetime", "deadline") and (
            random.random() < 0.6):
        stream[key] = round(stream[key] * random.choice((0.5, 0.9, 1.1, 2)) +
                            random.randint(-2, 2))
        stream[key] = max(0, min(TIME_MAX_S, stream[key]))
    else:
        stream[key] = other[key]
    stream["run"] = max(1, stream["run"])
    # A job that is stopped at its deadline would never end.
    if 0 < stream["deadline"] < stream["run"]:
        stream["deadline"] = stream["run"]
    stream["cores"] = min(stream["cores"], workload["cores"])


def change(random, workload):
    """A copy of a workload that differs a little."""
    other = copy.deepcopy(workload)
    streams = other["streams"]
    for _ in range(length(random, 1, 5)):
        what = random.randrange(10)
        at = random.randrange(len(streams))
        if what == 0 and len(streams) < STREAMS_MAX:
            streams.append(draw_stream(random, other))
        elif what == 1 and len(streams) < STREAMS_MAX:
            streams.append(copy.deepcopy(streams[at]))
            change_stream(random, other, streams[-1])
        elif what == 2 and len(streams) > 1:
            del streams[at]
        elif what == 3:
            other["nodes"] = max(1, other["nodes"] + random.choice((-1, 1)))
        elif what == 4:
            at = random.randrange(len(other["weights"]))
            other["weights"][at] = random.choice(
                (1, 0.75, 2 / 3, 0.5, 0.25, 0.1))
        elif what == 5:
            other["more"] = random.randint(0, 8)
        else:
            change_stream(random, other, streams[at])
    return other


def cross(random, one, two):
    """The nodes and queues of one, with some streams of both."""
    other = copy.deepcopy(one)
    for stream in two["streams"]:
        if random.random() < 0.5 and len(other["streams"]) < STREAMS_MAX:
            stream = dict(stream)
            stream["queue"] %= len(other["weights"])
            stream["cores"] = min(stream["cores"], other["cores"])
            other["streams"].append(stream)
    return other


def room(workload):
    """For how many pods of each number of cores there is room."""
    return lambda cores: (
        workload["nodes"] * (workload["cores"] // cores) +
        (1 if workload["more"] >= cores else 0) *
        (workload["more"] // cores))


def played(workload):
    """The streams that fit the nodes when these are empty."""
    fits = room(workload)
    return [stream for stream in workload["streams"]
            if max(1, stream["gang"]) <= fits(stream["cores"])]


def useful_core_h(workload):
    return sum(stream["count"] * max(1, stream["gang"]) * stream["cores"] *
               stream["run"] for stream in played(workload)) / 3600


def scenario(workload, profile):
    """The page that berth-sim plays."""
    nodes = [f"{{name: n, count: {workload['nodes']}, "
             f"resources: {{cpu: {workload['cores']}}}}}"]
    if workload["more"]:
        nodes.append(f"{{name: m, resources: {{cpu: {workload['more']}}}}}")
    page = ["name: a workload that was searched for", "sample: 1h",
            "clusters:", "  - name: c", "    startDelay: 0s",
            f"    nodes: [{', '.join(nodes)}]", "queues:"]
    page += [f"  - {{name: q{i}, weight: {weight:.3f}}}"
             for i, weight in enumerate(workload["weights"])]
    page.append("jobs:")
    for i, stream in enumerate(played(workload)):
        gang = ("" if not stream["gang"] else
                f", gang: {{size: {stream['gang']}}}")
        comes = ("" if not stream["gap"] else
                 f", arrivals: steady, rate: {max(0.001, 1 / stream['gap']):.3f}")
        deadline = ("" if not stream["deadline"] else
                    f", deadline: {stream['deadline']}s")
        page.append(
            f"  - {{name: j{i}, queue: q{stream['queue']}, "
            f"count: {stream['count']}, first: {stream['first']}s{comes}, "
            f"resources: {{cpu: {stream['cores']}}}{gang}, "
            f"runTime: {{a: {stream['run']}s}}{deadline}, "
            f"priority: {stream['priority']}, "
            "priorityClass: armada-preemptible, "
            f"lifetime: {stream['lifetime']}s, requeue: true}}")
    page.append(f"scheduling:\n  pools: [{{name: default, profile: {profile}"
                "}]")
    return "\n".join(page) + "\n"
