"""Programs and their configuration: what is refused, and with which words."""

import json
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import harness


def run(name, *arguments, seconds=20):
    return subprocess.run([harness.program(name), *arguments],
                          capture_output=True, text=True,
                          timeout=harness.patient(seconds),
                          check=False)


class Config(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def refused(self, text, *arguments):
        """What berthd says to a configuration that it must refuse."""
        path = self.folder / "berth.yaml"
        path.write_text(text)
        done = run("berthd", "--config", str(path), "--data",
                   str(self.folder / "data"), *arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "data").exists())
        return done.stderr.replace(str(path), "FILE").strip()

    def test_labels_and_taints_of_a_node_hold_and_are_shown(self):
        nodes = ("  fake: {runTime: 10ms, nodes: [{name: gpu, resources: "
                 "{cpu: 2, memory: 4Gi, ephemeral-storage: 16Gi}, "
                 "labels: [tier=gold], taints: ['gpu=a100:NoSchedule']}]}\n")
        job = {"namespace": "default", "podSpec": {
            "nodeSelector": {"tier": "gold"},
            "containers": [{"name": "main", "image": "none", "resources": {
                kind: {"cpu": "1", "memory": "16Mi",
                       "ephemeral-storage": "16Mi"}
                for kind in ("requests", "limits")}}]}}
        tolerant = json.loads(json.dumps(job))
        tolerant["podSpec"]["tolerations"] = [
            {"key": "gpu", "operator": "Exists"}]
        with harness.Berth("executor:\n  runtime: fake\n" + nodes) as berth:
            def node():
                told = json.loads(
                    berth.ctl("get", "nodes", "-o", "json").stdout)
                return told[0] if told else None
            found = harness.wait_for("the node", node)
            self.assertEqual(found["labels"]["tier"], "gold")
            self.assertEqual(found["taints"], [
                {"key": "gpu", "value": "a100", "effect": "NoSchedule"}])
            berth.ctl("create", "queue", "q")
            ids = berth.ctl("submit", "-", input_text=json.dumps(
                {"queue": "q", "jobSetId": "s", "jobs": [job, tolerant]}))
            refused, run = [line.split()[4]
                            for line in ids.stdout.splitlines() if line]
            done = berth.ctl("wait", refused, run, check=False)
            self.assertEqual(done.returncode, 7, done.stdout)
            self.assertIn("taint", berth.ctl("explain", refused).stdout)
            self.assertIn("succeeded",
                          berth.ctl("explain", run).stdout.lower())

    def test_the_node_of_this_machine_has_its_labels_and_taints(self):
        with harness.Berth("executor:\n  process: {labels: [tier=gold], "
                           "taints: ['team=a:NoSchedule', "
                           "'slow:PreferNoSchedule']}\n") as berth:
            found = harness.wait_for("the node", lambda: json.loads(
                berth.ctl("get", "nodes", "-o", "json").stdout))[0]
            self.assertEqual(found["labels"]["tier"], "gold")
            self.assertIn("kubernetes.io/hostname", found["labels"])
            self.assertEqual(
                {(taint["key"], taint.get("value", ""), taint["effect"])
                 for taint in found["taints"]},
                {("slow", "", "PreferNoSchedule"),
                 ("team", "a", "NoSchedule")})

    def test_unknown_key_is_refused_with_the_nearest_one(self):
        self.assertEqual(
            self.refused("server:\n  grcp: 127.0.0.1:0\n"),
            "berthd: FILE:2: server.grcp: unknown key; did you mean grpc?")

    def test_old_name_of_a_key_is_read_with_a_warning(self):
        path = self.folder / "berth.yaml"
        path.write_text("scheduling:\n  truce: 7s\n")
        done = run("berthd", "--config", str(path), "--print-config")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\n  cooldown: 7s\n", done.stdout)
        self.assertNotIn("truce", done.stdout)
        self.assertEqual(
            done.stderr.replace(str(path), "FILE"),
            done.stderr.split(" ", 1)[0]
            + ' level=warn event=config.renamed warning="FILE:2: '
            'scheduling.truce: this key is now called cooldown; the next '
            'release refuses the old name"\n')

    def test_both_names_of_a_key_are_refused(self):
        self.assertEqual(
            self.refused("scheduling: {truce: 7s, cooldown: 7s}"),
            "berthd: FILE:1: scheduling.cooldown: given twice: truce is the "
            "old name of cooldown; keep cooldown")

    def test_wrong_value_is_refused_with_what_is_allowed(self):
        self.assertEqual(
            self.refused("store: {retention: soon}"),
            'berthd: FILE:1: store.retention: "soon" is not a duration such '
            "as 90s, 5m or 1h30m from 1h to 175680h")

    def test_broken_yaml_names_its_line(self):
        self.assertRegex(self.refused("a: [1\nb: }\n"), r"^berthd: FILE:2: ")

    def test_check_config_says_all_that_is_wrong(self):
        lines = self.refused(
            "server:\n  grcp: 127.0.0.1:0\n  http: nowhere\n"
            "store: {retention: soon}\n"
            "auth: {anonymousAuth: false}\n", "--check-config").splitlines()
        self.assertEqual(lines, [
            "berthd: FILE:2: server.grcp: unknown key; did you mean grpc?",
            'berthd: FILE:4: store.retention: "soon" is not a duration such '
            "as 90s, 5m or 1h30m from 1h to 175680h",
            'berthd: server.http: "nowhere" is not an address such as '
            "127.0.0.1:50051 or [::1]:0",
            "berthd: server.http: nowhere can be reached from other machines "
            "and has no authentication; that needs server.allowInsecureListen:"
            " true",
            "berthd: auth: no caller could authenticate; set anonymousAuth or "
            "basicAuthUsers"])

    def test_check_config_says_that_all_is_good(self):
        done = run("berthd", "--check-config", "--data",
                   str(self.folder / "data"))
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "berthd: the configuration is valid\n", ""))
        self.assertFalse((self.folder / "data").exists())

    def test_tls_errors_name_the_file_and_the_reason(self):
        key = self.folder / "tls.key"
        key.write_text("no key\n")
        key.chmod(0o600)
        said = self.refused(
            f"server: {{tls: {{certificate: {self.folder}/none, "
            f"key: {key}}}}}\n"
            f"executor: {{tls: {{ca: {key}}}}}\n",
            "--standalone").replace(str(self.folder), "DIR")
        self.assertEqual(said.splitlines()[0],
                         "berthd: server.tls: cannot use the TLS certificate "
                         "DIR/none: No such file or directory")
        self.assertIn("berthd: executor.tls: cannot use the TLS CA "
                      "DIR/tls.key: ", said.splitlines()[1])

    def test_executor_checks_its_configuration_too(self):
        path = self.folder / "executor.yaml"
        path.write_text("executor: {id: '', tls: {ca: /none}, forceNoTls: "
                        "true}\nserver: {grcp: x}\n")
        done = run("berth-executor", "--config", str(path), "--check-config")
        self.assertEqual(done.returncode, 2)
        said = done.stderr.replace(str(path), "FILE").splitlines()
        self.assertEqual(len(said), 4, said)
        self.assertIn("FILE:2: server.grcp: unknown key", said[0])
        self.assertIn("executor.id: ", said[1])
        self.assertIn("executor.forceNoTls: ", said[2])
        self.assertIn("the TLS CA /none: No such file", said[3])
        path.write_text("executor: {id: east}\n")
        done = run("berth-executor", "--config", str(path), "--check-config")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_accounts_that_jobs_may_have_are_there(self):
        path = self.folder / "accounts.yaml"
        path.write_text("executor: {process: {allowedUsers: "
                        "[root, no-such-user-here, '4294967295']}}\n")
        done = run("berth-executor", "--config", str(path), "--check-config")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(
            [line.split(": ")[1] for line in done.stderr.splitlines()],
            ["executor.process.allowedUsers[1]",
             "executor.process.allowedUsers[2]"])
        path.write_text("executor: {process: {allowedUsers: [root, '0']}}\n")
        done = run("berth-executor", "--config", str(path), "--check-config")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_kubeconfig_is_checked_before_it_is_used(self):
        kubeconfig = self.folder / "kubeconfig"
        kubeconfig.write_text(json.dumps({
            "current-context": "c",
            "contexts": [{"name": "c",
                          "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c",
                          "cluster": {"server": "https://127.0.0.1:1"}}],
            "users": [{"name": "u", "user": {"exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": "aws"}}}]}))
        path = self.folder / "executor.yaml"

        def check(executor, rest=""):
            path.write_text(f"executor: {{runtime: kubernetes, {executor}}}\n"
                            + rest)
            return run("berth-executor", "--config", str(path),
                       "--check-config").stderr

        self.assertIn("does not run in a pod; name a kubeconfig", check(""))
        named = f"kubernetes: {{kubeconfig: {kubeconfig}}}"
        self.assertIn("the program aws, which the filter of system calls "
                      "denies; use a token file", check(named))
        self.assertEqual(
            check(named, "hardening: {systemCallFilter: false}\n"), "")
        self.assertIn("executor.id: ", check("id: a b, " + named))
        self.assertIn("no context", check(
            f"kubernetes: {{kubeconfig: {kubeconfig}, context: x}}"))

    def test_an_executor_of_all_namespaces_warns_of_it(self):
        kubeconfig = self.folder / "kubeconfig"
        kubeconfig.write_text(json.dumps({
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c"}}],
            "clusters": [{"name": "c",
                          "cluster": {"server": "http://127.0.0.1:1"}}]}))
        for names, warns in (("[]", True), ("[jobs]", False)):
            own = self.folder / "executor.yaml"
            own.write_text(
                "executor: {id: k, server: '127.0.0.1:1', runtime: kubernetes, "
                f"kubernetes: {{kubeconfig: {kubeconfig}, "
                f"namespaces: {names}}}}}\n")
            log = self.folder / "log"
            with open(log, "w", encoding="utf-8") as out, subprocess.Popen(
                    [harness.program("berth-executor"), "--config", own],
                    stdout=out, stderr=out) as it:
                # Said after it.
                harness.wait_for("it finds no cluster", lambda: "event="
                                 "runtime.trouble" in log.read_text())
                it.terminate()
            self.assertEqual(log.read_text().count("event=runtime.namespaces"),
                             int(warns), log.read_text())

    def test_no_ca_is_named_for_a_server_without_tls(self):
        self.assertIn(
            "executor.tls.ca: the executor of --standalone would use TLS, but "
            "the server has none", self.refused("executor: {tls: {ca: /ca.pem}}",
                                            "--standalone"))

    def test_missing_file_is_refused(self):
        done = run("berthd", "--config", "/nowhere/berth.yaml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot open /nowhere/berth.yaml", done.stderr)

    def test_listening_beyond_this_machine_is_refused(self):
        self.assertIn("that needs server.tls, or server.allowInsecureListen",
                      self.refused("", "--grpc", "0.0.0.0:0"))

    def test_unknown_option_is_a_usage_error(self):
        self.assertEqual(run("berthd", "--stand-alone").returncode, 2)
        self.assertEqual(run("berthd", "here").returncode, 2)
        self.assertEqual(run("berth-executor", "--runtime", "x").returncode, 2)

    def test_help_names_the_defaults(self):
        text = run("berthd", "--help").stdout
        manual = run("berthd", "--print-manual").stdout
        for value in ("berth-data", "127.0.0.1:50051", "127.0.0.1:8081"):
            self.assertIn(f"({value})", text)
            self.assertRegex(manual, rf'`"?{value}"?`')

    def test_printed_configuration_is_a_configuration(self):
        printed = run("berthd", "--print-config")
        self.assertEqual(printed.returncode, 0)
        path = self.folder / "berth.yaml"
        path.write_text(printed.stdout)
        again = run("berthd", "--print-config", "--config", str(path))
        self.assertEqual(again.stdout, printed.stdout)

    def test_printed_configuration_runs_jobs_as_it_stands(self):
        printed = run("berthd", "--print-config").stdout
        with harness.Berth(config=printed,
                           arguments=["--stop-jobs"]) as berth:
            berth.ctl("create", "queue", "q")
            done = berth.ctl("run", "-q", "q", "-f", "--", "echo", "it runs")
            self.assertIn("it runs", done.stdout)

    def test_manual_page_is_what_the_program_says(self):
        page = (harness.ROOT / "docs/guide/config.md").read_text()
        self.assertIn(run("berthd", "--print-manual").stdout, page)

    def test_every_reason_to_wait_has_its_place_in_the_guide(self):
        page = (harness.ROOT / "docs/guide/waiting.md").read_text()
        source = (harness.ROOT / "src/control/explain/explain_json.c").read_text()
        names = re.findall(r'\[SCHED_(?:WAIT|EXCLUDED)_\w+\] = "(\w+)",$',
                           source, flags=re.M)
        self.assertGreater(len(names), 25)
        self.assertEqual([name for name in names if f"`{name}`" not in page],
                         [])


