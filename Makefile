# demo and test install what they need; the other targets need the same packages.
.PHONY: demo docs man test test-stress soak sanitize api-parity bench bench-check fuzz protos format lint deps release install sbom clean
SWIFT ?= swift
PREFIX ?= /usr/local
BUILD = $(SWIFT) build --explicit-target-dependency-import-check error
PRODUCTS = sso-agent ssoctl entra-emulator modern-notes legacy-mail migration
SOURCES = Package.swift Sources Tests examples

# The main use, in a folder of its own: two generations of apps share one sign-in.
demo: deps
	@for product in $(PRODUCTS); do echo "building $$product …"; $(BUILD) --product $$product || exit 1; done
	@examples/demo.sh "$$($(SWIFT) build --show-bin-path)"

test: deps lint
	Protos/check.sh --if-possible
	$(BUILD) --build-tests
	Tests/APIParity/api_parity.py "$$($(SWIFT) build --show-bin-path)"
	SWIFT="$(SWIFT)" Tests/suite.sh

# The suite 20 times, under increasing load; prints the tally. ROUNDS=5 for fewer.
ROUNDS ?= 20
test-stress: deps
	$(BUILD) --build-tests
	Tests/stress.sh $(ROUNDS)

# The fault tests at length: 1,000 kills, and every bit of a store flipped. SSO_AGENT_SEED repeats a run.
soak: deps
	$(BUILD) --build-tests
	SSO_AGENT_ROUNDS=1000 SSO_AGENT_BITS=8 $(SWIFT) test --skip-build --filter "KillTests|DamageTests|FaultTests"

# The suite under the Address Sanitizer, and then under the Thread Sanitizer, each with a build of its own.
sanitize: deps
	for kind in address thread; do SWIFT="$(SWIFT)" Tests/Sanitizers/run.sh $$kind || exit 1; done

# Checks that every public symbol of the originals exists.
api-parity: deps
	$(BUILD)
	Tests/APIParity/api_parity.py "$$($(SWIFT) build --show-bin-path)"

bench: deps
	Tests/Benchmarks/run.sh

# Counts the instructions and allocations of a cache hit, with Valgrind, and fails if they are not those of costs.json.
bench-check: deps
	Tests/Benchmarks/run.sh --check-costs Tests/Benchmarks/costs.json

# Each decoder and each reader for a minute; SECONDS=900 for longer.
SECONDS ?= 60
fuzz:
	Tests/Fuzz/run.sh all $(SECONDS)

# The API of the modules that apps import, with articles and a tutorial, in .build/docs; a warning is an error.
docs: deps
	for target in MSAL ADAL AgentClient; do $(BUILD) --target $$target || exit 1; done
	.ci/docs "$$($(SWIFT) build --show-bin-path)" .build/docs

# The manual pages, from what `--help` says and from docs/, in .build/man. PROGRAMS=FOLDER takes programs that are built.
man: deps
	@[ -n "$(PROGRAMS)" ] || for product in sso-agent ssoctl entra-emulator; do $(BUILD) --product $$product || exit 1; done
	rm -rf .build/man
	packaging/manual/generate.py "$(or $(PROGRAMS),$$($(SWIFT) build --show-bin-path))" .build/man

protos:
	Protos/generate.sh

format:
	$(SWIFT) format --in-place --recursive $(SOURCES)

lint:
	$(SWIFT) format lint --strict --recursive $(SOURCES)

# Installs the packages that the build and the tests need and a fresh Debian or Ubuntu does not have, if any is missing. The first
# build has the versions of a release.
deps:
	@.ci/install-deps
	@[ -e Package.resolved ] || cp packaging/versions.json Package.resolved

# A small static agent and command line. On Linux, Swift exports every symbol of an executable, which keeps unused code in it;
# equal functions are folded; and the C++ library, which Swift's runtime uses a little of, is linked in: a folder with only its static
# form comes first.
RELEASE = $(SWIFT) build -c release --static-swift-stdlib --only-use-versions-from-resolved-file
ifeq ($(shell uname),Linux)
STATIC_CXX = $(CURDIR)/.build/static-c++
RELEASE += -Xlinker --no-export-dynamic -Xlinker --icf=safe -Xlinker -L$(STATIC_CXX)
RELEASE += -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now
endif
release: deps
	cp packaging/versions.json Package.resolved
ifeq ($(shell uname),Linux)
	mkdir -p $(STATIC_CXX)
	ln -sf "$$(cc -print-file-name=libstdc++.a)" $(STATIC_CXX)
endif
	$(RELEASE) --product sso-agent
	$(RELEASE) --product ssoctl
	.ci/check-hardening "$$($(SWIFT) build -c release --show-bin-path)/sso-agent" "$$($(SWIFT) build -c release --show-bin-path)/ssoctl"

install: release
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -s -m 0755 "$$($(SWIFT) build -c release --show-bin-path)/sso-agent" "$$($(SWIFT) build -c release --show-bin-path)/ssoctl" "$(DESTDIR)$(PREFIX)/bin"
ifeq ($(shell uname),Linux)
	install -d "$(DESTDIR)$(PREFIX)/lib/systemd/user"
	for unit in sso-agent.service sso-agent.socket; do \
		sed 's#/usr/local/bin#$(PREFIX)/bin#' packaging/systemd/$$unit >"$(DESTDIR)$(PREFIX)/lib/systemd/user/$$unit" || exit 1; \
	done
else
	install -d "$(DESTDIR)$(PREFIX)/share/sso-agent"
	sed 's#/usr/local/bin#$(PREFIX)/bin#' packaging/launchd/sso-agent.plist >"$(DESTDIR)$(PREFIX)/share/sso-agent/sso-agent.plist"
endif

# The packages and libraries in the agent and ssoctl, as SPDX 2.3.
sbom:
	@.ci/sbom

clean:
	$(SWIFT) package clean
