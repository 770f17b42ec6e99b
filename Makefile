# For people: each target does what it needs first.  See README.md.
BUILD ?= build
MESON_FLAGS ?=

.PHONY: all deps build check run bench fuzz install clean

all: build

deps:
	@tools/deps

build: deps
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) $(MESON_FLAGS)
	@ninja -C $(BUILD)

check: build
	@tools/check $(BUILD)

run: build
	@tools/run $(BUILD)

clean:
	rm -rf $(BUILD) build-*
