"""A disk that is full, files that are broken, configurations that are wrong.

What was acknowledged is there afterwards, whatever happened in between; and
berthd says in one line what it cannot use, and why.
"""

import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import unittest

import bad_input
import harness
from bad_input import Client, field, item, pod

SUBMIT = "/api.Submit/SubmitJobs"
DISK_BYTES = 24 << 20
# What a refusal for want of space may be called: the log was asked and said
# no, or one knew before.
NO_SPACE = {"INTERNAL", "RESOURCE_EXHAUSTED", "UNAVAILABLE"}
CONFIG = """
executor:
  runtime: process
  process:
    resources: {cpu: 8, memory: 16Gi, ephemeral-storage: 64Gi}
"""


class Disk:
    """A small file system of its own; unittest.SkipTest if none can be had."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-disk-"))
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=755",
             "berth-test", str(self.folder)], capture_output=True, text=True,
            check=False)
        if done.returncode != 0:
            self.folder.rmdir()
            raise unittest.SkipTest(
                f"no small disk can be mounted: {done.stderr.strip()}")
        self.filler = self.folder / "filler"

    def fill(self):
        """Leave nothing, not a byte."""
        with open(self.filler, "ab", buffering=0) as file:
            for size in (1 << 20, 4096, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    pass

    def free(self):
        self.filler.unlink()

    def close(self):
        subprocess.run(["umount", "-l", str(self.folder)], check=False)
        self.folder.rmdir()


def work(seconds):
    return pod({"cpu": "100m", "memory": "32Mi",
                "ephemeral-storage": "1Mi"},
               command=("sh", "-c", f"sleep {seconds}; exit 0"))


class FullDisk(unittest.TestCase):
    def setUp(self):
        self.disk = Disk()
        self.addCleanup(self.disk.close)
        self.berth = harness.Berth(config=CONFIG)
        # The log of the test stays on the other disk.
        self.berth.data = self.disk.folder / "data"
        self.berth.start()
        self.addCleanup(self.berth.close)

    def refusal(self, client):
        """Submit until it is refused; (code, text, jobs taken before)."""
        taken = []
        for i in range(2000):
            try:
                taken += client.submit("full", "s", [item(
                    pod({"cpu": "100"}, command=["x" * 20000]),
                    client_id=f"c{len(taken)}")])
            except bad_input.grpc.RpcError as error:
                return error.code().name, error.details(), taken
        raise AssertionError("the disk does not fill")

    def states(self, client, jobs):
        found = {}
        for begin in range(0, len(jobs), 400):
            found.update(client.states(jobs[begin:begin + 400]))
        return found

    def assert_known(self, client, jobs):
        """Each job is where queries look."""
        def all_known():
            found = self.states(client, jobs)
            return all(found.get(job, bad_input.UNKNOWN) !=
                       bad_input.UNKNOWN for job in jobs)
        harness.wait_for("every acknowledged job is known", all_known, 30)

    def test_a_full_disk_loses_nothing_and_passes(self):
        with Client(self.berth.grpc) as client:
            client.make_queue("full")
            early = client.submit("full", "s", [item(work(2))])
            harness.wait_for("it runs", lambda: self.states(
                client, early)[early[0]] == bad_input.RUNNING, 30)
            self.disk.fill()
            code, text, taken = self.refusal(client)
            self.assertIn(code, NO_SPACE, text)
            self.assertIn("space", text)
            with self.subTest("a second refusal is as clear"):
                code, text, more = self.refusal(client)
                self.assertIn(code, NO_SPACE, text)
                taken += more
            with self.subTest("queries are answered all the while"):
                self.assertEqual(len(self.states(client, early)), 1)
            self.assertIsNone(self.berth.program.process.poll(),
                              self.berth.program.log())
            # The job's end has nowhere to be written for a while.
            harness.wait_for("its process has ended", lambda: not any(
                map(harness.children_of, self.berth.shims())))
            self.assertEqual(self.states(client, early)[early[0]],
                             bad_input.RUNNING)
            self.disk.free()
            late = []

            def accepted():
                try:
                    late.extend(client.submit("full", "s", [item(work(0))]))
                except bad_input.grpc.RpcError:
                    pass
                return late
            harness.wait_for("jobs are taken again", accepted, 15)
            self.assert_known(client, taken + early + late)
            harness.wait_for("the running and the new one have succeeded",
                             lambda: {bad_input.SUCCEEDED} == set(
                                 self.states(client, early + late).values()),
                             30)
        self.berth.stop()
        self.berth.start()
        with Client(self.berth.grpc) as client:
            self.assert_known(client, taken + early + late)
            self.assertEqual(self.states(client, early)[early[0]],
                             bad_input.SUCCEEDED)

    def test_a_start_on_a_full_disk_works_or_says_why(self):
        with Client(self.berth.grpc) as client:
            client.make_queue("full")
            jobs = client.submit("full", "s", [item(work(0))])
        self.berth.stop()
        self.disk.fill()
        try:
            self.berth.start()
            self.berth.kill()
        except AssertionError:
            self.assertRegex(self.berth.program.log(), "space|full|disk")
            self.assertEqual(self.berth.program.end(), 1)
        self.disk.free()
        self.berth.start()
        with Client(self.berth.grpc) as client:
            self.assert_known(client, jobs)

    def test_killed_on_a_full_disk_it_starts_again(self):
        with Client(self.berth.grpc) as client:
            client.make_queue("full")
            jobs = client.submit("full", "s", [item(work(0))])
            self.disk.fill()
            _, _, taken = self.refusal(client)
        self.berth.kill()
        self.disk.free()
        self.berth.start()
        with Client(self.berth.grpc) as client:
            self.assert_known(client, jobs + taken)


class BrokenFiles(unittest.TestCase):
    """Starts that must fail, or mend what can be derived."""

    def setUp(self):
        self.berth = harness.Berth(standalone=False)
        self.addCleanup(self.berth.close)
        self.berth.start()
        with Client(self.berth.grpc) as client:
            client.make_queue("q")
            self.jobs = client.submit("q", "s", [item()] * 50)
        self.berth.stop()

    def assert_refused(self, *texts):
        """It ends with 1, soon, and one line that has all the texts."""
        with self.assertRaises(AssertionError):
            self.berth.start()
        self.assertEqual(self.berth.program.end(), 1)
        last = self.berth.program.log().strip().splitlines()[-1]
        self.assertTrue(last.startswith("berthd: "), last)
        for text in texts:
            self.assertIn(text, last)

    def assert_serves(self):
        self.berth.start()
        with Client(self.berth.grpc) as client:
            harness.wait_for("the jobs are known", lambda: all(
                state == bad_input.QUEUED
                for state in client.states(self.jobs).values()), 30)

    def scribble(self, name, where, data):
        with open(self.berth.data / name, "r+b") as file:
            file.seek(where)
            file.write(data)

    def test_a_log_that_is_no_log_is_refused(self):
        (self.berth.data / "log.db").write_bytes(b"not a log at all " * 1000)
        self.assert_refused("log.db")

    def test_a_log_cut_in_the_midst_is_refused(self):
        path = self.berth.data / "log.db"
        size = path.stat().st_size
        os.truncate(path, size // 2 // 4096 * 4096)
        self.assert_refused("log")

    def test_a_log_that_another_program_changed_is_refused(self):
        with sqlite3.connect(self.berth.data / "log.db") as log:
            log.execute("UPDATE head SET epoch = epoch + 1")
        log.close()
        self.assert_refused("log.db", "a page of the file is damaged")

    def test_a_log_in_use_is_refused(self):
        self.berth.start()
        other = harness.Berth(standalone=False)
        self.addCleanup(other.close)
        other.data = self.berth.data
        with self.assertRaises(AssertionError):
            other.start()
        self.assertIn("use", other.program.log())
        self.assertEqual(other.program.end(), 1)

    def files(self, pattern):
        return {path.name: path.read_bytes()
                for path in self.berth.data.glob(pattern)}

    def test_a_log_that_is_gone_is_refused_and_the_store_is_kept(self):
        for path in self.berth.data.glob("log.db*"):
            path.unlink()
        before = self.files("store.db")
        self.assert_refused("ahead of the log", "Restore the newest backup")
        self.assertEqual(self.files("store.db"), before)

    def flip(self, name, part):
        """Turn a bit at that part of a file's length."""
        with open(self.berth.data / name, "r+b") as file:
            file.seek(int(os.path.getsize(file.name) * part))
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte ^ 8]))

    def test_a_flipped_bit_in_the_wal_of_a_killed_server_is_refused(self):
        self.berth.start()
        with Client(self.berth.grpc) as client:
            self.jobs += client.submit("q", "s", [item()] * 50)
        self.berth.kill()
        for part in (0.01, 0.5, 0.99):
            self.flip("log.db-wal", part)
            self.assert_refused("log.db-end", "--accept-loss")
            self.flip("log.db-wal", part)
        self.assert_serves()

    def test_a_flipped_bit_in_the_first_page_of_the_log_is_refused(self):
        self.flip("log.db", 0.001)
        self.assert_refused("log.db", "a page of the file is damaged")

    def test_a_log_whose_wal_alone_is_left_is_refused_and_kept(self):
        (self.berth.data / "log.db").unlink()
        (self.berth.data / "log.db-wal").write_bytes(b"frames" * 99)
        before = self.files("*.db*")
        self.assert_refused("log.db-wal", "restore the newest backup")
        self.assertEqual(self.files("*.db*")["log.db-wal"],
                         before["log.db-wal"])

    def test_a_missing_store_is_made_anew(self):
        for path in self.berth.data.glob("store.db*"):
            path.unlink()
        self.assert_serves()

    def test_a_broken_store_is_refused_and_says_what_to_do(self):
        for path in self.berth.data.glob("store.db*"):
            path.unlink()
        (self.berth.data / "store.db").write_bytes(b"no store at all " * 999)
        self.assert_refused("store.db", "rebuilds the query store")
        (self.berth.data / "store.db").unlink()
        self.assert_serves()

    def test_a_store_broken_inside_is_made_anew_or_refused(self):
        size = (self.berth.data / "store.db").stat().st_size
        self.scribble("store.db", 4096, b"\xa5" * (size - 4096))
        try:
            self.assert_serves()
        except AssertionError:
            self.assertIn("store", self.berth.program.log())
            self.assertIsNotNone(self.berth.program.process.poll())

    def test_a_data_directory_that_is_a_file_is_refused(self):
        shutil.rmtree(self.berth.data)
        self.berth.data.write_text("a file")
        self.assert_refused("data")

    def test_an_address_in_use_is_refused(self):
        self.berth.start()
        other = harness.Berth(standalone=False)
        self.addCleanup(other.close)
        other.grpc_wanted = self.berth.grpc
        with self.assertRaises(AssertionError):
            other.start()
        self.assertEqual(other.program.end(), 1)
        self.assertIn(self.berth.grpc, other.program.log())


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    bad_input.main()
