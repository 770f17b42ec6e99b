"""Start the real programs for end-to-end tests, and wait for conditions.

Nothing here sleeps for a fixed time: `wait_for` asks again until a condition
holds or its deadline has passed.  Programs listen on free loopback ports, keep
their data in a temporary folder, and are ended by their process ids.

The build folder comes from $BERTH_BUILD (default: build).  Python's
armada-client is put into a virtual environment in the build folder (or
$BERTH_VENV) when it is first wanted.
"""

import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BERTH_BUILD", ROOT / "build")).resolve()
# Where tools/check takes berthctl from beside slow servers.
CLIENTS = pathlib.Path(os.environ.get("BERTH_CLIENTS") or BUILD).resolve()


def patient(seconds):
    """`seconds`, times what tools/check found this machine to be slower than
    a quiet one ($BERTH_PATIENCE, which counts a sanitizer too)."""
    return seconds * max(1.0, float(os.environ.get("BERTH_PATIENCE") or 1))


READY_SECONDS_MAX = 30
STOP_SECONDS_MAX = patient(15)
END_SECONDS_MAX = 60  # of pods, with their grace


def program(name):
    """Path of a built program."""
    build = CLIENTS if name == "berthctl" else BUILD
    return str(build / "src" / "main" / name)


def wait_for(what, condition, seconds=30.0):
    """Ask `condition` until it gives something true; that is returned."""
    seconds = patient(seconds)
    deadline = time.monotonic() + seconds
    pause = 0.002
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)


class Program:
    """A program that says `ready ...` on its standard output."""

    def __init__(self, argv, log_path):
        self.argv = argv
        self.log_path = log_path
        self.ready = {}
        self.lines = []
        log = open(log_path, "ab")
        self.process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
            text=True)
        log.close()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            words = line.split()
            if words and words[0] == "ready":
                self.ready = dict(w.split("=", 1) for w in words[1:]
                                  if "=" in w) or {"ready": ""}

    def wait_ready(self):
        def is_ready():
            if self.process.poll() is not None:
                raise AssertionError(
                    f"{self.argv[0]} ended with {self.process.returncode} "
                    f"before it was ready; its log:\n{self.log()}")
            return self.ready
        return wait_for(f"{self.argv[0]} is ready", is_ready,
                        READY_SECONDS_MAX)

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()[-8000:]

    def end(self, seconds=STOP_SECONDS_MAX):
        """Wait for an end that is due, and give the exit code."""
        code = self.process.wait(seconds)
        self.reader.join(STOP_SECONDS_MAX)
        if not self.reader.is_alive():
            self.process.stdout.close()
        return code

    def stop(self, signal_number=signal.SIGTERM):
        """Send the signal, wait for the end, and give the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        return self.end()


def processes():
    """The id of each process there is."""
    return [int(path.name) for path in pathlib.Path("/proc").glob("[0-9]*")]


def words_of(pid):
    """The words of a process's command; none if it has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def command_of(pid):
    return os.fsdecode(b" ".join(words_of(pid)))


def children_of(parent):
    """The processes that a process has started, or taken over."""
    found = []
    for pid in processes():
        try:
            stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            continue  # it has ended since
        if int(stat.rpartition(")")[2].split()[1]) == parent:
            found.append(pid)
    return found


