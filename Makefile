# Two commands do everything: `make run` and `make test`. Each installs what is missing first.

SWIFT ?= swift
BUILD := .build/release
# Half of what a linker puts into a program is never used; these leave it out, and with it NIOEmbedded, a network for tests that
# comes with NIOHTTP1. Not in Package.swift: a package with unsafe flags cannot be a library of others.
LINK := $(shell cat scripts/link-flags)
# For Package.swift: what is not hot becomes small.
build: export TUTTI_PROGRAMS = 1
FILE ?=

.PHONY: help setup build deb test-packages test-arm64 run test test-long test-page test-far test-film test-airplay test-servers test-second test-alarm test-mpd test-mpd-clients test-edits test-loudness test-homeassistant mutants soak check bench bench-check bench-report fuzz lint format-lint format docs install install-service install-daemon uninstall clean

help:
	@echo "make run [FILE=song.flac]  build, start a receiver here and play to it"
	@echo "make test                  all tests but the long ones"
	@echo "make test-long             a simulated day of sixteen rooms, floods, a hostile wire, 200 kills: half an hour"
	@echo "make test-page             the web page in Chromium, against an invented house and a real one"
	@echo "make test-far              every route of the API, asked from another network namespace; as root, after make build"
	@echo "make test-film             mpv plays a film in three rooms: whether picture and sound are in step; a minute"
	@echo "make test-airplay          PulseAudio, PipeWire and a phone play by AirPlay in three rooms; as root, after make build; 2 minutes each"
	@echo "make test-second           takes one of two daemons away while music plays; as root, after make build; 2 minutes"
	@echo "make test-alarm            lets alarms ring without their daemon, and without a network; as root, after make build; 13 minutes"
	@echo "make test-mpd [SHOW=1]     says a few hundred things to Debian's mpd and to the daemon, and compares the answers; after make build; a minute"
	@echo "make test-mpd-clients      steers the daemon by mpc, ncmpcpp, ncmpc, Cantata, Ario, GMPC, mpdscribble, mpDris2 and others, as far as they are installed; after make build; three minutes"
	@echo "make test-edits            200 kills under edits of every kind, 1000 orders of two pages and a terminal, music that moves; as root, after make build; half an hour"
	@echo "make test-loudness [TRACKS=10000]  measures that many songs, and listens whether rooms play all of them equally loud; as root, after make build; 10 minutes"
	@echo "make test-servers          a household plays from supysonic, minidlna and, where it is installed, gerbera, servers of libraries; as root, after make build; 6 minutes"
	@echo "make mutants [ONLY=PATTERN]  breaks what matters in one place after the other: do the tests notice?"
	@echo "make test-homeassistant    the integration for Home Assistant, against the real daemon; HA=2024.3.3 or 2025.4.4, or both"
	@echo "make soak [MINUTES=10]     random commands, outages and kills in real time"
	@echo "make check                 lint, the examples, the programs' size, the render path under sanitizers, a short fuzz run"
	@echo "make bench [RUNS=1]        how closely three rooms play, wired and on Wi-Fi, beside Snapcast: 10 minutes a run; as root, after make build"
	@echo "make bench-check           how exactly that is measured: 3 minutes; as root"
	@echo "make bench-report [WRITE=1]  the table of all results; or into the documents"
	@echo "make fuzz [SECONDS=30]     everything that reads bytes and decides on trust, so long for each part"
	@echo "make docs                  the library's documentation, in .build/docs"
	@echo "make build                 the programs in $(BUILD), manual pages and completions beside it"
	@echo "make deb [ARCH=amd64] [SUITE=bookworm]  Debian packages, in .build/packages; others than this machine's as root"
	@echo "make test-packages         installs, boots, pairs, plays, upgrades, removes the packages in clean systems; as root"
	@echo "make test-arm64            the arm64 packages under emulation, with a peer of this machine; as root"
	@echo "make install [PREFIX=/usr/local]   what was built; sudo make install"
	@echo "make install-service       the same, and a receiver that systemd starts at boot"
	@echo "make install-daemon        the programs, and the daemon of a household, which systemd starts at boot"
	@echo "make uninstall [PURGE=1]   takes all of them away again; with PURGE also pairings, queues and options"

setup:
	@scripts/setup.sh

# What root runs builds nothing: root has no toolchain in its path, and nothing to do in the build folder.
built = for program in tutti tutti-receiver; do test -x "$(1)/$$program" || \
	{ echo "$(1)/$$program is not built yet; run this first, as yourself: make build" >&2; exit 66; }; done

build: setup
	$(SWIFT) build -c release --static-swift-stdlib $(LINK) --product tutti
	$(SWIFT) build -c release --static-swift-stdlib $(LINK) --product tutti-receiver
	@scripts/manuals.sh $(BUILD)

ARCH ?= $(shell dpkg --print-architecture)
SUITE ?= $(shell . /etc/os-release && echo $$VERSION_CODENAME)
# A folder with programs that are built already, for `make deb`.
FROM ?=

deb:
	@scripts/deb.sh "$(ARCH)" "$(SUITE)" "$(FROM)"

test-packages:
	@Tests/Packages/run.sh "$(SUITE)"

test-arm64:
	@Tests/Packages/arm64-root.sh "$(SUITE)"
	@test "$(SUITE)" != trixie || scripts/cross.sh arm64 trixie core >/dev/null
	@Tests/Packages/arm64.sh "$(SUITE)"

