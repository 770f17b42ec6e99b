"""TLS and passwords: the server, the executor inside, and berthctl."""

import json
import pathlib
import subprocess
import unittest

import harness
from test_berthctl import job_file


def make_certificate(folder):
    """A certificate for the name berth.test that signs itself."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days",
         "2", "-subj", "/CN=berth.test", "-addext",
         "subjectAltName=DNS:berth.test,DNS:localhost", "-keyout",
         str(folder / "tls.key"), "-out", str(folder / "tls.crt")],
        check=True, capture_output=True)


class Tls(unittest.TestCase):
    def setUp(self):
        self.berth = harness.Berth(arguments=["--stop-jobs"])
        self.addCleanup(self.berth.close)
        folder = pathlib.Path(self.berth.folder)
        make_certificate(folder)
        hashed = subprocess.run(
            [harness.program("berthctl"), "hash-password"], input="secret\n",
            capture_output=True, text=True, check=True).stdout.strip()
        self.berth.config_path.chmod(0o600)
        self.berth.config_path.write_text(f"""
server:
  tls: {{certificate: {folder}/tls.crt, key: {folder}/tls.key}}
auth:
  anonymousAuth: false
  basicAuthUsers: [{{name: anna, passwordHash: {hashed}, groups: [staff]}},
                   {{name: bob, passwordHash: {hashed}, groups: [lab]}}]
  administratorGroups: [staff]
executor:
  tls: {{serverName: berth.test}}
""")
        self.berth.start()
        self.contexts = folder / "ctl.yaml"
        port = self.berth.grpc.rsplit(":", 1)[1]
        self.contexts.write_text(f"""
currentContext: good
contexts:
  good: &good
    berthUrl: localhost:{port}
    tls: true
    tlsCaFile: {folder}/tls.crt
    basicAuth: {{username: anna, password: secret}}
  nobody: {{berthUrl: "localhost:{port}", tls: true,
           tlsCaFile: {folder}/tls.crt}}
  bob:
    berthUrl: localhost:{port}
    tls: true
    tlsCaFile: {folder}/tls.crt
    basicAuth: {{username: bob, password: secret}}
  plain: {{berthUrl: "localhost:{port}"}}
""")

    def ctl(self, *arguments, **options):
        return subprocess.run(
            [harness.program("berthctl"), "--config", str(self.contexts),
             *arguments], capture_output=True, text=True,
            timeout=harness.patient(90),
            check=False, **options)

    def test_job_runs_over_tls_with_passwords(self):
        self.assertEqual(self.ctl("create", "queue", "q").stdout,
                         "Created queue q\n")
        out = self.ctl("submit", "-", input=job_file("q", "s", "true"))
        self.assertEqual(out.returncode, 0, out.stderr)
        out = self.ctl("watch", "q", "s", "--exit-if-inactive")
        self.assertIn("JobSucceededEvent", out.stdout, self.berth.program.log())
        nobody = self.ctl("get", "queues", "-c", "nobody")
        self.assertEqual(nobody.returncode, 4, nobody.stderr)
        self.assertIn("UNAUTHENTICATED", nobody.stderr)
        plain = self.ctl("get", "queues", "-c", "plain")
        self.assertEqual(plain.returncode, 5, plain.stderr)

    def test_an_executor_that_has_a_ca_speaks_to_no_plain_server(self):
        with harness.Berth(standalone=False) as plain:
            executor = harness.Executor(
                plain.grpc, "apart", plain.folder / "apart",
                f"executor: {{tls: {{ca: {self.berth.folder}/tls.crt}}}}\n")
            executor.start()
            try:
                harness.wait_for(
                    "it says that it cannot connect", lambda:
                    "event=executor.disconnected" in executor.program.log())
                self.assertIn("handshake failed", executor.program.log())
                self.assertEqual(json.loads(plain.ctl(
                    "get", "executors", "-o", "json").stdout), {})
            finally:
                executor.stop()

    def test_who_lacks_something_hears_who_can_grant_it(self):
        self.ctl("create", "queue", "q", "--group-owners", "crew")
        self.ctl("create", "queue", "labs", "--group-owners", "lab")
        self.assertEqual(self.ctl("whoami", "-c", "bob").stdout,
                         "User: bob\nGroups: lab, everyone\n"
                         "Permissions: none\n")
        self.assertIn("User: anna (administrator)", self.ctl("whoami").stdout)
        may = self.ctl("auth", "can-i", "submit", "labs", "-c", "bob")
        self.assertEqual((may.stdout, may.returncode), ("yes\n", 0))
        no = self.ctl("auth", "can-i", "submit", "q", "-c", "bob")
        self.assertEqual(no.returncode, 4)
        self.assertEqual(
            no.stdout,
            "no: bob lacks permission submit_any_jobs or the verb submit on "
            "queue q\nGroups that can grant the verb: staff\nThe operator "
            "of the server can grant the permission: "
            "auth.permissionGroupMapping.submit_any_jobs\n")
        refused = self.ctl("submit", "-", "-c", "bob",
                           input=job_file("q", "s", "true"))
        self.assertEqual(refused.returncode, 4)
        self.assertIn("bob lacks permission submit_any_jobs required for "
                      "action submit; members of staff can grant the verb "
                      "submit on the queue", refused.stderr)
        said = self.berth.program.log()
        self.assertEqual(said.count("event=auth.login user=bob "), 1)
        self.assertRegex(said, r"level=warn event=call\.denied "
                         r"method=/api.Submit/SubmitJobs user=bob peer=\S+ "
                         r'queue=q .*error="bob lacks permission')
        missing = self.ctl("auth", "can-i", "submit", "none", "-c", "bob")
        self.assertEqual(missing.returncode, 3, missing.stderr)
        self.assertEqual(self.ctl("auth", "can-i", "dance").returncode, 2)


if __name__ == "__main__":
    unittest.main()
