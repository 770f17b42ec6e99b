"""The manual pages and bash's completion: they are well-formed, they know
every option that --help shows, and their examples run as written."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import harness

DOCS = harness.BUILD / "docs"
GUIDE = harness.ROOT / "docs" / "guide"
POD_SPEC = ("{containers: [{name: main, image: none, resources: {requests: "
            "{cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}}]}")
# What the TrainingJob of the examples asks of nodes.
GUIDE_CONFIG = """
executor:
  runtime: fake
  fake:
    nodes:
      - name: n
        count: 4
        resources: {cpu: 16, memory: 64Gi, ephemeral-storage: 400Gi}
        labels: [disk=ssd]
"""
PAGES = sorted(p.name[:-len(".scd")]
               for p in (harness.ROOT / "docs" / "man").glob("*.scd"))
USERS_PAGES = sorted(p for folder in ("guide", "man")
                     for p in (harness.ROOT / "docs" / folder).iterdir())
OPTION = re.compile(r"(?m)^  (?:-\w, )?(--[a-zA-Z-]+)|, (--version)\b")


def text_of(page):
    """A page as a terminal shows it, without its bold and underlined."""
    shown = subprocess.run(["mandoc", "-Tutf8", "-O", "width=500",
                            str(DOCS / page)],
                           capture_output=True, text=True, check=True).stdout
    return re.sub(".\b", "", shown)


def help_of(*words):
    return subprocess.run([harness.program(words[0]), *words[1:], "--help"],
                          capture_output=True, text=True, check=True).stdout


def commands():
    """Every command of berthctl and of berth-sim."""
    for name in ("berthctl", "berth-sim"):
        table = subprocess.run([harness.program(name), "--print-options"],
                               capture_output=True, text=True, check=True)
        for line in table.stdout.splitlines():
            kind, path, *_ = line.split("\t")
            if kind == "command" and path:
                yield name, path


def taker_of(block):
    """The command that takes such a piece of YAML, without a server."""
    if re.search(r"(?m)^clusters:", block):
        return ["berth-sim", "run", "--quiet"]
    if re.search(r"(?m)^contexts:", block):
        return ["berthctl", "config", "get-contexts", "--config"]
    if re.search(r"(?m)^jobs:", block):
        return ["berthctl", "submit", "--dry-run"]
    if re.search(r"(?m)^kind:", block):
        return ["berthctl", "create", "--dry-run", "-f"]
    return ["berthd", "--print-config", "--config"]


def example(page, number):
    """A block of the examples of a page's source."""
    source = (harness.ROOT / "docs" / "man" / f"{page}.scd").read_text()
    blocks = source.partition("# EXAMPLES")[2].split("```\n")[1::2]
    return blocks[number]


def complete(line):
    """What bash offers for the last word of a line."""
    script = (f'. "{DOCS}/berthctl"\nread -ra COMP_WORDS <<< "$1"\n'
              '[[ $1 == *" " ]] && COMP_WORDS+=("")\n'
              'COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n'
              '_berth "${COMP_WORDS[0]}"\nprintf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, "bash", line],
                          capture_output=True, text=True, check=True)
    return done.stdout.split()


