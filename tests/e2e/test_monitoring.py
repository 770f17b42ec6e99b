"""Alert rules and dashboards: they parse, they ask for metrics that exist, and
a Prometheus that scrapes a loaded server answers every query."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse
import urllib.request

import grafana_schema
import harness
import promtool
from test_berthctl import job_file
from test_metrics import table

DEPLOY = harness.ROOT / "deploy"
RULES = DEPLOY / "prometheus"
GUIDE = harness.ROOT / "docs" / "guide" / "operations.md"
SUFFIXES = ("_bucket", "_sum", "_count")
# Of metrics that a small, healthy server has no series of.
EMPTY = ("nvidia.com/gpu",)


def alerts():
    """Name -> expression, from lines as the rules file has them."""
    text = (RULES / "alerts.yaml").read_text()
    found = {}
    for block in re.split(r"^      - alert: ", text, flags=re.M)[1:]:
        expr = re.search(r"^        expr: (>-\n)?(.*?)\n        [a-z]+:",
                         block, flags=re.M | re.S)[2]
        found[block.split("\n")[0]] = " ".join(expr.split())
    return found


def queries():
    """Title of dashboard and panel -> expression."""
    found = {}
    for path in sorted(DEPLOY.glob("grafana/*.json")):
        board = json.loads(path.read_text())
        for panel in board["panels"]:
            for target in panel["targets"]:
                found[f"{path.name}: {panel['title']} "
                      f"{target['refId']}"] = target["expr"]
    return found


def variables():
    """Name of dashboard and variable -> (metric, label) of its values."""
    found = {}
    for path in sorted(DEPLOY.glob("grafana/*.json")):
        board = json.loads(path.read_text())
        for variable in board["templating"]["list"]:
            if variable["type"] == "query":
                asked = re.fullmatch(r"label_values\((\w+), (\w+)\)",
                                     variable["query"]["query"])
                found[f"{path.name}: ${variable['name']}"] = asked.groups()
    return found


def names_of(expr):
    """The metrics that an expression asks for."""
    bare = re.sub(r'"[^"]*"|\{[^}]*\}|\[[^\]]*\]', " ", expr)
    bare = re.sub(r"\b(?:by|ignoring|on|without) *\([^)]*\)", " ", bare)
    return set(re.findall(r"\b((?:berth|armada|scheduler|process)_\w+)", bare))


class Files(unittest.TestCase):
    def test_rules_are_good(self):
        done = promtool.run("check", "rules", str(RULES / "alerts.yaml"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_rules_fire_when_they_should(self):
        done = promtool.run("test", "rules", str(RULES / "alerts_test.yaml"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        tested = (RULES / "alerts_test.yaml").read_text()
        self.assertEqual([name for name in alerts()
                          if f"alertname: {name}\n" not in tested], [])

    def test_each_metric_exists(self):
        rows = table()
        asked = {what: metric for what, (metric, _) in variables().items()}
        for what, expr in {**alerts(), **queries(), **asked}.items():
            for name in names_of(expr):
                for suffix in SUFFIXES:
                    if rows.get(name.removesuffix(suffix), [""])[0] in (
                            "histogram", "summary"):
                        name = name.removesuffix(suffix)
                self.assertIn(name, rows, what)

    def test_guide_says_what_to_do_when_each_alert_fires(self):
        headings = re.findall(r"^### (\w+)$", GUIDE.read_text(), flags=re.M)
        self.assertEqual(headings, list(alerts()))

    def test_dashboards_are_whole(self):
        for path in sorted(DEPLOY.glob("grafana/*.json")):
            board = json.loads(path.read_text())
            self.assertEqual(board["uid"], path.stem)
            ids = [panel["id"] for panel in board["panels"]]
            self.assertEqual(len(ids), len(set(ids)))
            for panel in board["panels"]:
                self.assertIn(panel["type"], ("timeseries", "stat"))
                self.assertLessEqual({"x", "y", "w", "h"},
                                     set(panel["gridPos"]))
                self.assertTrue(panel["targets"], panel["title"])

    def test_dashboards_are_of_grafanas_schema(self):
        for path in sorted(DEPLOY.glob("grafana/*.json")):
            self.assertEqual(grafana_schema.faults(path), "")

    def test_what_is_not_of_the_schema_is_noticed(self):
        with tempfile.TemporaryDirectory(prefix="berth-e2e-") as folder:
            path = pathlib.Path(folder) / "wrong.json"
            path.write_text('{"schemaVersion": "39", "panels": [{"typ": 1}]}')
            found = grafana_schema.faults(path)
        self.assertIn("not assignable to type 'number'", found)
        self.assertIn("'\"typ\"' does not exist", found)


class Asked(unittest.TestCase):
    """A Prometheus that scrapes a server with some work."""

    @classmethod
    def setUpClass(cls):
        program = promtool.program("prometheus")
        cls.berth = harness.Berth(arguments=["--stop-jobs"]).start()
        cls.addClassCleanup(cls.berth.close)
        cls.berth.ctl("create", "queue", "q")
        for command in ("true", "true", "false"):
            cls.berth.ctl("submit", "-",
                          input_text=job_file("q", "s", command))
        cls.berth.ctl("submit", "-", input_text=job_file(
            "q", "long", "sleep 1000"))
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-e2e-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        (cls.folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
            f"rule_files: ['{RULES}/alerts.yaml']\n"
            "scrape_configs:\n"
            "  - job_name: berth\n"
            f"    static_configs: [{{targets: ['{cls.berth.http}']}}]\n")
        with open(cls.folder / "log", "wb") as log:
            cls.process = subprocess.Popen(
                [program, f"--config.file={cls.folder}/prometheus.yml",
                 f"--storage.tsdb.path={cls.folder}/data",
                 "--web.listen-address=127.0.0.1:0"], stderr=log, stdout=log)
        cls.addClassCleanup(cls.stop)
        cls.address = harness.wait_for("prometheus listens", cls.listens, 60)
        harness.wait_for("prometheus is ready", cls.is_ready, 60)

    @classmethod
    def stop(cls):
        cls.process.terminate()
        cls.process.wait(harness.patient(60))

    @classmethod
    def is_ready(cls):
        """Whether it answers queries; it listens before it does."""
        try:
            with urllib.request.urlopen(
                    f"http://{cls.address}/-/ready",
                    timeout=harness.patient(20)) as reply:
                return reply.status == 200
        except urllib.error.HTTPError:
            return False

    @classmethod
    def listens(cls):
        """Its log does not tell a port that it chose: the kernel does."""
        inodes = set()
        try:
            for fd in pathlib.Path(f"/proc/{cls.process.pid}/fd").iterdir():
                link = str(fd.readlink())
                if link.startswith("socket:["):
                    inodes.add(link[8:-1])
        except OSError:
            return None
        tcp = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
        for fields in (line.split() for line in tcp):
            if fields[3] == "0A" and fields[9] in inodes:
                return f"127.0.0.1:{int(fields[1].split(':')[1], 16)}"
        return None

    def get(self, path, **parameters):
        text = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(
                f"http://{self.address}/api/v1/{path}?{text}",
                timeout=harness.patient(20)) as reply:
            return json.loads(reply.read())["data"]

    def ask(self, expr):
        return self.get("query", query=expr)["result"]

    def test_every_query_has_an_answer(self):
        harness.wait_for("two scrapes", lambda: self.ask(
            'count_over_time(up{job="berth"}[1m]) > 3'), 60)
        empty = []
        for what, expr in queries().items():
            expr = expr.replace('"$queue"', '".*"')
            if not self.ask(expr) and not any(e in expr for e in EMPTY):
                empty.append(what)
        self.assertEqual(empty, [])

    def test_every_variable_has_values(self):
        """Asked as Grafana does."""
        self.assertGreaterEqual(len(variables()), 1)
        for what, (metric, label) in variables().items():
            values = harness.wait_for(f"values of {what}", lambda: self.get(
                f"label/{label}/values", **{"match[]": metric}), 60)
            self.assertEqual(values, ["q"], what)

    def rules(self):
        (group,) = self.get("rules")["groups"]
        return group["rules"]

    def active(self):
        """Alerts that fire or are pending; how full this disk is says nothing."""
        return [(rule["name"], rule["state"], rule["alerts"])
                for rule in self.rules() if rule["state"] != "inactive"
                and not rule["name"].startswith("BerthDisk")]

    def test_a_healthy_server_fires_nothing(self):
        """Most rules fire after minutes only, so none may be pending either."""
        harness.wait_for("two scrapes", lambda: self.ask(
            'count_over_time(up{job="berth"}[1m]) > 1'), 60)
        self.assertEqual(len(self.rules()), len(alerts()))
        harness.wait_for("all rules to be evaluated", lambda: all(
            rule["health"] == "ok" for rule in self.rules()), 60)
        # A slow machine may miss a heartbeat; what stays is no accident.
        try:
            harness.wait_for("no alert", lambda: not self.active(), 20)
        except AssertionError:
            self.assertEqual(self.active(), [])
        self.assertEqual([rule["lastError"] for rule in self.rules()
                          if rule.get("lastError")], [])


if __name__ == "__main__":
    unittest.main()
