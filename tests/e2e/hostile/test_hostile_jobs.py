"""Hostile jobs: each tries what it should not be able to do.

The attacks are functions of the program hostile_attacker, which runs as a job
beside a neighbour that wants to be left alone.  A job says what it got; this
test looks at the machine: who still lives, what is left, what has changed.
What a layer defends that this machine does not allow is told, not demanded.

    HOSTILE_FULL=1    all combinations, with load, several times
    HOSTILE_ROUNDS=1  so many times
    HOSTILE_LOAD=4    beside so many processes that only compute
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

IS_ROOT = os.geteuid() == 0
IS_FULL = os.environ.get("HOSTILE_FULL", "") not in ("", "0")
NOBODY = 65534
ESCAPED = 3
GRACE_SECONDS = 1
GONE_SECONDS_MAX = GRACE_SECONDS + 5
STILL_SECONDS = 1
LOAD_PROCESSES = int(os.environ.get("HOSTILE_LOAD", 4))
# It ends with the test, however that ends, and after its time.
LOAD = """
import ctypes, signal, time
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
end = time.monotonic() + 300
while time.monotonic() < end:
    pass
"""
ROUNDS = int(os.environ.get("HOSTILE_ROUNDS") or (3 if IS_FULL else 1))
# Of control groups only version 2, without controllers if version 1 has them.
ONLY_VERSION_2 = ("unshare", "--mount", "--propagation", "private", "sh", "-c",
                  'umount -a -t cgroup; exec "$@"', "sh")
WITHOUT_SYS_ADMIN = ("setpriv", "--bounding-set", "-sys_admin",
                     "--inh-caps", "-sys_admin")

CONFIG = """
executor:
  process:
    resources: {{cpu: 32, memory: 32Gi, ephemeral-storage: 32Gi}}
    cgroups: {cgroups}
    namespaces: {namespaces}
"""

# What holds an attack back: any of these.  root: the executor is root, so
# that jobs are another user.  The empty word: nothing special.
ATTACKS = {
    "mounts": "", "namespaces": "filter", "namespaces-by-clone3": "filter",
    "namespace-of-another": "", "keys": "filter", "bpf": "filter",
    "io-uring": "filter", "perf": "filter", "userfaults": "filter",
    "modules": "", "the-clock": "", "the-machine": "", "kernel-log": "filter",
    "sysctls": "", "devices": "", "raw-network": "",
    "rare-sockets": "filter", "capabilities": "",
    "file-handles": "", "importance": "", "limits": "",
    "signals": "root pid fence", "traces": "filter",
    "memory": "root pid fence", "files-of-others": "root pid fence",
    "open-files": "", "daemon-left": "", "daemon-unknown": "", "zombies": "",
    "shared-memory": "", "hog": "", "secret": "root",
    "server-files": "root mount fence", "server-names": "root mount",
    "link-for-space": "root",
    "plants": "", "hard-links": "", "set-user-ids": "", "deep-tree": "",
    "wide-tree": "", "closed-tree": "", "huge-file": "",
    "full-shared-memory": "mount", "many-files": "", "leftovers": "",
    "control-groups": "root mount", "long-lines": "",
}
# They stay until they are ended.
STAYING = ("bomb", "chain", "deaf", "stopped")
# Where it would meet others of its user, nobody tries.
ONLY_ALONE = "signal-all"
# They may be killed before they say how it went.
DYING = ("hog", "full-shared-memory", ONLY_ALONE)
PUBLIC_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock")


def runs_of(queue):
    """The processes of jobs of a queue, by their environment."""
    wanted = os.fsencode(f"BERTH_QUEUE={queue}")
    found = []
    for pid in harness.processes():
        try:
            text = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if wanted in text.split(b"\0"):
            found.append(pid)
    return found


def sleeps_of(mark):
    """What has thrown its environment away is known by its words."""
    return [pid for pid in harness.processes()
            if harness.words_of(pid)[:2] == [b"sleep", os.fsencode(mark)]]


class Machine:
    """What jobs must not change."""

    @staticmethod
    def look(secret):
        seen = {}
        for path in ("/etc/passwd", secret):
            stat = os.stat(path)
            seen[path] = (stat.st_mode, stat.st_uid, stat.st_size)
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern")
        seen["core_pattern"] = pattern.read_text("utf-8")
        return seen


class Server(harness.Berth):
    """A server whose jobs are hostile, in a folder that they see."""

    def __init__(self, user, has_cgroups, has_namespaces, words=(), more=""):
        """`words` run what follows them, for instance with less rights; `more`
        are keys of the runtime."""
        self.place = harness.make_meeting_folder()
        self.user = user
        self.words = list(words)
        self.bin = self.make_folder("bin")
        attacker = harness.BUILD / "tests" / "e2e" / "hostile_attacker"
        for source in (harness.program("berthd"), harness.program("berthctl"),
                       harness.program("berth-shim"), str(attacker)):
            shutil.copy(source, self.bin)
        super().__init__(CONFIG.format(
            cgroups=str(has_cgroups).lower(),
            namespaces=str(has_namespaces).lower()) + more,
            folder=self.make_folder("s"))

    def make_folder(self, name):
        folder = self.place / name
        folder.mkdir()
        folder.chmod(0o755)
        return folder

    def start(self):
        argv = [str(self.bin / "berthd"), "--standalone", "--stop-jobs",
                "--data", str(self.data), "--grpc", "127.0.0.1:0",
                "--http", "127.0.0.1:0", "--config", str(self.config_path)]
        argv = [*self.words, *self.as_user(), *argv]
        if self.user is not None:
            for path in (self.folder, self.config_path):
                os.chown(path, self.user, self.user)
        self.program = harness.Program(argv, self.folder / "berthd.log")
        self.program.wait_ready()
        return self

    def as_user(self):
        """The words that run a program as the server's user."""
        return [] if self.user is None else [
            "setpriv", "--reuid", str(self.user), "--regid", str(self.user),
            "--clear-groups"]

    def close(self, is_kept=False):
        super().close(is_kept=True)
        # Deeper than Python goes.
        subprocess.run(["rm", "-rf", str(self.place)], check=False)

    def layers(self):
        """What keeps jobs apart here."""
        line, = (line for line in self.program.log().splitlines()
                 if "runtime.process" in line)
        have = set()
        for part in line.split(";"):
            _, found, names = part.partition("pods have namespaces: ")
            have |= set(names.split(", ")) if found else set()
        have |= {"root"} if self.is_root() else set()
        have |= {"fence"} if "Landlock keeps jobs" in line else set()
        have |= set() if "no filter of system" in line else {"filter"}
        print(f"\n{line[line.index('info='):]}", file=sys.stderr)
        return have

    def is_root(self):
        return IS_ROOT and self.user is None


