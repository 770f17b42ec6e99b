"""How the built programs are hardened: position independent, with relocations
that are read-only once resolved, a stack that is not executable and is checked
for overflow, indirect calls that land on marked places, and copies of libc
that know how much room there is."""

import functools
import json
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile
import unittest

import harness

PROGRAMS = ("berthd", "berthctl", "berth-executor", "berth-shim", "berth-sim")
# How a function begins that may be called through a pointer.
LANDINGS = {"x86_64": (bytes.fromhex("f30f1efa"),),
            "aarch64": tuple(bytes.fromhex(one) for one in
                             ("5f2403d5", "3f2303d5", "7f2303d5"))}
# Functions of libc that are told how large what they write to is.
CHECKED = re.compile(r"\b__\w+_chk\b")
WEAK = ["-O0", "-no-pie", "-fno-stack-protector", "-fcf-protection=none",
        "-U_FORTIFY_SOURCE", "-Wl,-z,norelro", "-Wl,-z,lazy",
        "-Wl,-z,execstack"]


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, str(path)],
                          capture_output=True, text=True, check=True).stdout


def first_bytes(path, name):
    """How the machine code of a function begins; b"" if it is not known."""
    symbol = re.search(rf"^ *\d+: ([0-9a-f]+) +\d+ FUNC .* {name}$",
                       readelf("--syms", path), flags=re.M)
    # Name, type, address, offset.
    text = re.search(r" \.text +PROGBITS +([0-9a-f]+) ([0-9a-f]+) ",
                     readelf("-S", path))
    if not symbol or not text:
        return b""
    address, begin, offset = (int(one, 16) for one in
                              (symbol[1], text[1], text[2]))
    with open(path, "rb") as file:
        file.seek(address - begin + offset)
        return file.read(4)


def missing(path, is_optimized=True):
    """What a program lacks of all that it should have."""
    dynamic, symbols = readelf("-d", path), readelf("--dyn-syms", path)
    segments = readelf("-l", path)
    stack = next((line.split()[6] for line in segments.splitlines()
                  if "GNU_STACK" in line), "RWE")
    landings = LANDINGS.get(platform.machine())
    has = {
        "PIE": "PIE" in dynamic,
        "RELRO": "GNU_RELRO" in segments,
        "BIND_NOW": "BIND_NOW" in dynamic,
        "stack protector": "__stack_chk_fail" in symbols,
        "stack that is not executable": "E" not in stack,
        "marked landings": not landings
                           or first_bytes(path, "main") in landings,
        "FORTIFY": not is_optimized or bool(CHECKED.search(symbols)),
    }
    return {name for name, is_there in has.items() if not is_there}


@functools.cache
def options():
    """How the build was set up."""
    text = subprocess.run(
        ["meson", "introspect", "--buildoptions", str(harness.BUILD)],
        capture_output=True, text=True, check=True,
        timeout=harness.patient(60)).stdout
    return {one["name"]: one["value"] for one in json.loads(text)}


def is_optimized():
    """Whether libc can know sizes: not without optimization, and sanitizers
    bring checks of their own instead."""
    return options()["optimization"] in ("2", "3") and \
        options()["b_sanitize"] == "none"


class HardeningTest(unittest.TestCase):
    def test_programs_lack_nothing(self):
        for name in PROGRAMS:
            with self.subTest(program=name):
                path = harness.BUILD / "src" / "main" / name
                self.assertEqual(missing(path, is_optimized()), set())

    @unittest.skipUnless(platform.machine() == "x86_64", "flags of x86")
    def test_a_weak_program_is_found(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-e2e-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "weak.c").write_text("int main(void) { return 0; }\n")
        subprocess.run(["cc", *WEAK, "-o", "weak", "weak.c"], cwd=folder,
                       check=True, timeout=harness.patient(60))
        self.assertEqual(missing(folder / "weak"), {
            "PIE", "RELRO", "BIND_NOW", "stack protector",
            "stack that is not executable", "marked landings", "FORTIFY"})


if __name__ == "__main__":
    unittest.main()