class ManualTest(unittest.TestCase):
    def test_pages_are_well_formed(self):
        self.assertGreaterEqual(len(PAGES), 6)
        for page in PAGES:
            with self.subTest(page=page):
                done = subprocess.run(
                    ["mandoc", "-Tlint", "-W", "warning", str(DOCS / page)],
                    capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_pages_name_only_pages_that_are_there_too(self):
        for page in PAGES:
            for name, section in re.findall(r"\b(berth[\w.-]*)\((\d)\)",
                                            text_of(page)):
                self.assertIn(f"{name}.{section}", PAGES, page)

    def test_every_option_of_a_program_is_in_its_page(self):
        for name, page in (("berthd", "berthd.8"),
                           ("berth-executor", "berth-executor.8"),
                           ("berth-sim", "berth-sim.1"),
                           ("berthctl", "berthctl.1")):
            text = text_of(page)
            words = [w for pair in OPTION.findall(help_of(name))
                     for w in pair if w]
            for option in words:
                self.assertIn(option, text, page)

    def test_every_command_is_in_its_page_with_its_options(self):
        pages = {n: text_of(f"{n}.1") for n in ("berthctl", "berth-sim")}
        count = 0
        for name, path in commands():
            sections = re.split(r"(?m)^   (?=\w)", pages[name])
            section = [s for s in sections if s.startswith(path + "\n")]
            self.assertEqual(len(section), 1, path)
            common = pages[name].partition("COMMANDS")[0]
            help_text = help_of(name, *path.split())
            for option, _ in OPTION.findall(help_text):
                if option in ("--help", "--version"):
                    continue
                self.assertRegex(section[0] + common,
                                 re.escape(option) + r"\b", path)
                count += 1
        self.assertGreater(count, 100)

    def test_every_key_is_in_the_page_of_the_configuration(self):
        keys = subprocess.run([harness.program("berthd"), "--print-manual"],
                              capture_output=True, text=True, check=True)
        text = text_of("berth.yaml.5")
        for key in re.findall(r"(?m)^\| `([^`]+)`", keys.stdout):
            self.assertIn(key, text)

    def test_every_annotation_is_in_the_page_of_jobs(self):
        source = (harness.ROOT / "src" / "api" / "submit" / "annotations.h").read_text()
        names = re.findall(r'(?m)^#define \w+ "([^"]+)"', source)
        self.assertGreater(len(names), 15)
        text = text_of("berth-job.5")
        for name in names:
            self.assertIn(name, text)

    def test_every_key_of_a_pod_group_is_in_the_page_of_jobs(self):
        text = text_of("berth-job.5")
        source = (harness.ROOT / "proto/berth/pod_group.proto").read_text()
        for name in re.findall(r"(?m)^  [\w. ]+ (\w+) = \d+;", source):
            head, *rest = name.split("_")
            self.assertIn(head + "".join(w.capitalize() for w in rest), text)

    def test_completion_offers_commands_options_and_formats(self):
        self.assertIn("jobs", complete("berthctl get "))
        self.assertEqual(complete("berthctl get tr"),
                         ["trainingjobs", "trainingjob"])
        self.assertEqual(complete("berthctl get jobs --lim"), ["--limit"])
        self.assertEqual(complete("berthctl get nodes -o y"), ["yaml"])
        self.assertEqual(complete("berthd --stan"), ["--standalone"])
        self.assertEqual(complete("berth-sim swf x --proc"), ["--processors"])


class NamesTest(unittest.TestCase):
    """What pages name is there under that name."""

    def assert_known(self, pattern, known, least, pages):
        count = 0
        for page in pages:
            text = page.read_text().replace("\\_", "_")
            # What kubectl knows is not ours.
            text = re.sub(r"(?m)^.*\bkubectl [-a-z].*$", "", text)
            for name in re.findall(pattern, text):
                self.assertIn(name, known, page)
                count += 1
        self.assertGreater(count, least)

    def test_options_that_pages_name_are_some_programs(self):
        known = {"--version"}
        for name in ("berthctl", "berthd", "berth-executor", "berth-sim"):
            known.update(re.findall(r"--[a-zA-Z-]+", help_of(name)))
        for name, path in commands():
            known.update(re.findall(r"--[a-zA-Z-]+",
                                    help_of(name, *path.split())))
        self.assert_known(r"(?<![\w-])--[a-zA-Z][a-zA-Z-]*", known, 100,
                          [harness.ROOT / "README.md", *USERS_PAGES])

    def test_keys_that_pages_name_are_in_the_configuration(self):
        table = subprocess.run([harness.program("berthd"), "--print-manual"],
                               capture_output=True, text=True,
                               check=True).stdout
        known = set()
        for key in re.findall(r"(?m)^\| `([^`]+)`", table):
            words = key.split(".")
            known.update(".".join(words[:n + 1]) for n in range(len(words)))
        known.update({key.removesuffix("[]") for key in known})
        sections = "|".join({key.split(".")[0] for key in known})
        # log.db and store.db are files.
        self.assert_known(rf"`((?:{sections})\.(?!db`)[\w.\[\]]+)`", known, 30,
                          USERS_PAGES)

    def test_metrics_that_pages_name_are_shown(self):
        source = "".join(p.read_text() for p in
                         (harness.ROOT / "src" / "main").glob("**/*.c"))
        known = set(re.findall(r"\b(?:berth|scheduler|armada)_\w+", source))
        self.assert_known(r"`((?:berth|scheduler|armada_scheduler)_\w+)`",
                          known, 15, USERS_PAGES)


class ExamplesTest(unittest.TestCase):
    def run_example(self, berth, text):
        """Run it as a user with a server at the usual address would."""
        home = pathlib.Path(berth.folder) / "home"
        home.mkdir(exist_ok=True)
        (home / ".berthctl.yaml").write_text(f"armadaUrl: {berth.grpc}\n")
        path = f"{harness.BUILD / 'src' / 'main'}:{os.environ['PATH']}"
        done = subprocess.run(["sh", "-eu", "-c", text], cwd=home, text=True,
                              capture_output=True, check=False,
                              env={"HOME": str(home), "PATH": path})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_examples_of_berthctl_run_as_written(self):
        with harness.Berth() as berth:
            out = self.run_example(berth, example("berthctl.1", 0))
            self.assertIn(" succeeded ", out)
            for number in (1, 2):
                self.run_example(berth, example("berthctl.1", number))

    def test_examples_of_berth_sim_run_as_written(self):
        with harness.Berth() as berth:
            out = self.run_example(berth, example("berth-sim.1", 0))
            self.assertIn("utilisation", out)
            replay = example("berth-sim.1", 1).replace(
                "~/berth", str(berth.data))
            self.run_example(berth, replay)

    def test_commands_of_the_guide_run_as_written(self):
        for page in ("pools.md", "training-jobs.md"):
            text = (GUIDE / page).read_text()
            for block in re.findall(r"```(?:sh)?\n(berthctl .*?)```", text,
                                    re.S):
                with self.subTest(page=page, block=block), \
                        harness.Berth(GUIDE_CONFIG) as berth:
                    self.run_example(berth, f"cd {harness.ROOT}\n{block}")

    def test_yaml_of_the_guide_is_taken(self):
        count = 0
        for page in sorted(GUIDE.glob("*.md")):
            for block in re.findall(r"```yaml\n(.*?)```", page.read_text(),
                                    re.S):
                argv = taker_of(block)
                with self.subTest(page=page.name, argv=argv), \
                        tempfile.NamedTemporaryFile("w") as file:
                    file.write(block.replace("{ ... }", POD_SPEC))
                    file.flush()
                    done = subprocess.run(
                        [harness.program(argv[0]), *argv[1:], file.name],
                        capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    count += 1
        self.assertGreaterEqual(count, 8)

    def test_nodes_that_examples_make_up_hold_any_job(self):
        """A container that does not ask for storage asks for some."""
        made = [made for path in (*GUIDE.glob("*.md"),
                                  *(harness.ROOT / "docs" / "man").glob("*"))
                for block in re.findall(r"```(?:yaml)?\n(.*?)```",
                                        path.read_text(), re.S)
                if "runtime: fake" in block
                for made in re.findall(r"resources: {.*?}", block)]
        self.assertGreaterEqual(len(made), 2)
        for resources in made:
            for name in ("cpu", "memory", "ephemeral-storage"):
                self.assertIn(name + ": ", resources)

    def test_examples_of_configurations_are_taken(self):
        for page, argv in (
                ("berth-job.5", ["berthctl", "submit", "--dry-run"]),
                ("berth.yaml.5", ["berthd", "--print-config", "--config"]),
                ("berth-scenario.5", ["berth-sim", "run", "--quiet"])):
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(example(page, 0))
                file.flush()
                done = subprocess.run(
                    [harness.program(argv[0]), *argv[1:], file.name],
                    capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
