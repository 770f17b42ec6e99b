#!/usr/bin/env python3
"""What a person waits for at a terminal when a server holds many jobs.

usage: cli_size.py BUILD [JOBS]

A berthd without nodes gets JOBS (1,000,000) waiting jobs from berthctl, as
arrays of 10,000.  Then berthctl lists the first page of several filters, each
100 times ($RUNS), so that its start and its call count.  Prints lines as tools/bench
reads them:

    submit.array_10k_s       the slowest array, until berthctl has ended
    cli.first_page_p99_ms    the worst p99 of the filters
    cli.first_page_mean_ms   the worst mean of them
    cli.first_page_cpu_ms    the worst mean of the processor time of berthctl and
                             the server, which other work changes less
"""

import json
import os
import pathlib
import re
import resource
import statistics
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
os.environ["BERTH_BUILD"] = sys.argv[1] if len(sys.argv) > 1 else "build"
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
import harness  # noqa: E402 pylint: disable=C0413

MEMBERS = 10000
QUEUES = 10
RUNS = int(os.environ.get("RUNS") or 100)
FILTERS = {
    "all": (),
    "members": ("--members",),
    "queue": ("-q", "queue-3"),
    "queued": ("-s", "queued", "--members"),
    "running": ("-s", "running"),
    "job-set": ("-q", "queue-3", "-j", "run"),
    "name": ("--name", "array-7"),
    "label": ("-l", "team=none"),
    "json": ("-o", "json", "--members"),
}
CONFIG = "executor: {enabled: false}\nserver: {rateLimit: {bytesPerSecond: 0}}\n"


def say(name, unit, value):
    print(json.dumps({"name": name, "value": round(value, 3), "unit": unit}),
          flush=True)


def processor_ms(berth):
    """Of all calls of berthctl that have ended, and of the server."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(f"/proc/{berth.program.process.pid}/stat", encoding="ascii") as file:
        ticks = file.read().rsplit(")", 1)[1].split()[11:13]
    return 1000 * (ended.ru_utime + ended.ru_stime
                   + sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"))


def timed(berth, *arguments):
    begin = time.monotonic()
    berth.ctl(*arguments, seconds=600)
    return time.monotonic() - begin


def is_followed(berth):
    """Whether the query store has all that the log has."""
    with urllib.request.urlopen(f"http://{berth.http}/metrics") as answer:
        page = answer.read().decode()
    seqs = [re.search(rf"^berth_{what}_seq (\d+)", page, re.M)[1]
            for what in ("log", "store")]
    return seqs[0] == seqs[1]


def fill(berth, job_count):
    slowest = 0
    for i in range(QUEUES):
        berth.ctl("create", "queue", f"queue-{i}")
    for i in range(max(1, job_count // MEMBERS)):
        slowest = max(slowest, timed(
            berth, "run", "-q", f"queue-{i % QUEUES}", "--name", f"array-{i}",
            "--array", f"0-{MEMBERS - 1}", "--cpu", "1", "--memory", "1Gi",
            "--", "true"))
    say("submit.array_10k_s", "s", slowest)
    harness.wait_for("the store to follow", lambda: is_followed(berth), 600)


def main():
    with harness.Berth(CONFIG, standalone=False) as berth:
        fill(berth, int(sys.argv[2]) if len(sys.argv) > 2 else 1000000)
        worst = {}
        for name, filters in FILTERS.items():
            before = processor_ms(berth)
            spent = [1000 * timed(berth, "get", "jobs", *filters)
                     for _ in range(RUNS)]
            cpu = (processor_ms(berth) - before) / RUNS
            print(f"# {name}: mean {statistics.mean(spent):.1f} ms, p99 "
                  f"{sorted(spent)[-2]:.1f} ms, processor {cpu:.1f} ms",
                  flush=True)
            worst[name] = (sorted(spent)[-2], statistics.mean(spent), cpu)
        for i, name in enumerate(("p99", "mean", "cpu")):
            say(f"cli.first_page_{name}_ms", "ms",
                max(each[i] for each in worst.values()))


if __name__ == "__main__":
    main()