run: build
	@scripts/run.sh "$(FILE)"

test: setup
	@scripts/test.sh

test-long: setup
	@TUTTI_LONG=1 scripts/test.sh --filter 'LongTests|SimulationTests|PlaylistModelTests|FloodTests|FloodingRoomTests|WireTests|BusyTests|ProgramTests.(AttackTests|LyingRoomTests|DoctorTests)'

test-page: build
	@Tests/Page/run.sh

test-far:
	@$(call built,$(BUILD))
	@unshare -m -n Tests/API/far.py

test-film: build
	$(SWIFT) build -c release --product tutti-c
	@Tests/Film/lips.py

test-airplay:
	@$(call built,$(BUILD))
	@Tests/Sources/airplay.py

test-servers:
	@$(call built,$(BUILD))
	@unshare -n sh -c 'ip link set lo up; Tests/Servers/subsonic.py && Tests/Servers/upnp.py && if command -v gerbera >/dev/null; then Tests/Servers/gerbera.py; fi'

test-second:
	@$(call built,$(BUILD))
	@unshare -n -m sh -c 'ip link set lo up; exec Tests/Second/second.py'

test-alarm:
	@$(call built,$(BUILD))
	@Tests/Alarms/alarm.py

test-mpd:
	@$(call built,$(BUILD))
	@Tests/MPD/exchanges.py $(if $(SHOW),--show)

test-mpd-clients:
	@$(call built,$(BUILD))
	@Tests/MPD/clients.py $(if $(SONGS),--songs $(SONGS)) $(CLIENT)

test-edits:
	@$(call built,$(BUILD))
	@for part in Edits/kills.py Edits/orders.py Second/moves.py; do unshare -n -m sh -c "ip link set lo up; exec Tests/$$part" || exit 1; done

test-loudness:
	@$(call built,$(BUILD))
	@unshare -n -m sh -c 'ip link set lo up; exec Tests/Loudness/loudness.py $(if $(TRACKS),--tracks $(TRACKS))'

test-homeassistant: build
	@Tests/HomeAssistant/run.sh

mutants: setup
	@Tests/Mutants/mutants.py $(if $(ONLY),--only '$(ONLY)')

soak: setup
	@TUTTI_SOAK_SECONDS=$$((60 * $(or $(MINUTES),10))) TUTTI_SOAK_RECORD=$(CURDIR)/.build/soak.tsv scripts/test.sh --filter SoakTests
	@/usr/bin/python3 -c 'import matplotlib' 2>/dev/null || { echo "no plot: python3-matplotlib is not installed"; exit 0; }; \
		Tests/Support/soak-plot.py .build/soak.tsv .build/soak.png && echo "soak: .build/soak.png shows what was taken, and when"

check: build lint
	scripts/check-size.sh $(BUILD)
	Tests/RealtimeTests/run.sh
	$(SWIFT) test --sanitize=thread --scratch-path .build-tsan --filter 'FrameRing|RenderQueue'
	$(MAKE) fuzz

PROGRAMS ?= $(BUILD)
BENCH := Benchmarks/bench/bench.py

bench:
	@$(call built,$(PROGRAMS))
	@Benchmarks/bench/setup.sh
	@$(BENCH) run wired wifi --peer snapcast --programs $(PROGRAMS) --runs $(or $(RUNS),1)

bench-check:
	@Benchmarks/bench/setup.sh
	@$(BENCH) check

bench-report:
	@$(BENCH) report $(if $(WRITE),--write)

fuzz: setup
	Tests/Fuzz/run.sh decoders $(or $(SECONDS),30)
	Tests/Fuzz/run.sh sessions $(or $(SECONDS),30)
	Tests/Fuzz/run.sh trust $(or $(SECONDS),30)
	Tests/Fuzz/run.sh channels $(or $(SECONDS),30)
	Tests/Fuzz/run.sh media $(or $(SECONDS),30)
	Tests/Fuzz/run.sh lines $(or $(SECONDS),30)
	Tests/Fuzz/run.sh sources $(or $(SECONDS),30)
	Tests/Fuzz/run.sh feeds $(or $(SECONDS),30)
	Tests/Fuzz/run.sh servers $(or $(SECONDS),30)
	Tests/Fuzz/run.sh records $(or $(SECONDS),30)

format-lint:
	$(SWIFT) format lint --strict --recursive Sources Tests Package.swift Examples/Package.swift Examples/Sources

lint: format-lint
	$(SWIFT) build --package-path Examples

docs:
	scripts/docs.sh

format:
	$(SWIFT) format --in-place --recursive Sources Tests Package.swift Examples/Package.swift Examples/Sources

PREFIX ?= /usr/local
ETC ?= /etc

# Builds nothing, as root runs it.
install:
	@scripts/install.sh "$(DESTDIR)" "$(PREFIX)" "$(BUILD)"

install-service: install
	@scripts/install-service.sh "$(DESTDIR)" "$(PREFIX)" "$(ETC)" tutti-receiver

install-daemon: install
	@scripts/install-service.sh "$(DESTDIR)" "$(PREFIX)" "$(ETC)" tutti

uninstall:
	@scripts/uninstall.sh "$(DESTDIR)" "$(PREFIX)" "$(ETC)" $(if $(PURGE),purge)

clean:
	rm -rf .build .build-tsan .build-rtsan Examples/.build
