"""Windows of real logs, and the scenarios that berth-sim plays of them."""

import collections
import glob
import gzip
import os

Row = collections.namedtuple("Row", "job submit run size estimate user")
# `log` is the file's name without its endings; rows are in order of arrival.
Window = collections.namedtuple("Window", "log first processors rows")

QUEUES_MAX = 20

# How jobs lose their places, and what they are made of.
WORKS = {
    "firm": "priorityClass: armada-default, lifetime: infinite",
    "preemptible": "priorityClass: armada-preemptible, lifetime: 0s, "
                   "requeue: true",
    "gangs": "priorityClass: armada-preemptible, lifetime: 0s, requeue: true",
}


def folder(root):
    """Where the logs are: as tests find them."""
    return os.environ.get("BERTH_TRACES",
                          os.path.join(root, "..", "shared", "traces"))


def logs(traces):
    """The paths of all logs in the Standard Workload Format."""
    return sorted(glob.glob(os.path.join(traces, "*", "*.swf.gz")) +
                  glob.glob(os.path.join(traces, "*", "*.swf")))


def read(path):
    """(processors, rows) of a log, by the rules of berth-sim swf."""
    processors, rows = 0, []
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="latin-1") as file:
        for line in file:
            if line.startswith(";"):
                if "MaxProcs:" in line:
                    processors = int(line.split(":")[1])
                continue
            numbers = [int(float(word)) for word in line.split()]
            if len(numbers) > 11:
                rows.append(numbers)
    return processors, sorted(filter(None, (row_of(numbers, processors)
                                            for numbers in rows)),
                              key=lambda row: (row.submit, row.job))


def row_of(numbers, processors):
    job, submit, run, used, asked, estimate, user = (
        numbers[i] for i in (0, 1, 3, 4, 7, 8, 11))
    size = asked if asked > 0 else used
    if not 0 < size <= processors or run < 0 or submit < 0:
        return None
    estimate = max(1, estimate if estimate > 0 else run)
    return Row(job, submit, max(1, min(run, estimate)), size, estimate, user)


def cut(path, starts, count):
    """The windows of `count` jobs that begin at some rows of a log."""
    processors, rows = read(path)
    name = os.path.basename(path).split(".")[0]
    for first in starts:
        if first + count <= len(rows):
            yield Window(name, first, processors, rows[first:first + count])


def queues_of(window, count):
    """A queue for each user with much work, and one for all others."""
    work = collections.Counter()
    for row in window.rows:
        work[row.user] += row.size * row.run
    most = sorted(work, key=lambda user: (-work[user], user))
    top = set(most[:count - 1])
    return [f"u{row.user}" if row.user in top else "other"
            for row in window.rows]


def scenario(window, profile, queue_count, work, pool=""):
    """The page that berth-sim plays; `pool` has further keys of the pool."""
    is_gang = work == "gangs"
    queues = queues_of(window, queue_count)
    nodes = (f"count: {window.processors}, resources: {{cpu: 1}}" if is_gang
             else f"count: 1, resources: {{cpu: {window.processors}}}")
    page = [f"name: {window.log} from {window.first}", "sample: 1h",
            "clusters:", "  - name: c", "    startDelay: 0s",
            f"    nodes: [{{name: n, {nodes}}}]", "queues:"]
    page += [f"  - name: {queue}" for queue in sorted(set(queues))]
    page.append("jobs:")
    for row, queue in zip(window.rows, queues):
        shape = (f"resources: {{cpu: 1}}, gang: {{size: {row.size}}}"
                 if is_gang else f"resources: {{cpu: {row.size}}}")
        page.append(
            f"  - {{name: j{row.job}, queue: {queue}, user: u{row.user}, "
            f"count: 1, "
            f"first: {row.submit - window.rows[0].submit}s, {shape}, "
            f"runTime: {{a: {row.run}s}}, deadline: {row.estimate}s, "
            f"{WORKS[work]}}}")
    page.append("scheduling:\n  pools: [{name: default, "
                f"profile: {profile}{pool}}}]")
    return "\n".join(page) + "\n"


def swf(window):
    """The window as a log of its own."""
    return "".join(f"{row.job} {row.submit} -1 {row.run} {row.size} -1 -1 "
                   f"{row.size} {row.estimate} -1 1 {row.user} 1 1 1 1 -1 -1\n"
                   for row in window.rows)


NEWCOMER_H = 2  # a queue has run alone for so long when another one comes
NEWCOMER_NODES, NEWCOMER_CORES = 16, 8


def newcomer(profile):
    """A pool full of one queue's runs, all of the same age, with limits of a
    day, to which another queue comes that is due half of it."""
    shape = ("resources: {cpu: 1}, runTime: {a: 24h}, deadline: 24h, "
             "priorityClass: armada-preemptible, lifetime: 0s")
    size = NEWCOMER_NODES * NEWCOMER_CORES
    return f"""name: A queue comes to a pool full of another's runs
duration: 30h
sample: 1h
clusters:
  - name: c
    startDelay: 0s
    nodes: [{{name: n, count: {NEWCOMER_NODES}, resources: {{cpu: {NEWCOMER_CORES}}}}}]
queues:
  - name: old
  - name: new
jobs:
  - {{name: old, queue: old, count: {2 * size}, {shape}}}
  - {{name: new, queue: new, count: {size}, first: {NEWCOMER_H}h, {shape}}}
scheduling:
  pools: [{{name: default, profile: {profile}}}]
"""
