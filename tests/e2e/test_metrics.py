"""Metrics: what is served is what the table says, and Prometheus takes it."""

import re
import subprocess
import unittest
import urllib.request

import harness
import promtool
from test_berthctl import job_file

# Names of former releases that stay although Prometheus advises others.
OLD = {"berth_queue_budget_left_minutes"}


def table():
    """Name -> (type, unit, labels, meaning), from berthd."""
    text = subprocess.run([harness.program("berthd"), "--print-metrics"],
                          capture_output=True, text=True, check=True).stdout
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in text.splitlines()[2:]]
    return {row[0].strip("`"): row[1:] for row in rows}


class Table(unittest.TestCase):
    def test_page_is_what_the_program_says(self):
        page = (harness.ROOT / "docs/metrics.md").read_text()
        done = subprocess.run([harness.program("berthd"), "--print-metrics"],
                              capture_output=True, text=True, check=True)
        self.assertIn(done.stdout, page)

    def test_rows_are_sorted_and_whole(self):
        rows = table()
        self.assertEqual(list(rows), sorted(rows))
        for name, (kind, unit, _, about) in rows.items():
            self.assertIn(kind, ("gauge", "counter", "histogram", "summary"))
            self.assertTrue(about.endswith("."), name)
            self.assertEqual("seconds" in name, unit == "seconds", name)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.berth = harness.Berth(arguments=["--stop-jobs"]).start()
        cls.addClassCleanup(cls.berth.close)
        cls.berth.ctl("create", "queue", "q")
        cls.berth.ctl("submit", "-", input_text=job_file("q", "s", "true"))
        harness.wait_for("the job has succeeded", lambda:
                         "berth_jobs_succeeded_total 1\n" in cls.page())

    @classmethod
    def page(cls):
        with urllib.request.urlopen(f"http://{cls.berth.http}/metrics",
                                    timeout=harness.patient(20)) as reply:
            return reply.read().decode()

    def test_families_are_those_of_the_table(self):
        rows = table()
        served = dict(re.findall(r"^# TYPE (\w+) (\w+)$", self.page(),
                                 flags=re.M))
        self.assertEqual({name: kind for name, kind in served.items()
                          if rows.get(name, [""])[0] != kind}, {})
        left_out = {name for name in rows if name not in served}
        # Pools as objects have theirs only where there are some, and so have
        # targets of notifications (test_notifier.py).
        self.assertEqual({name for name in left_out if not name.startswith(
            ("scheduler_pool_", "berth_notifications_"))}, set())

    def test_labels_are_those_of_the_table(self):
        rows = table()
        for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$",
                                       self.page(), flags=re.M):
            family = name if name in rows else name.rpartition("_")[0]
            said = set(re.findall(r"(\w+)=\"", labels))
            self.assertLessEqual(said,
                                 set(rows[family][2].split(", ")), name)

    def test_times_are_measured(self):
        page = self.page()
        self.assertIn('berth_queue_wait_seconds_count{queue="q"} 1\n', page)
        self.assertIn("berth_submit_to_round_seconds_count 1\n", page)
        self.assertIn('berth_executor_stale{cluster="local"} 0\n', page)
        for name in ("process_resident_memory_bytes", "process_open_fds",
                     "berth_data_free_bytes", "berth_log_size_bytes",
                     "process_start_time_seconds"):
            value = float(re.search(rf"^{name} (\S+)$", page, re.M)[1])
            self.assertGreater(value, 1, name)

    def test_promtool_has_nothing_to_say(self):
        done = promtool.run("check", "metrics", text=self.page())
        self.assertIn(done.returncode, (0, 3), done.stderr)
        ours = [line for line in (done.stdout + done.stderr).splitlines()
                if line.startswith("berth_") and line.split()[0] not in OLD]
        self.assertEqual(ours, [])


if __name__ == "__main__":
    unittest.main()