class Data(unittest.TestCase):
    def test_directory_in_use_is_refused(self):
        with harness.Berth() as berth:
            done = run("berthd", "--data", str(berth.data), "--grpc",
                       "127.0.0.1:0", "--http", "127.0.0.1:0")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"berthd: .*\b\d+\b")

    def test_address_in_use_is_refused(self):
        with harness.Berth() as berth:
            folder = tempfile.mkdtemp(prefix="berth-e2e-")
            self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
            done = run("berthd", "--data", folder, "--grpc", "127.0.0.1:0",
                       "--http", berth.http)
            self.assertEqual(done.returncode, 1)
            self.assertIn("berthd: ", done.stderr)


class Policy(unittest.TestCase):
    def test_policy_is_read_again_on_sighup(self):
        with harness.Berth() as berth:
            berth.config_path.write_text(
                "scheduling: {pools: [{name: default}, {name: spare}]}\n")
            berth.program.process.send_signal(signal.SIGHUP)
            harness.wait_for("the policy is set",
                             lambda: "policy.set" in berth.program.log())
            berth.config_path.write_text("scheduling: {pools: 3}\n")
            berth.program.process.send_signal(signal.SIGHUP)
            harness.wait_for("the next is refused", lambda:
                             "config.refused" in berth.program.log())
            berth.ctl("create", "queue", "q")  # it goes on

    def test_sighup_says_what_takes_a_restart(self):
        with harness.Berth(standalone=False) as berth:
            berth.config_path.write_text(
                "server: {threads: 3}\nscheduling: {cooldown: 7s}\n")
            berth.program.process.send_signal(signal.SIGHUP)
            harness.wait_for("the policy is set",
                             lambda: "policy.set" in berth.program.log())
            said = [line for line in berth.program.log().splitlines()
                    if "config.needs_restart" in line]
            self.assertEqual(len(said), 1, said)
            self.assertIn("key=server.threads", said[0])

    def test_sighup_says_that_jobs_cannot_name_a_new_class_yet(self):
        classes = ("scheduling:\n  priorityClasses:\n"
                   "    - {name: armada-default, priority: 1000}\n")
        with harness.Berth(classes, standalone=False) as berth:
            berth.config_path.write_text(
                classes + "    - {name: batch, priority: 10}\n")
            berth.program.process.send_signal(signal.SIGHUP)
            harness.wait_for("the policy is set",
                             lambda: "policy.set" in berth.program.log())
            said = [line for line in berth.program.log().splitlines()
                    if "config.needs_restart" in line]
            self.assertEqual(len(said), 1, said)
            self.assertIn("key=submission.allowedPriorityClassNames", said[0])

    def test_messages_change_while_it_runs(self):
        with harness.Berth(standalone=False) as berth:
            berth.ctl("create", "queue", "q")
            first = [line for line in berth.program.log().splitlines()
                     if "CreateQueue" in line]
            self.assertEqual(len(first), 1, berth.program.log())
            self.assertRegex(
                first[0],
                r"^time=20\S+Z level=info event=call\.done "
                r"method=/api\.\w+/CreateQueue user=uid:\d+ peer=\S+ "
                r'queue="" job_set="" code=OK error="" took_us=\d+ '
                r"request_id=\w+$")
            self.assertNotIn("GetQueue", berth.program.log())
            berth.config_path.write_text(
                "messages: {level: debug, format: json}\n")
            berth.program.process.send_signal(signal.SIGHUP)

            def last_line():
                berth.ctl("get", "queue", "q")
                return berth.program.log().splitlines()[-1]
            harness.wait_for("lines are JSON",
                             lambda: last_line().startswith("{"))
            said = json.loads(last_line())
            self.assertEqual(said["level"], "debug")
            self.assertTrue(said["method"].endswith("/GetQueue"), said)
            berth.ctl("cancel", "job-set", "q", "none", check=False)
            lines = [json.loads(line)
                     for line in berth.program.log().splitlines()
                     if line.startswith("{") and "CancelJobSet" in line]
            self.assertEqual(
                [(line["level"], line["queue"], line["job_set"])
                 for line in lines], [("info", "q", "none")])

    def test_rules_of_training_jobs_follow_the_policy(self):
        text = """
            {"apiVersion": "paddlepaddle.org/v1", "kind": "TrainingJob",
             "metadata": {"name": "NAME"}, "spec": {"trainer": {"resources":
                {"limits": {"cpu": "2", "nvidia.com/gpu": "1"}}}}}"""

        def submit(berth, name):
            return berth.ctl("submit", "-", "-q", "q", check=False,
                             input_text=text.replace("NAME", name))
        with harness.Berth(standalone=False) as berth:
            berth.ctl("create", "queue", "q")
            self.assertEqual(submit(berth, "a").returncode, 0)
            berth.config_path.write_text(
                "scheduling: {elastic: {cpuPerGpu: 3}}\n")
            berth.program.process.send_signal(signal.SIGHUP)
            harness.wait_for("the policy is set",
                             lambda: "policy.set" in berth.program.log())
            done = submit(berth, "b")
            self.assertEqual(done.returncode, 6)
            self.assertIn("spec.trainer.resources", done.stderr)


if __name__ == "__main__":
    unittest.main()
