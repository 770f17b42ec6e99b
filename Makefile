# For people: each target does what it needs first.  See README.md.
BUILD ?= build
MESON_FLAGS ?= --buildtype=release -Db_lto=true
PREFIX ?= /usr/local

# What people start, without the tests: two thirds of the compiling.
PROGRAMS = $(addprefix src/main/,berthd berthctl berth-executor berth-shim \
    berth-sim)
# What else is installed.
PAGES = $(addprefix docs/,berthctl.1 berth-sim.1 berth-job.5 berth.yaml.5 \
    berth-scenario.5 berthd.8 berth-executor.8 berthctl)

.PHONY: all deps setup build programs run check sanitize bench bench-quality \
    fuzz fuzz-workloads prop-long damage hostile hostile-v2 kube-kills install deb deb-test \
    units-test shared-test image-test reproducible clean

all: build

deps:
	@tools/deps

setup: deps
	@test -f $(BUILD)/build.ninja || \
	    meson setup $(BUILD) --prefix=$(PREFIX) $(MESON_FLAGS)

build: setup
	@ninja -C $(BUILD)

programs: setup
	@ninja -C $(BUILD) $(PROGRAMS)

run: programs
	@tools/run $(BUILD)

check: build
	@tools/check $(BUILD)

sanitize: build
	@tools/check $(BUILD) --sanitize

bench: build
	@tools/bench $(BUILD)

bench-quality: programs
	@tools/bench-quality $(BUILD)

# An hour, and one processor for each try.
fuzz-workloads: programs
	@tools/fuzz-workloads $(BUILD)

fuzz: deps
	@tools/fuzz

prop-long: build
	@tools/prop $(BUILD)

damage: setup
	@ninja -C $(BUILD) tests/damage/damage
	@$(BUILD)/tests/damage/damage 2000 1 $(BUILD)/damage.tsv

hostile: build
	@HOSTILE_FULL=1 BERTH_BUILD=$(abspath $(BUILD)) python3 \
	    tests/e2e/guard.py tests/e2e/hostile/test_hostile_jobs.py

# A machine of its own, in software: four minutes.
hostile-v2: setup
	@tools/hostile-v2 $(BUILD)

# Kills of an executor of a real cluster; tests/kube/testbed builds that.
kube-kills: programs
	@BERTH_BUILD=$(abspath $(BUILD)) python3 tests/kube/kills.py --kills 200

# The prefix may be another than that of the last time; DESTDIR is Meson's.
install: setup
	@meson configure $(BUILD) -Dprefix=$(PREFIX)
	@ninja -C $(BUILD) $(PROGRAMS) $(PAGES)
	@DESTDIR="$(DESTDIR)" meson install -C $(BUILD) --no-rebuild

# Debian packages, and a test of them in a clean root.
deb: deps
	@tools/deb build-deb build-deb/packages

deb-test: deb
	@tools/deb-test build-deb

# The packages' units under systemd, in a machine in software.
units-test: deb
	@tools/units-test build-deb

# The guide to a shared server, on four machines in software.
shared-test: deb
	@tools/shared-test build-deb

# The container image of the packages, built, and a job run in it.
image-test: deb
	@tools/image-test build-deb

# Two builds of the packages from nothing, compared byte by byte.
reproducible: deps
	@tools/reproducible

clean:
	rm -rf $(BUILD) build-*
