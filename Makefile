# Lightlag: everything a developer or a user types. Each target sets up what it needs.
SHELL := bash
PYTHON ?= python3
VENV := .venv
PROFILE ?= release
BIN := target/$(PROFILE)/lightlag
PY := $(VENV)/bin/python

.PHONY: run test quick bench docs web fidelity fuzz torture lint install release clean help

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t12

run: ## build, run the quick study and two real scenarios, write the report
	@bash tools/run.sh

test: ## run every test of Rust and Python
	@$(PYTHON) tools/test.py

quick: ## the tests of algorithms, worlds, scenarios and judge: some 90 s once they are built
	@$(PYTHON) tools/test.py --quick

bench: $(BIN) ## time and memory beside The ONE, PONS, ns-2, ns-3 and ndnd (PROFILE=dist: as released; NS3_PYTHON: a Python with `ns3` of PyPI)
	@echo "$$($(BIN) --version), profile $(PROFILE)"
	@$(PYTHON) tools/bench.py --binary $(BIN)
	@$(PYTHON) tools/bench_pons.py --binary $(BIN)
	@$(PYTHON) tools/bench_packets.py --binary $(BIN) --ns3-python $(or $(NS3_PYTHON),$(PYTHON))
	@$(PYTHON) tools/bench_transfer.py --binary $(BIN)
	@$(PYTHON) tools/bench_names.py --binary $(BIN)
	@$(PYTHON) tools/bench_capture.py --binary $(BIN)
	@$(PYTHON) tools/bench_emulate.py --binary $(BIN)
	@$(PYTHON) tools/bench_sweep.py --binary $(BIN)
	@$(PYTHON) tools/bench_daemon.py --daemon target/$(PROFILE)/lightlagd
	@if command -v node >/dev/null && [ -x "$${CHROMIUM:-/usr/bin/chromium}" ]; then mkdir -p web/dist && gzip -dc crates/page/page.html.gz > web/dist/page.html && (cd web && npm ci --silent --no-fund --no-audit && node bench.mjs ../$(BIN)); \
	else echo "bench: Node.js or Chromium is missing: the page is not measured"; fi

fidelity: $(BIN) ## our figures beside those of The ONE (THE_ONE: a copy of it, for the cells with its maps) and ns-2, point by point, names beside ndnd and NDNts, bundles beside dtn7-rs, Hardy and licklider, captures beside tshark and tcptrace, routes beside aiodtnsim, senders on sockets beside simulated ones
	@failed=0; for check in fidelity fidelity_models fidelity_ns2 fidelity_names names_path fidelity_capture fidelity_dccp fidelity_bundles fidelity_peers fidelity_guide fidelity_daemon fidelity_routes fidelity_scorecard; do \
	  $(PYTHON) tools/$$check.py --binary $(BIN) || failed=1; \
	done; exit $$failed

docs: $(VENV)/.ready ## the manual (out/docs), with the page that its examples open, and the API of the crates (target/doc)
	$(PY) -m pip install --quiet --requirement docs/requirements.txt
	$(PY) -m zensical build --strict --clean --config-file mkdocs.yml
	gzip -dc crates/page/page.html.gz > out/docs/page.html
	cargo doc --quiet --workspace --no-deps

web: ## the page (web/dist/page.html and, for programs, crates/page), with the worlds as WebAssembly for it (out/web/web) and for Node (out/web/node)
	@rustup target list --installed 2>/dev/null | grep -q wasm32-unknown-unknown || { echo "make web: the target is missing; rustup target add wasm32-unknown-unknown" >&2; exit 2; }
	cargo run --quiet -p lightlag-web --example bindings -- out/web
	@command -v npm >/dev/null || { echo "make web: npm is missing; install Node.js 20 or later" >&2; exit 2; }
	cd web && npm ci --silent --no-fund --no-audit && npm run --silent build
	cargo run --quiet -p lightlag-page --example pack -- web/dist/page.html

fuzz: ## fuzz every parser, SECONDS each (default 600)
	@bash fuzz/run.sh $${SECONDS_EACH:-600}

torture: ## the attacks that take minutes: a table of load held, faults survived, bad inputs tried
	@$(PYTHON) tools/torture.py --seconds-of-fuzzing $(or $(SECONDS_EACH),60)

lint: $(VENV)/.ready ## formatting, lints, and licences and sources of the libraries (with cargo-deny)
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	$(PY) -m ruff check python scenarios tests tools examples
	$(PY) -m ruff format --check python scenarios tests tools examples
	@if cargo deny --version >/dev/null 2>&1; then cargo deny --log-level error check licenses bans sources; \
	else echo "lint: cargo-deny is missing: licences and sources of the libraries are not checked; cargo install --locked cargo-deny"; fi

$(BIN): FORCE
	@cargo build --quiet --profile $(PROFILE) -p lightlag-cli --features lightlag-cli/daemon -p lightlag-daemon -p lightlag-run
FORCE:

$(VENV)/.ready: pyproject.toml
	@bash tools/venv.sh

install: ## lightlag, lightlagd, lightlag-run, liblightlag, manual pages, completions and unit under PREFIX (/usr/local), in DESTDIR
	cargo build --quiet --profile dist -p lightlag-cli --features lightlag-cli/daemon -p lightlag-daemon -p lightlag-socket -p lightlag-run
	@DESTDIR=$(DESTDIR) PREFIX=$(or $(PREFIX),/usr/local) bash tools/install.sh target/dist

release: ## packages, wheels, crates and an image in out/release, tried in a bare Debian (an hour; as root; PROFILE: dist)
	@PROFILE=$(or $(RELEASE_PROFILE),dist) $(PYTHON) tools/release.py

clean: ## remove what was built
	rm -rf target out $(VENV) .tools
