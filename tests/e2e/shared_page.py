"""The guide to a shared server, read as its reader would: which commands run on
which machine, in what order, and what they must say.

Whoever runs it gives a place: `run(machine, text)` runs a block as a script in
the directory in which the one before it ended, and returns a completed process;
`restart(machine, unit)` does what systemctl would.
"""

import pathlib
import re

import harness

PAGE = harness.ROOT / "docs" / "guide" / "shared-server.md"
SERVER = "berth.example.org"
NODES = ("node1", "node2", "node3")

# What a block with these words must write, when asked often enough.
EXPECTED = {
    "berthd --config /etc/berth/berth.yaml --check-config":
        ["the configuration is valid"],
    "berth-executor --config /etc/berth/executor.yaml --check-config":
        ["the configuration is valid"],
    "whoami": [r"User: anna \(administrator\)"],
    "can-i submit physics": ["^yes$"],
    "can-i submit biology": ["not allowed"],
    "get executors": [rf"{node} .*live" for node in NODES],
    "it works": ["^it works$", "succeeded"],
    "promtool check": ["SUCCESS"],
    "promtool query": ["berth_executors.* => 3 "],
}
AGAIN = ("get executors", "promtool query")
AGAIN_SECONDS = 60


def blocks():
    """(machines, text) of each block of commands."""
    found = re.findall(r"(?ms)^```sh( nodes)?\n(.*?)^```", PAGE.read_text())
    return [(NODES if nodes else (SERVER,), text) for nodes, text in found]


def restart(place, machine, text):
    """What a block that has succeeded asks systemctl for."""
    lines = text.rstrip().splitlines()
    for i, line in enumerate(lines):
        if line.startswith("systemctl restart "):
            assert i == len(lines) - 1, f"a restart must be the last: {text}"
            place.restart(machine, line.split()[2])


def follow(place, without=None):
    """Do all that the page says; fails where it is wrong.  Blocks with the word
    `without` are left out."""
    unseen = dict(EXPECTED)
    for machines, text in blocks():
        if without and without in text:
            for word in [word for word in EXPECTED if word in text]:
                unseen.pop(word, None)
            continue
        words = [word for word in EXPECTED if word in text]
        for machine in machines:
            check(place, machine, text,
                  [wanted for word in words for wanted in EXPECTED[word]],
                  any(word in text for word in AGAIN))
        for word in words:
            unseen.pop(word, None)
    assert not unseen, f"no block has {list(unseen)}"


def check(place, machine, text, wanted, is_repeated):
    last = []

    def is_good():
        done = place.run(machine, text)
        last[:] = [done.stdout + done.stderr]
        return done.returncode == 0 and all(
            re.search(one, last[0], re.M) for one in wanted)

    try:
        harness.wait_for(f"{wanted} of {machine}", is_good,
                         AGAIN_SECONDS if is_repeated else 0)
    except AssertionError as error:
        raise AssertionError(f"{text}\n{last[0]}\n{error}") from None
    restart(place, machine, text)


def in_its_directory(text, file):
    """A script that goes on where the last one ended."""
    return (f'if [ -f {file} ]; then cd "$(cat {file})"; fi\n'
            f"{text}\npwd >{file}\n")


def executable(path, text):
    path = pathlib.Path(path)
    path.write_text(text)
    path.chmod(0o755)