def name_of(pid):
    """What a process calls itself; "" if it has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text("utf-8").strip()
    except OSError:
        return ""


def shims_below(*folders):
    """The processes that stand over pods whose files lie below folders."""
    below = tuple(os.fsencode(folder) + b"/" for folder in folders)

    def is_shim(words):
        return (len(words) > 1 and words[0].endswith(b"/berth-shim")
                and words[1].startswith(below))
    return [pid for pid in processes() if is_shim(words_of(pid))
            and name_of(pid) != "berth-keeper"]


def shims_of(run_id):
    """The process that stands over the pod of a run, if there is one."""
    end = os.fsencode(f"/runs/{run_id}")
    return [pid for pid in processes() if name_of(pid) == "berth-shim" and
            b" ".join(words_of(pid)).rstrip().endswith(end)]


def make_meeting_folder():
    """A folder that the jobs of all pods see, as they do not each other's
    /tmp; anybody may write in it.  Programs may run from it, which /run does
    not let them everywhere."""
    root = "/var/lib" if os.geteuid() == 0 else pathlib.Path.home()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-e2e-", dir=root))
    folder.chmod(0o777)
    return folder


def end_pods_below(*folders):
    """End the pods, which outlive their server, and wait until they have."""
    for pid in shims_below(*folders):
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
    wait_for(f"no pod is left below {folders}",
             lambda: not shims_below(*folders), END_SECONDS_MAX)


class Berth:
    """A berthd with its data folder; may be stopped and started again."""

    def __init__(self, config="", standalone=True, arguments=(), folder=None):
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(
            prefix="berth-e2e-"))
        # Jobs may run as another user, who must reach their folders.
        os.chmod(self.folder, 0o755)
        self.data = self.folder / "data"
        self.standalone = standalone
        self.arguments = list(arguments)
        self.config_path = self.folder / "berth.yaml"
        # It may hold secrets; else a server that gives up root can read it.
        self.config_path.touch(0o600 if "assword" in config else 0o644)
        if "webhooks" in config:
            self.keep_from_others(self.config_path)
        self.config_path.write_text(config)
        self.grpc_wanted = "127.0.0.1:0"
        self.program = None
        self.meeting_made = None

    @staticmethod
    def keep_from_others(path):
        """A file of root that a server that gives up root can read."""
        path.chmod(0o640)
        if os.geteuid() == 0:
            os.chown(path, 0, 65533)

    @property
    def meeting(self):
        """A folder in which jobs and tests meet; it goes with us."""
        self.meeting_made = self.meeting_made or make_meeting_folder()
        return self.meeting_made

    def start(self):
        argv = [program("berthd"), "--data", str(self.data),
                "--grpc", self.grpc_wanted, "--http", "127.0.0.1:0",
                "--config", str(self.config_path)]
        if self.standalone:
            argv.append("--standalone")
        self.program = Program(argv + self.arguments,
                               self.folder / "berthd.log")
        self.program.wait_ready()
        # A restart keeps the port, as a deployed server would.
        self.grpc_wanted = self.grpc
        return self

    @property
    def grpc(self):
        return self.program.ready["grpc"]

    @property
    def http(self):
        return self.program.ready["http"]

    def stop(self, signal_number=signal.SIGTERM):
        return self.program.stop(signal_number)

    def kill(self):
        return self.program.stop(signal.SIGKILL)

    def ctl(self, *arguments, check=True, input_text=None, seconds=60):
        """Run berthctl against this server; gives the completed process."""
        done = subprocess.run(
            [program("berthctl"), "--berthUrl", self.grpc, *arguments],
            capture_output=True, text=True, input=input_text,
            timeout=patient(seconds), check=False)
        if check and done.returncode != 0:
            raise AssertionError(
                f"berthctl {' '.join(arguments)}: exit {done.returncode}\n"
                f"{done.stdout}{done.stderr}")
        return done

    def shims(self):
        """The processes that stand over pods of this server."""
        return shims_below(self.data)

    def close(self, is_kept=False):
        """Stop the server with its jobs and remove the folder."""
        if self.program and self.program.process.poll() is None:
            self.program.stop()
        end_pods_below(self.folder, self.data)
        if self.meeting_made:
            shutil.rmtree(self.meeting_made, ignore_errors=True)
        if not is_kept:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close(is_kept=sys.exc_info()[0] is not None)


class Executor:
    """A berth-executor beside a server."""

    def __init__(self, server, name, folder, config="", runtime="fake"):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.config_path = self.folder / "executor.yaml"
        self.config_path.write_text(config)
        self.argv = [program("berth-executor"), "--server", server,
                     "--id", name, "--runtime", runtime,
                     "--data", str(self.folder / "data"),
                     "--config", str(self.config_path)]
        self.program = None

    def start(self):
        self.program = Program(self.argv, self.folder / "executor.log")
        self.program.wait_ready()
        return self

    def stop(self, signal_number=signal.SIGTERM):
        return self.program.stop(signal_number)

    def kill(self):
        return self.program.stop(signal.SIGKILL)


def armada_python():
    """The Python of a virtual environment that has armada-client."""
    folder = pathlib.Path(os.environ.get(
        "BERTH_VENV", BUILD / "armada-client-venv"))
    python = folder / "bin" / "python"
    marker = folder / "installed"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "armada-client-venv.lock", "w",
              encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run side by side
        if not marker.exists():
            install(folder, python)
            marker.touch()
    return str(python)


def install(folder, python):
    """Make the virtual environment."""
    base = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") \
        else sys.executable
    subprocess.run([base, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet",
                    "armada-client"], check=True)
