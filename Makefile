# For people: each target does what it needs first.  See README.md.
BUILD ?= build
MESON_FLAGS ?= --buildtype=release -Db_lto=true
PREFIX ?= /usr/local

.PHONY: all deps build run check sanitize bench fuzz install clean

all: build

deps:
	@tools/deps

build: deps
	@test -f $(BUILD)/build.ninja || \
	    meson setup $(BUILD) --prefix=$(PREFIX) $(MESON_FLAGS)
	@ninja -C $(BUILD)

run: build
	@tools/run $(BUILD)

check: build
	@tools/check $(BUILD)

sanitize: build
	@tools/check $(BUILD) --sanitize

bench: build
	@tools/bench $(BUILD)

fuzz: deps
	@tools/fuzz

install: build
	@meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf $(BUILD) build-*
