"""How the built programs are hardened: position independent, with relocations
that are read-only once resolved, a stack that is not executable and is checked
for overflow."""

import subprocess
import unittest

import harness

PROGRAMS = ("berthd", "berthctl", "berth-executor", "berth-shim")


def readelf(option, name):
    return subprocess.run(["readelf", "-W", option, harness.program(name)],
                          capture_output=True, text=True, check=True).stdout


class HardeningTest(unittest.TestCase):
    def each(self):
        for name in PROGRAMS:
            with self.subTest(program=name):
                yield name

    def test_programs_are_position_independent(self):
        for name in self.each():
            self.assertIn("PIE", readelf("-d", name))

    def test_relocations_are_resolved_at_start_and_read_only(self):
        for name in self.each():
            self.assertIn("BIND_NOW", readelf("-d", name))
            self.assertIn("GNU_RELRO", readelf("-l", name))

    def test_the_stack_is_checked_and_not_executable(self):
        for name in self.each():
            self.assertIn("__stack_chk_fail", readelf("--dyn-syms", name))
            stack = next(line for line in readelf("-l", name).splitlines()
                         if "GNU_STACK" in line)
            self.assertNotIn("E", stack.split()[6])


if __name__ == "__main__":
    unittest.main()
