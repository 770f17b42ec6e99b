"""What an operator gets beside the programs: units, packages, installation."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest
from unittest import mock

import harness

DEPLOY = harness.ROOT / "deploy"


def unit(name):
    text = (DEPLOY / "systemd" / f"{name}.service.in").read_text()
    return text.replace("@bindir@", "/usr/bin")


class Units(unittest.TestCase):
    def score(self, name):
        """The exposure that systemd-analyze finds: 0 is closed, 10 open."""
        if not shutil.which("systemd-analyze"):
            self.skipTest("there is no systemd-analyze")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-e2e-"))
        self.addCleanup(shutil.rmtree, folder)
        path = folder / f"{name}.service"
        path.write_text(unit(name))
        done = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", "--no-pager",
             str(path)], capture_output=True, text=True, check=False,
            timeout=harness.patient(60))
        found = re.search(r"exposure level for \S+: ([\d.]+)", done.stdout)
        if not found:
            self.skipTest(f"it cannot judge files: {done.stderr.strip()}")
        return float(found[1])

    def test_server_is_closed(self):
        self.assertLess(self.score("berthd"), 3.0)

    def test_executor_is_no_more_open_than_said(self):
        self.assertLess(self.score("berth-executor"), 8.5)

    def test_jobs_outlive_the_executor(self):
        self.assertIn("\nKillMode=process\n", unit("berth-executor"))
        self.assertIn("\nDelegate=yes\n", unit("berth-executor"))

    def test_the_manager_is_told_when_the_server_serves(self):
        self.assertIn("\nType=notify\n", unit("berthd"))
        folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-e2e-"))
        self.addCleanup(shutil.rmtree, folder)
        folder.chmod(0o755)  # as /run/systemd is: the server is not root
        for name in (str(folder / "notify"), f"@{folder}/notify"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
                told.bind(name.replace("@", "\0"))
                if name[0] == "/":
                    os.chmod(name, 0o777)
                told.settimeout(harness.patient(30))
                with mock.patch.dict(os.environ, NOTIFY_SOCKET=name), \
                        harness.Berth() as berth:
                    self.assertEqual(told.recv(100), b"READY=1")
                    berth.ctl("get", "queues")

    def test_a_manager_that_cannot_be_told_is_named(self):
        for name in ("/nowhere/notify", "notify", "@" + 200 * "x"):
            with mock.patch.dict(os.environ, NOTIFY_SOCKET=name), \
                    harness.Berth() as berth:
                harness.wait_for("it is in the log", lambda: re.search(
                    rf"event=service-manager.untold .*{re.escape(name)}",
                    berth.program.log()))

    def test_configurations_to_begin_with_are_good(self):
        for name in ("berth.yaml", "executor.yaml"):
            done = subprocess.run(
                [harness.program("berthd"), "--check-config", "--config",
                 str(DEPLOY / name)], capture_output=True, text=True,
                check=False, timeout=harness.patient(20))
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)


class Sbom(unittest.TestCase):
    def package(self, folder, name, depends):
        root = folder / name
        (root / "DEBIAN").mkdir(parents=True)
        (root / "DEBIAN" / "control").write_text(
            f"Package: {name}\nVersion: 1.2\nArchitecture: all\n"
            "Maintainer: Nobody <nobody@example.org>\n"
            f"Description: a test\nDepends: {depends}\n")
        path = folder / f"{name}_1.2_all.deb"
        subprocess.run(["dpkg-deb", "--build", str(root), str(path)],
                       check=True, capture_output=True)
        return path

    def test_it_says_what_packages_are_made_of(self):
        if not shutil.which("dpkg-deb"):
            self.skipTest("there is no dpkg-deb")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-e2e-"))
        self.addCleanup(shutil.rmtree, folder)
        paths = [self.package(folder, "berth-a", "libc6 (>= 2.36)"),
                 self.package(folder, "berth-b", "berth-a, libc6")]
        texts = [subprocess.run(
            [str(harness.ROOT / "tools" / "sbom"), "1.2", *map(str, given)],
            check=True, capture_output=True,
            env={**os.environ, "SOURCE_DATE_EPOCH": "1000000000"}).stdout
            for given in (paths, paths[::-1])]
        self.assertEqual(texts[0], texts[1])
        told = json.loads(texts[0])
        self.assertEqual(told["spdxVersion"], "SPDX-2.3")
        self.assertEqual(told["creationInfo"]["created"],
                         "2001-09-09T01:46:40Z")
        rows = {row["name"]: row for row in told["packages"]}
        self.assertEqual(sorted(rows), ["berth-a", "berth-b", "libc6"])
        for path in paths:
            row = rows[path.name.split("_")[0]]
            self.assertEqual(row["checksums"][0]["checksumValue"],
                             hashlib.sha256(path.read_bytes()).hexdigest())
        links = {(one["spdxElementId"], one["relatedSpdxElement"])
                 for one in told["relationships"]
                 if one["relationshipType"] == "DEPENDS_ON"}
        self.assertEqual(links, {
            ("SPDXRef-berth-a", "SPDXRef-libc6"),
            ("SPDXRef-berth-b", "SPDXRef-berth-a"),
            ("SPDXRef-berth-b", "SPDXRef-libc6")})


class Installation(unittest.TestCase):
    def test_it_has_all_that_packages_take(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-e2e-"))
        self.addCleanup(shutil.rmtree, folder)
        done = subprocess.run(
            ["meson", "install", "-C", str(harness.BUILD), "--no-rebuild",
             "--quiet"], capture_output=True, text=True, check=False,
            timeout=harness.patient(60),
            env={**os.environ, "DESTDIR": str(folder)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (prefix,) = {path.parent.parent for path in folder.rglob("bin/berthd")}
        files = [line for path in sorted(DEPLOY.glob("debian/*.files"))
                 for line in path.read_text().splitlines()]
        self.assertGreater(len(files), 20)
        self.assertEqual(
            [line for line in files if line.startswith("usr/")
             and not (prefix / line.removeprefix("usr/")).exists()], [])

    def test_installed_texts_link_to_installed_texts(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-e2e-"))
        self.addCleanup(shutil.rmtree, folder)
        subprocess.run(
            ["meson", "install", "-C", str(harness.BUILD), "--no-rebuild",
             "--quiet"], capture_output=True, check=True,
            timeout=harness.patient(60),
            env={**os.environ, "DESTDIR": str(folder)})
        links = [(path, link) for path in folder.rglob("doc/berth/**/*.md")
                 for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)",
                                        path.read_text("utf-8"))]
        self.assertGreater(len(links), 100)
        self.assertEqual([(path.name, link) for path, link in links
                          if not (path.parent / link).exists()], [])

    def test_every_installed_file_is_in_a_package(self):
        done = subprocess.run(
            ["meson", "introspect", "--installed", str(harness.BUILD)],
            capture_output=True, text=True, check=True,
            timeout=harness.patient(60))
        lines = {line.removeprefix("usr/")
                 for path in DEPLOY.glob("debian/*.files")
                 for line in path.read_text().splitlines()}
        prefix = subprocess.run(
            ["meson", "introspect", "--buildoptions", str(harness.BUILD)],
            capture_output=True, text=True, check=True,
            timeout=harness.patient(60)).stdout
        (prefix,) = re.findall(r'"name": "prefix", "value": "([^"]+)"', prefix)
        paths = {path.removeprefix(prefix + "/")
                 for path in re.findall(r': "([^"]+)"', done.stdout)}
        missing = {path for path in paths
                   if not any(path == line or path.startswith(line + "/")
                              or line.startswith(path + "/")
                              for line in lines)}
        self.assertEqual(missing, set())


if __name__ == "__main__":
    unittest.main()
