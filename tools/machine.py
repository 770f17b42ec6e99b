"""A machine of its own, in software: Debian's kernel under QEMU, without rights
and without a network.

What Debian has to bring is kept in $XDG_CACHE_HOME/berth/machine (43 MB to
fetch, 190 MB).  Where it cannot be fetched, or on another architecture, the
program that asks says so and exits with 77.
"""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import threading

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME")
                     or pathlib.Path.home() / ".cache") / "berth" / "machine"
KERNEL = "linux-image-cloud-amd64"
QEMU = "qemu-system-x86"
MEMORY_MB = 2048
SECONDS_MAX = 2400
SKIPPED = 77


def skip(why):
    print(f"{sys.argv[0]}: skipped: {why}", file=sys.stderr)
    sys.exit(SKIPPED)


def output_of(*argv, **how):
    return subprocess.run(argv, capture_output=True, text=True, check=True,
                          **how).stdout


def wanted_packages():
    """Names of what QEMU lacks here, and of the kernel."""
    plan = output_of("apt-get", "install", "--simulate",
                     "--no-install-recommends", QEMU)
    kernel = re.findall(r"Depends: (linux-image-\S+)",
                        output_of("apt-cache", "depends", KERNEL))
    return re.findall(r"^Inst (\S+)", plan, flags=re.M) + kernel[:1]


def fetch():
    """The folder with QEMU and kernel, unpacked."""
    if platform.machine() != "x86_64":
        skip("it knows the kernel of x86-64 only")
    if not shutil.which("mke2fs"):
        skip("there is no mke2fs (package e2fsprogs)")
    root = CACHE / "root"
    if root.is_dir():
        return root
    try:
        packages = wanted_packages()
        work = CACHE / "fetching"
        shutil.rmtree(work, ignore_errors=True)
        (work / "root").mkdir(parents=True)
        subprocess.run(["apt-get", "download", *packages], cwd=work,
                       check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        for package in work.glob("*.deb"):
            subprocess.run(["dpkg-deb", "--extract", package, work / "root"],
                           check=True)
        (work / "root").rename(root)
        shutil.rmtree(work)
    except (OSError, subprocess.CalledProcessError) as error:
        skip(f"cannot fetch {QEMU} and a kernel from Debian: {error}")
    return root


def write_disk(folder, path, size_bytes):
    """Make a disk of the files of a folder."""
    path.unlink(missing_ok=True)
    subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", "-d", str(folder),
                    "-E", "root_owner=0:0", str(path), f"{size_bytes >> 10}k"],
                   check=True, stdout=subprocess.DEVNULL)


def words_of(root, disk, parameters):
    """The command that boots it; the kernel gets the parameters as well."""
    kernel, = root.glob("boot/vmlinuz-*")
    share = root / "usr/share"
    return [
        "nice", str(root / "usr/bin/qemu-system-x86_64"),
        "-L", str(share / "qemu"), "-L", str(share / "seabios"),
        "-machine", "q35,accel=tcg", "-cpu", "max", "-smp", "2",
        "-m", str(MEMORY_MB), "-display", "none", "-vga", "none",
        "-nic", "none", "-no-reboot", "-serial", "stdio", "-monitor", "none",
        "-drive", f"if=none,id=disk,format=raw,cache=unsafe,file={disk}",
        "-device", "nvme,drive=disk,serial=berth",
        "-kernel", str(kernel), "-append",
        "console=ttyS0 root=/dev/nvme0n1 rw quiet panic=-1 " + parameters,
    ]


def end_late(machine):
    print(f"{sys.argv[0]}: not within {SECONDS_MAX} s", file=sys.stderr)
    machine.kill()


def run(root, disk, parameters):
    """Show what the machine says; whether its last line of the kind "guest: 3 of
    3 ok" says that all its tests passed."""
    folders = [str(root / name / "x86_64-linux-gnu")
               for name in ("usr/lib", "lib")]
    machine = subprocess.Popen(
        words_of(root, disk, parameters), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True, errors="replace",
        env={**os.environ, "LD_LIBRARY_PATH": ":".join(folders)})
    # A machine that hangs says nothing, so a loop over its lines sees no time.
    watch = threading.Timer(SECONDS_MAX, end_late, (machine,))
    watch.start()
    last = ""
    for line in machine.stdout:
        print(line, end="", flush=True)
        last = line if line.startswith("guest: ") else last
    machine.wait()
    watch.cancel()
    counts = re.fullmatch(r"guest: (\d+) of (\d+) ok\s*", last)
    return bool(counts) and counts[1] == counts[2]
