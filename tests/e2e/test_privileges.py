"""What the programs give up after their start, as the kernel sees it."""

import os
import pathlib
import unittest

import harness

SANITIZED = "BERTH_SANITIZED" in os.environ
HAS_FILTERS = os.path.exists("/proc/sys/kernel/seccomp")


def status_of(pid, thread=None):
    """What the kernel says of a process or one of its threads."""
    path = pathlib.Path(f"/proc/{pid}/task/{thread or pid}/status")
    return dict(line.split(":\t", 1)
                for line in path.read_text("utf-8").splitlines()
                if ":\t" in line)


def threads_of(pid):
    return [int(path.name) for path in
            pathlib.Path(f"/proc/{pid}/task").glob("[0-9]*")]


class Filter(unittest.TestCase):
    @unittest.skipIf(SANITIZED, "a program with a sanitizer has no filter")
    @unittest.skipUnless(HAS_FILTERS, "this kernel has no filters")
    def test_every_thread_of_a_server_has_it(self):
        with harness.Berth(standalone=False) as berth:
            pid = berth.program.process.pid
            threads = threads_of(pid)
            self.assertGreater(len(threads), 4)
            for thread in threads:
                status = status_of(pid, thread)
                self.assertEqual((status["Seccomp"], status["NoNewPrivs"]),
                                 ("2", "1"), thread)
            self.assertIn("event=filter.on", berth.program.log())

    def test_it_can_be_switched_off(self):
        config = "hardening: {systemCallFilter: false}\n"
        with harness.Berth(config, standalone=False) as berth:
            self.assertIn("event=filter.off", berth.program.log())
            self.assertNotIn("event=filter.on", berth.program.log())


if __name__ == "__main__":
    unittest.main()
