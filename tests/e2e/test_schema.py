"""What commands print with -o json is what berthctl schema says."""

import json
import re
import unittest

import harness

SMALL = ("--cpu", "100m", "--memory", "16Mi", "--storage", "16Mi")
KINDS = {"array": list, "boolean": bool, "integer": int, "null": type(None),
         "number": (int, float), "object": dict, "string": str}


def is_kind(value, kind):
    return isinstance(value, KINDS[kind]) and (
        kind == "boolean" or not isinstance(value, bool))


def faults(value, schema, defs, path="$"):
    """What of a value is not as its schema says; a key that the schema does
    not name is one, for it should name all."""
    if schema is True:
        return []
    if "$ref" in schema:
        return faults(value, defs[schema["$ref"].removeprefix("#/$defs/")],
                      defs, path)
    if "anyOf" in schema:
        each = [faults(value, one, defs, path) for one in schema["anyOf"]]
        return [] if [] in each else each[0]
    found = []
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_kind(value, kind) for kind in kinds):
        return [f"{path}: {value!r} is no {kinds}"]
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{path}: {value!r} is none of {schema['enum']}")
    if "minimum" in schema and value < schema["minimum"]:
        found.append(f"{path}: {value} is too small")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{path}: {value!r} does not match")
    if schema.get("format") == "date-time" and not re.fullmatch(
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", value):
        found.append(f"{path}: {value!r} is no time")
    if isinstance(value, list):
        for i, item in enumerate(value):
            found += faults(item, schema.get("items", True), defs,
                            f"{path}[{i}]")
    if isinstance(value, dict):
        found += [f"{path}: {key} is missing" for key in
                  schema.get("required", []) if key not in value]
        for key, item in value.items():
            known = schema.get("properties", {}).get(
                key, schema.get("additionalProperties"))
            found += [f"{path}: {key} is not in the schema"] if known is None \
                else faults(item, known, defs, f"{path}.{key}")
    return found


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.berth = harness.Berth(arguments=["--stop-jobs"]).start()
        cls.addClassCleanup(cls.berth.close)
        ctl = cls.berth.ctl
        ctl("create", "queue", "q")
        ctl("create", "maintenance-window", "w", "--begin",
            "2999-01-01T00:00:00Z", "--duration", "1h", "--nodes", "n0",
            "-l", "rack=1", "--reason", "cables")
        ctl("run", "-q", "q", *SMALL, "--name", "p", "--schedule", "@yearly",
            "--time-zone", "Europe/Berlin", "--", "true")
        ctl("create", "pool", "mine", "--min", "cpu=1", check=False)
        out = ctl("run", "-q", "q", *SMALL, "--name", "n", "--", "sh", "-c",
                  "echo hello; touch left").stdout
        cls.job_id = out.split()[4]
        ctl("run", "-q", "q", *SMALL, "--array", "0-2", "--", "false")
        ctl("run", "-q", "q", "--cpu", "1000", check=False)
        ctl("wait", "-q", "q", check=False)

    def agrees(self, command, *words, is_empty=False, code=0):
        done = self.berth.ctl(*command.split(), *words, "-o", "json",
                              check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        schema = json.loads(
            self.berth.ctl("schema", *command.split()).stdout)
        value = json.loads(done.stdout)
        self.assertTrue(value or is_empty, f"{command} printed nothing")
        self.assertEqual(faults(value, schema, schema.get("$defs", {})), [])
        self.seen.add(command)

    def test_each_command_prints_what_its_schema_says(self):
        self.seen = set()
        self.agrees("get apps", is_empty=True)
        self.agrees("get executors")
        self.agrees("get files", self.job_id, is_empty=True)
        self.agrees("get job-report", self.job_id)
        self.agrees("get jobs")
        self.agrees("get jobs", self.job_id)
        self.agrees("get jobsets")
        self.agrees("get maintenance-windows")
        self.agrees("get nodes")
        self.agrees("get periodic-jobs")
        self.agrees("get periodic-jobs", "p")
        self.agrees("get permissions")
        self.agrees("get objects", self.job_id)
        self.agrees("get podgroups")
        self.agrees("get pools", is_empty=True)
        self.agrees("get queue", "q")
        self.agrees("get queue-report", "q")
        self.agrees("get queues")
        self.agrees("get retry-policies", is_empty=True)
        self.agrees("get scheduling-report")
        self.agrees("get shares")
        self.agrees("get trainingjobs")
        self.agrees("logs", self.job_id)
        self.agrees("report jobs")
        self.agrees("report usage")
        self.agrees("version")
        self.agrees("wait", self.job_id)
        self.agrees("what-if", "--add-nodes", "1")
        self.agrees("whoami")
        listed = set(self.berth.ctl("schema").stdout.splitlines())
        self.assertEqual(listed - self.seen, {"get retry-policy", "submit"})

    def test_a_value_of_another_kind_is_noticed(self):
        schema = json.loads(self.berth.ctl("schema", "get", "jobs").stdout)
        for job in ({"jobId": 1}, {"no": 1}, {"priority": -1},
                    {"state": "ASLEEP"}, {"submitted": "today"},
                    {"admitted": 1}):
            self.assertNotEqual(faults([job], schema, schema["$defs"]), [])

    def test_a_command_without_one_says_so(self):
        done = self.berth.ctl("schema", "get", "rich", check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("get rich", done.stderr)


if __name__ == "__main__":
    unittest.main()
