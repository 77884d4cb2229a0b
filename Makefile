.PHONY: demo help docs man completions test test-stress test-packages soak sanitize api-parity bench bench-check link-order fuzz protos \
	format lint deps test-deps release install uninstall deb rpm packages sbom clean
# demo and test install what they need; the other targets need the same packages. SWIFT is the toolchain, for the scripts too.
SWIFT ?= swift
export SWIFT
PREFIX ?= /usr/local
BUILD = $(SWIFT) build --explicit-target-dependency-import-check error
PRODUCTS = sso-agent ssoctl entra-emulator modern-notes legacy-mail migration
SOURCES = Package.swift Sources Tests examples

# Shows the main use, in a folder of its own: two generations of apps share one sign-in.
demo: deps
	@for product in $(PRODUCTS); do echo "building $$product …"; $(BUILD) --product $$product || exit 1; done
	@examples/demo.sh "$$($(SWIFT) build --show-bin-path)"

# Lists the targets: of the comment before each, the first sentence.
help:
	@awk '/^# / { text = text substr($$0, 2) } \
		/^[a-z-]+:/ && text != "" { sub(/[.] .*/, ".", text); printf "  make %-14s%s\n", substr($$1, 1, index($$1, ":") - 1), text } \
		/^\t/ || /^$$/ || /^[a-z-]+:/ { text = "" }' Makefile

# Runs everything that is tested before a change is accepted.
test: test-deps lint
	Protos/check.sh --if-possible
	$(BUILD) --build-tests
	Tests/APIParity/api_parity.py "$$($(SWIFT) build --show-bin-path)"
	Tests/Packaging/install_test.sh "$$($(SWIFT) build --show-bin-path)"
	Tests/suite.sh

# Runs the suite 20 times, under increasing load, and prints the tally. ROUNDS=5 for fewer.
ROUNDS ?= 20
test-stress: test-deps
	$(BUILD) --build-tests
	Tests/stress.sh $(ROUNDS)

# Runs the fault tests at length, for hours: 1,000 kills, every bit of a store flipped, and a million changes of what apps keep.
# COHERENCE_ROUNDS= for fewer changes; SSO_AGENT_SEED repeats a run.
COHERENCE_ROUNDS ?= 1000000
soak: deps
	$(BUILD) --build-tests
	SSO_AGENT_ROUNDS=1000 SSO_AGENT_BITS=8 $(SWIFT) test --skip-build --filter "KillTests|DamageTests|FaultTests"
	SSO_AGENT_COHERENCE_ROUNDS=$(COHERENCE_ROUNDS) $(SWIFT) test --skip-build --filter CoherenceRoundsTests

# Runs the suite under the Address Sanitizer, and then under the Thread Sanitizer, each with a build of its own.
sanitize: test-deps
	for kind in address thread; do Tests/Sanitizers/run.sh $$kind || exit 1; done

# Checks that every public symbol of the originals exists.
api-parity: deps
	$(BUILD)
	Tests/APIParity/api_parity.py "$$($(SWIFT) build --show-bin-path)"

# Measures what a token costs, beside C and other programs.
bench: deps
	Tests/Benchmarks/run.sh

# Counts the instructions and allocations of a cache hit, with Valgrind, and fails if they are not those of costs.json.
bench-check: deps
	Tests/Benchmarks/run.sh --check-costs Tests/Benchmarks/costs.json

# Records the order in which the functions of the released programs are linked, with Valgrind, before a release.
link-order: deps
	packaging/order/record

# Feeds each decoder and each reader with random bytes for a minute. SECONDS=900 for longer.
SECONDS ?= 60
fuzz:
	Tests/Fuzz/run.sh all $(SECONDS)

# Makes the documents of the modules that apps import, with articles and a tutorial, in .build/docs. A warning is an error.
docs: deps
	for target in MSAL ADAL AgentClient; do $(BUILD) --target $$target || exit 1; done
	.ci/docs "$$($(SWIFT) build --show-bin-path)" .build/docs

# Generates the C code of the protocol, and its tables.
protos:
	Protos/generate.sh

# Formats the sources in place.
format:
	$(SWIFT) format --in-place --recursive $(SOURCES)

# Checks the format of the sources.
lint:
	$(SWIFT) format lint --strict --recursive $(SOURCES)

# Installs the packages that the build needs, if any is missing. The first build has the versions of a release.
deps:
	@.ci/install-deps $(ALSO)
	@[ -e Package.resolved ] || cp packaging/versions.json Package.resolved

# Installs also what only tests need.
test-deps: ALSO = tests
test-deps: deps

RELEASED = sso-agent ssoctl entra-emulator
# Builds the programs as they are released, in .build/release.
release: ALSO += release
release: deps
	packaging/build $(RELEASED)
	bin=$$($(SWIFT) build -c release --show-bin-path) && .ci/check-hardening $(RELEASED:%="$$bin/%")

# The folder of the executables to install and to package: those of "make release", which is run first, unless BIN names another one.
BIN ?=
BUILT = $(or $(BIN),$$($(SWIFT) build -c release --show-bin-path))
COMPONENTS ?= sso-agent
MANIFESTS = $(PREFIX)/share/sso-agent/installed

# Installs the programs, as root: "make release" first, then "sudo make install BIN=.build/release", since root seldom has the toolchain.
# It writes nothing into .build, where a file of root's would be in the way later.
install: $(if $(BIN),,release)
	BIN="$(BUILT)" PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" MANIFESTS="$(MANIFESTS)" packaging/install $(COMPONENTS)

# Removes what was installed. Users' stores and configurations stay.
uninstall:
	DESTDIR="$(DESTDIR)" MANIFESTS="$(MANIFESTS)" packaging/uninstall

# Makes the manual pages, from what `--help` says and from docs/, in .build/man.
man: $(if $(BIN),,release)
	rm -rf .build/man
	packaging/manual/generate.py "$(BUILT)" .build/man

# Makes the completions of bash, zsh and fish, in .build/completions.
completions: $(if $(BIN),,release)
	packaging/completions "$(BUILT)" .build/completions

PACKAGES = .build/packages
# Makes the packages of Debian, in .build/packages. PACKAGE_VERSION=0.1.0~rc1 makes a version before 0.1.0.
deb: ALSO += deb
deb: $(if $(BIN),,release)
	BIN="$(BUILT)" CHECKOUTS=.build/checkouts packaging/build-deb $(PACKAGES)

# Makes the packages of Fedora, in the same way.
rpm: $(if $(BIN),,release)
	BIN="$(BUILT)" CHECKOUTS=.build/checkouts packaging/build-rpm $(PACKAGES)

# Makes everything of a release: the packages, the bill of materials, the sources, and the sums of all these.
packages: deb rpm
	.ci/sbom >"$(PACKAGES)/sso-agent-$$(packaging/version).spdx.json"
	git archive --prefix="sso-agent-$$(packaging/version)/" HEAD | gzip -9n >"$(PACKAGES)/sso-agent-$$(packaging/version).tar.gz"
	packaging/sums "$(PACKAGES)"

# Installs, upgrades and purges the packages in a clean Debian, as root.
test-packages: $(if $(BIN),,release)
	Tests/Packaging/packages_test.sh "$(BUILT)"

# Lists the packages and libraries in the agent, ssoctl and the emulator, as SPDX 2.3.
sbom:
	@.ci/sbom

# Removes what was built.
clean:
	$(SWIFT) package clean