class HostileJobs(unittest.TestCase):
    def play(self, user, has_cgroups, has_namespaces=True, words=()):
        """All attacks beside a neighbour; answers what was not defended."""
        mark = str(100_000_000 + os.getpid() * 10 + int(has_cgroups))
        queue = f"hostile-{mark}"
        with Server(user, has_cgroups, has_namespaces, words) as berth:
            berth.queue, berth.mark = queue, mark
            berth.secret = berth.folder / "secret"
            berth.secret.write_text("secret")
            berth.secret.chmod(0o600)
            if user is not None:
                os.chown(berth.secret, user, user)
            before = Machine.look(str(berth.secret))
            have = berth.layers()
            berth.ctl("create", "queue", queue)
            berth.ctl("create", "queue", "good")
            neighbour, = self.submit(berth, "good", ["deaf"])
            self.wait_up(berth, [neighbour])
            told = self.play_ending(berth, have)
            self.play_staying(berth)
            told += self.leftovers(berth, have)
            self.assertEqual(Machine.look(str(berth.secret)), before)
            self.assertEqual(self.jobs(berth, "good")[neighbour]["state"],
                             "RUNNING")
            self.play_from_outside(berth)
            self.play_volumes(berth, have)
            self.assertIsNone(berth.program.process.poll())
        return told

    def submit(self, berth, queue, attacks):
        outside = [berth.program.process.pid, os.getpid(), *berth.shims()[:1]]
        values = {"ATTACK_PIDS": " ".join(map(str, outside)),
                  "ATTACK_DATA": str(berth.data), "ATTACK_MARK": berth.mark,
                  "ATTACK_SECRET": str(berth.secret)}

        def job(attack):
            most = {"cpu": "100m", "memory": "512Mi" if attack in STAYING
                    else "64Mi", "ephemeral-storage": "1Mi"}
            return {"namespace": "default", "podSpec": {
                "terminationGracePeriodSeconds": GRACE_SECONDS,
                "containers": [{
                    "name": "main", "image": "none",
                    "command": [str(berth.bin / "hostile_attacker"), attack],
                    "env": [{"name": name, "value": value}
                            for name, value in values.items()],
                    "resources": {"requests": most, "limits": most}}]}}
        out = berth.ctl("submit", "-", input_text=json.dumps({
            "queue": queue, "jobSetId": "s",
            "jobs": [job(attack) for attack in attacks]})).stdout
        return [line.split()[4] for line in out.splitlines()]

    @staticmethod
    def jobs(berth, queue):
        return {job["jobId"]: job for job in json.loads(berth.ctl(
            "get", "jobs", "-n", "0", "-q", queue, "-o", "json").stdout)}

    @staticmethod
    def log_of(berth, job_id):
        done = berth.ctl("logs", job_id, check=False)
        if done.returncode:
            print(f"logs of {job_id}: {done.stderr.strip()}", file=sys.stderr)
        return done.stdout

    def wait_up(self, berth, ids):
        for job_id in ids:
            harness.wait_for("it is up", lambda one=job_id: "up\n" in
                             self.log_of(berth, one), 60)

    def play_ending(self, berth, have):
        attacks = [*ATTACKS, *([ONLY_ALONE] if "pid" in have else [])]
        ids = self.submit(berth, berth.queue, attacks)
        berth.ctl("wait", *ids, "--timeout", f"{harness.patient(120):.0f}s",
                  check=False, seconds=130)
        jobs = self.jobs(berth, berth.queue)
        told = []
        for attack, job_id in zip(attacks, ids):
            job = jobs[job_id]
            self.assertIn(job.get("state"), ("SUCCEEDED", "FAILED"),
                          f"{attack} hangs")
            log = self.log_of(berth, job_id)
            self.assertNotEqual(job.get("exitCode"), 2, f"{attack}: {log}")
            if attack not in DYING:
                self.assertRegex(log, r"(held|escaped: .*)\n$", attack)
            if job.get("exitCode") == ESCAPED or "escaped" in log:
                needs = set(ATTACKS.get(attack, "").split())
                self.assertTrue(needs and not needs & have,
                                f"{attack}: {log}")
                told.append(f"{attack}: {log.strip()}")
        harness.wait_for("what they started is gone", lambda: not runs_of(
            berth.queue) and not sleeps_of(berth.mark), GONE_SECONDS_MAX)
        return told

    def play_staying(self, berth):
        ids = self.submit(berth, berth.queue, STAYING)
        self.wait_up(berth, ids)
        begun = time.monotonic()
        berth.ctl("cancel", "job", *ids, "--yes")
        harness.wait_for("all of them are gone",
                         lambda: not runs_of(berth.queue), GONE_SECONDS_MAX)
        # Faster than a look at all processes: its heart must stand still.
        beat = (berth.data / "jobs" / "jobs" / ids[STAYING.index("chain")]
                / "space" / "work" / "beat")
        harness.wait_for("the chain is gone", lambda: time.time() -
                         beat.stat().st_mtime > STILL_SECONDS,
                         GONE_SECONDS_MAX + STILL_SECONDS)
        print(f"bomb, chain and their like: gone after "
              f"{time.monotonic() - begun:.1f} s", file=sys.stderr)
        berth.ctl("wait", *ids, check=False)

    def leftovers(self, berth, have):
        left = [str(path) for folder in PUBLIC_FOLDERS for path in
                pathlib.Path(folder).glob(f"berth-*-{berth.mark}")]
        for path in left:
            os.unlink(path)
        segments = [line.split() for line in pathlib.Path(
            "/proc/sysvipc/shm").read_text("utf-8").splitlines()]
        kept = [words[1] for words in segments if words[0] == berth.mark]
        for number in kept:
            subprocess.run(["ipcrm", "-m", number], check=False)
        self.assertFalse(left if "mount" in have else [])
        self.assertFalse(kept if "ipc" in have else [])
        return [f"left: {left} {kept}"] if left or kept else []

    def play_from_outside(self, berth):
        """What a job asks of the server, and what a spec does to it."""
        ctl = str(berth.bin / "berthctl")
        command = f"{ctl} --berthUrl {berth.grpc} create queue evil"
        values = [{"name": "V0", "value": "x" * 100}] + [
            {"name": f"V{i}", "value": f"$(V{i - 1})$(V{i - 1})"}
            for i in range(1, 30)]

        def job(env, command):
            most = {"cpu": "100m", "memory": "64Mi"}
            return {"namespace": "default", "podSpec": {"containers": [{
                "name": "main", "image": "none",
                "command": ["sh", "-c", command], "env": env,
                "resources": {"requests": most, "limits": most}}]}}
        for env, line in (([], command), (values, "true")):
            done = berth.ctl("submit", "-", input_text=json.dumps({
                "queue": berth.queue, "jobSetId": "o",
                "jobs": [job(env, line)]}), check=False)
            ids = [out.split()[4] for out in done.stdout.splitlines()
                   if done.returncode == 0]
            if ids:
                berth.ctl("wait", *ids, check=False, seconds=60)
        queues = berth.ctl("get", "queues", "-o", "json").stdout
        self.assertNotIn('"evil"', queues)
        # The same program and the same user, but no job.
        done = subprocess.run(
            [*berth.as_user(), *command.replace("evil", "own").split()],
            capture_output=True, text=True, check=False, cwd="/",
            timeout=harness.patient(60))
        self.assertEqual(done.returncode, 0, done.stderr)

    def play_volumes(self, berth, have):
        """Volumes full of links where root looks for files: at /proc and at
        what the other volume's path goes through."""
        if "mount" not in have or not berth.is_root():
            return
        closed = berth.folder / "closed"
        closed.mkdir(mode=0o700)
        (closed / "in").mkdir()
        (closed / "in" / "open").write_text("got it")
        most = {"cpu": "100m", "memory": "64Mi", "ephemeral-storage": "1Mi"}
        plant = ("mkdir -p $BERTH_VOLUME_V/self/fd; cd $BERTH_VOLUME_V/self/fd;"
                 " for i in $(seq 0 99); do ln -s $CLOSED $i; done")

        def container(name, command, mounts):
            return {"name": name, "image": "none",
                    "command": ["sh", "-c", command],
                    "env": [{"name": "CLOSED", "value": str(closed / "in")}],
                    "volumeMounts": [{"name": volume, "mountPath": path}
                                     for volume, path in mounts],
                    "resources": {"requests": most, "limits": most}}
        jobs = [{"namespace": "default", "podSpec": {
            "volumes": [{"name": "v", "emptyDir": {}},
                        {"name": "w", "emptyDir": {}}],
            "initContainers": [container("plant", plant, [("v", "/srv")])],
            "containers": [container("main", "cat /mnt/open; true",
                                     [("v", path), ("w", "/mnt")])]}}
                for path in ("/proc", "/proc/self", "/var", "/",
                             str(berth.data))]
        out = berth.ctl("submit", "-", input_text=json.dumps({
            "queue": berth.queue, "jobSetId": "v", "jobs": jobs})).stdout
        ids = [line.split()[4] for line in out.splitlines()]
        berth.ctl("wait", *ids, check=False, seconds=60)
        for job_id in ids:
            self.assertNotIn("got it", self.log_of(berth, job_id))

    def all_rounds(self, *how, **more):
        for _ in range(ROUNDS):
            told = self.play(*how, **more)
            for line in told:
                print(f"not defended here: {line}", file=sys.stderr)

    def with_load(self):
        if not IS_FULL:
            return
        for _ in range(LOAD_PROCESSES):
            load = subprocess.Popen([sys.executable, "-c", LOAD])
            self.addCleanup(load.wait)
            self.addCleanup(load.kill)

    def setUp(self):
        self.with_load()

    @unittest.skipUnless(IS_ROOT, "its executor would be root")
    def test_as_root_with_cgroups(self):
        self.all_rounds(None, True)

    def test_as_another_user_without_cgroups(self):
        self.all_rounds(NOBODY if IS_ROOT else None, False)

    def test_without_anything_what_stays_is_gone(self):
        with Server(None, False, False) as berth:
            berth.queue, berth.mark = f"stays-{os.getpid()}", "0"
            berth.secret = berth.folder
            self.assertNotIn("pid", berth.layers())
            berth.ctl("create", "queue", berth.queue)
            self.play_staying(berth)

    @unittest.skipUnless(IS_ROOT and IS_FULL, "HOSTILE_FULL is not set")
    def test_as_root_without_cgroups(self):
        self.all_rounds(None, False)

    @unittest.skipUnless(IS_ROOT and IS_FULL and "cgroup2" in pathlib.Path(
        "/proc/mounts").read_text("utf-8"), "HOSTILE_FULL is not set")
    def test_as_root_with_cgroups_of_version_2(self):
        self.all_rounds(None, True, words=ONLY_VERSION_2)

    @unittest.skipUnless(IS_ROOT and IS_FULL, "HOSTILE_FULL is not set")
    def test_as_root_without_sys_admin(self):
        self.all_rounds(None, True, words=WITHOUT_SYS_ADMIN)

    @unittest.skipUnless(IS_FULL, "HOSTILE_FULL is not set")
    def test_as_another_user_without_namespaces(self):
        self.all_rounds(NOBODY if IS_ROOT else None, False, False)

    @unittest.skipUnless(IS_FULL, "HOSTILE_FULL is not set")
    def test_as_another_user_with_cgroups(self):
        self.all_rounds(NOBODY if IS_ROOT else None, True)

    @unittest.skipUnless(IS_ROOT and IS_FULL, "HOSTILE_FULL is not set")
    def test_as_root_without_namespaces(self):
        self.all_rounds(None, True, False)

    @unittest.skipUnless(IS_ROOT and IS_FULL, "HOSTILE_FULL is not set")
    def test_as_root_without_anything(self):
        self.all_rounds(None, False, False)


if __name__ == "__main__":
    unittest.main(verbosity=2)
