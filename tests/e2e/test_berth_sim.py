"""berth-sim as a program: what it writes for other programs, and what it says
of a command line or a file that is wrong."""

import gzip
import hashlib
import json
import pathlib
import subprocess
import tempfile
import unittest

import harness

# On four processors: a job of three, one that needs them all, and two of one.
# Number, submission, run time, processors, estimate.
ROWS = [(1, 0, 100, 3, 100), (2, 10, 100, 4, 100), (3, 20, 200, 1, 200),
        (4, 30, 40, 1, 50)]
LOG = "; Version: 2.2\n" + "".join(
    f"{number} {submit} -1 {run} {cores} -1 -1 {cores} {estimate} -1"
    " 1 1 1 1 1 -1 -1 -1\n" for number, submit, run, cores, estimate in ROWS)
SWF_FIELDS = ["jobs", "sum_wait_s", "mean_bounded_slowdown", "utilisation",
              "makespan_s", "started_at_once", "digest"]
SCENARIO = """
name: One node
clusters:
  - {name: east, nodes: [{name: n, count: 1, resources: {cpu: 4}}]}
queues: [{name: a}, {name: b}]
jobs:
  - {name: x, queue: a, count: 6, resources: {cpu: 1}, runTime: {a: 10m}}
  - {name: y, queue: b, count: 6, resources: {cpu: 1}, runTime: {a: 10m}}
"""
PHILLY = ("2017-10-03 00:00:00,600.0,8,4800.0,a\n"
          "2017-10-03 00:01:00,60.0,1,60.0,b\n")


class Sim(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="berth-e2e-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def sim(self, *arguments, code=0):
        done = subprocess.run(
            [harness.program("berth-sim"), *arguments], capture_output=True,
            text=True, timeout=harness.patient(60), check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def swf(self, path, *arguments):
        """The figures, and the lines of starts."""
        starts = self.folder / "starts.csv"
        done = self.sim("swf", path, "--processors", "4", "--json", "--starts",
                        str(starts), *arguments)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout), starts.read_text()

    def test_swf_writes_figures_and_starts(self):
        figures, starts = self.swf(self.file("a.swf", LOG))
        self.assertEqual(list(figures), SWF_FIELDS)
        # EASY: 3 would delay 2, which starts at 100; 4 does not.
        self.assertEqual(starts, "1,0\n2,100\n3,200\n4,30\n")
        digest = hashlib.sha256(starts.encode()).hexdigest()[:16]
        self.assertEqual(figures, {
            "jobs": 4, "sum_wait_s": 90 + 180,
            "mean_bounded_slowdown": (1 + 1.9 + 1.9 + 1) / 4,
            "utilisation": (300 + 400 + 200 + 40) / (4 * 400),
            "makespan_s": 400, "started_at_once": 2, "digest": digest})

    def test_a_gzipped_log_is_the_same_log(self):
        plain = self.file("a.swf", LOG)
        packed = self.folder / "a.swf.gz"
        packed.write_bytes(gzip.compress(LOG.encode()))
        self.assertEqual(self.swf(str(packed)), self.swf(plain))

    def test_policies_conventions_and_limits_are_heard(self):
        path = self.file("a.swf", LOG)
        self.assertEqual(self.swf(path, "--policy", "fcfs")[1],
                         "1,0\n2,100\n3,200\n4,200\n")
        self.assertEqual(self.swf(path, "--policy", "easy"), self.swf(path))
        self.assertEqual(self.swf(path, "--policy", "sjbf")[0]["jobs"], 4)
        self.assertEqual(self.swf(path, "--limit", "2")[1], "1,0\n2,100\n")
        self.assertEqual(
            self.swf(path, "--convention", "sc15", "--exact-estimates")[1],
            "1,0\n2,100\n3,200\n4,30\n")

    def test_run_writes_a_summary_a_table_and_a_picture(self):
        csv, svg = self.folder / "a.csv", self.folder / "a.svg"
        done = self.sim("run", self.file("s.yaml", SCENARIO), "--json",
                        "--csv", str(csv), "--svg", str(svg))
        figures = json.loads(done.stdout)
        for name in ("jobs", "utilisation", "wait_s", "bounded_slowdown",
                     "queues"):
            self.assertIn(name, figures)
        self.assertEqual(figures["succeeded"], 12)
        self.assertIn("a obtained", csv.read_text().splitlines()[0])
        self.assertIn("<svg", svg.read_text())

    def test_a_table_that_cannot_be_written_is_told_before_playing(self):
        csv = str(self.folder / "none" / "a.csv")
        jobs = self.file("jobs", "as it was")
        trace = self.file("p.csv", PHILLY)
        for arguments in (["run", self.file("s.yaml", SCENARIO)],
                          ["fleet", "--trace", "philly", trace]):
            with self.subTest(arguments=arguments):
                done = self.sim(*arguments, "--csv", csv, code=1)
                self.assertIn(csv, done.stderr)
                self.assertEqual(done.stdout, "")
        self.sim("run", self.file("s.yaml", SCENARIO), "--jobs", jobs, "--csv",
                 csv, code=1)
        self.assertEqual(pathlib.Path(jobs).read_text(), "as it was")

    def test_fleet_plays_clusters_as_queues(self):
        path = self.file("p.csv", "timestamp,duration,num_gpus,gpu_time,"
                                  "cluster\n" + PHILLY)
        done = self.sim("fleet", "--trace", "philly", path, "--gpus", "16",
                        "--json")
        figures = json.loads(done.stdout)
        self.assertEqual(figures["succeeded"], 2)
        self.assertEqual([q["name"] for q in figures["queues"]], ["a", "b"])

    def test_the_guide_has_the_keys_of_a_scenario(self):
        page = (harness.ROOT / "docs/guide/berth-sim.md").read_text()
        self.assertIn(self.sim("run", "--print-manual").stdout, page)

    def test_what_is_wrong_is_named(self):
        log = self.file("a.swf", LOG)
        for arguments, words in (
                (["swf", log], "--processors"),
                (["swf", log, "--processors", "0"], "--processors"),
                (["swf", log, "--processors", "4", "--policy", "lifo"],
                 "--policy"),
                (["swf", self.file("b.swf", "1 2 x\n"), "--processors", "4"],
                 "line 1"),
                (["swf", str(self.folder / "none"), "--processors", "4"],
                 "none"),
                (["run", self.file("b.yaml", "nome: x\n")], "nome"),
                (["fleet", "--trace", "philly", self.file("b.csv", "x\n")],
                 "line 1"),
                (["fleet", "--trace", "helios", log], "philly")):
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.sim(*arguments, code=2).stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
