"""What a schedule is judged by: figures of one cell, and of many."""

import csv

SHORT_S = 10  # run times below this count as so long, as is usual
HOUR_S = 3600
LATE_H = 999


def percentile(values, percent):
    """The least value that so much of a sorted list does not pass."""
    return values[-(-len(values) * percent // 100) - 1]


def spread(values):
    values = sorted(values)
    return {"mean": sum(values) / len(values), "p95": percentile(values, 95),
            "p99": percentile(values, 99)}


def of_jobs(rows, starts, ends):
    """Waits and slowdowns of a window's rows; an end per row, or None for a
    job that has not ended."""
    waits, slowdowns = [], []
    for row, start, end in zip(rows, starts, ends):
        if start is None or end is None:
            continue
        waits.append(start - row.submit)
        slowdowns.append(max(1, (end - row.submit) / max(row.run, SHORT_S)))
    return {"ended": len(waits), "wait_s": spread(waits),
            "slowdown": spread(slowdowns),
            "useful_h": sum(row.size * row.run for row in rows) / HOUR_S}


def of_swf(window, starts_file):
    """Figures of what `berth-sim swf --starts` wrote."""
    starts = {}
    with open(starts_file, encoding="ascii") as file:
        for line in file:
            job, start = line.split(",")
            starts[int(job)] = int(start)
    begun = [starts[row.job] for row in window.rows]
    ended = [start + row.run for start, row in zip(begun, window.rows)]
    figures = of_jobs(window.rows, begun, ended)
    span = max(ended) - window.rows[0].submit
    figures["utilisation"] = figures["useful_h"] * HOUR_S / (
        span * window.processors)
    return figures | {"preemptions": 0, "lost_h": 0}


def of_scenario(window, summary, jobs_file, samples_file):
    """Figures of what `berth-sim run` wrote: its summary, jobs and samples."""
    starts, ends = {}, {}
    with open(jobs_file, encoding="ascii") as file:
        for line in csv.DictReader(file):
            if line["started_s"] and line["outcome"] == "succeeded":
                job = int(line["stream"][1:])
                starts[job] = min(starts.get(job, 1e18),
                                  float(line["started_s"]))
                ends[job] = max(ends.get(job, 0), float(line["ended_s"]))
    zero = window.rows[0].submit
    figures = of_jobs(
        window.rows,
        [starts[row.job] + zero if row.job in starts else None
         for row in window.rows],
        [ends[row.job] + zero if row.job in ends else None
         for row in window.rows])
    span_s = window.rows[-1].submit - zero
    return figures | of_summary(summary) | {
        "least_due": least_obtained(samples_file, span_s)}


def of_summary(summary):
    figures = {"utilisation": max(summary["utilisation"].values(), default=0),
               "jain": summary["jain"],
               "preemptions": summary["preemptions"],
               "lost_h": summary["work_lost_cpu_h"] or
               summary["work_lost_gpu_h"]}
    if "forecast" in summary:
        figures["forecast"] = summary["forecast"]
    return figures


def shares(samples_file):
    """[(time in s, {queue: (due, obtained)})] of a file of samples."""
    with open(samples_file, encoding="utf-8") as file:
        for line in csv.DictReader(file):
            yield float(line["time_s"]), {
                name[:-len(" due")]: (float(due), float(
                    line[name[:-len(" due")] + " obtained"]))
                for name, due in line.items() if name.endswith(" due")}


def least_obtained(samples_file, span_s):
    """The least that a queue obtained of what it was due, of those that wanted
    something in at least half of the samples while jobs came; None: no queue
    did, or only one."""
    sums, count = {}, 0
    for time_s, sample in shares(samples_file):
        if time_s > span_s:
            break
        count += 1
        for queue, (due, obtained) in sample.items():
            if due > 0:
                total = sums.setdefault(queue, [0, 0, 0])
                total[0] += 1
                total[1] += due
                total[2] += obtained
    ratios = [obtained / due for active, due, obtained in sums.values()
              if 2 * active >= count]
    return min(ratios) if len(ratios) > 1 else None


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def together(cells):
    """The figures of several windows: means, but sums of what was lost."""
    return {
        "windows": len(cells),
        "ended": sum(cell["ended"] for cell in cells),
        "wait_s": {key: mean([cell["wait_s"][key] for cell in cells])
                   for key in ("mean", "p95", "p99")},
        "slowdown": {key: mean([cell["slowdown"][key] for cell in cells])
                     for key in ("mean", "p95", "p99")},
        "utilisation": mean([cell["utilisation"] for cell in cells]),
        "jain": mean([cell.get("jain") for cell in cells]),
        "least_due": mean([cell.get("least_due") for cell in cells]),
        "preemptions": sum(cell["preemptions"] for cell in cells),
        "lost_h": sum(cell["lost_h"] for cell in cells),
        "lost_of_useful": sum(cell["lost_h"] for cell in cells) /
        sum(cell["useful_h"] for cell in cells),
        "forecast": {key: mean([cell["forecast"][key] for cell in cells])
                     for key in cells[0]["forecast"]}
        if all("forecast" in cell for cell in cells) else None,
    }


def lags(jobs_file, stream, since_s, due):
    """After how many hours so many jobs of a stream have started: half of what
    is due, and all; LATE_H if not at all."""
    with open(jobs_file, encoding="ascii") as file:
        starts = sorted(float(line["started_s"])
                        for line in csv.DictReader(file)
                        if line["stream"] == stream and line["started_s"])
    return {name: (starts[count - 1] - since_s) / HOUR_S
            if count <= len(starts) else LATE_H
            for name, count in (("half", due // 2), ("all", due))}
