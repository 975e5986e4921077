# Every command of the project. Each does its own set-up; a finished set-up step is stamped and not done again.
.DEFAULT_GOAL := help
.PHONY: help setup demo serve test check bench parity reference wheel npm dist lock clean
bin := .venv/bin
ready := .venv/.ready web/node_modules/.ready build/stamps/browsers

help:   ## what there is to make
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16
setup: $(ready)   ## uv, Python packages, npm packages, Chromium and Firefox
demo: setup   ## a typed answer from a real model in a web page (ENGINE=page|llama.cpp|scripted)
	$(bin)/unspool demo
serve: setup   ## the demo page, until interrupted
	$(bin)/unspool serve
# A browser on a busy machine now and then loses a worker or an engine: what failed there is asked once more, alone.
test: setup check dist build/stamps/downloads build/sdks/.ready web/test-sdks/node_modules/.ready   ## everything: checks, then all tests in every realm
	$(bin)/pytest -n auto --maxprocesses 4 --dist loadfile --ignore tests/browser
	$(bin)/pytest -n auto --maxprocesses 2 --dist worksteal tests/browser || $(bin)/pytest --last-failed tests/browser
check: .venv/.ready web/node_modules/.ready   ## ruff, mypy, pyright, tsc
	$(bin)/ruff check && $(bin)/ruff format --check && $(bin)/mypy && $(bin)/pyright && npm --prefix web run -s check
bench: setup dist build/peers/.ready   ## one JSON line a figure, kept in build/bench.jsonl
	$(bin)/python -m tests.bench
parity: .venv/.ready   ## our schemas beside langfun's, into docs/parity.md
	$(bin)/python -m tests.parity --write
reference: .venv/.ready web/node_modules/.ready   ## the reference in docs/reference/, out of docstrings and declarations
	$(bin)/python -m tests.reference --write
wheel: .venv/.ready   ## the Python wheel, in build/wheel
	$(bin)/python -m build --wheel --no-isolation --outdir build/wheel
npm: web/node_modules/.ready   ## the npm package, in build/npm
	mkdir -p build/npm && cd web && npm pack --silent --pack-destination ../build/npm
dist: .venv/.ready web/node_modules/.ready   ## the self-hosted folder: Pyodide, wheels, shim, pages
	$(bin)/unspool bundle
lock: .venv/.ready   ## resolve requirements/*.txt and web/package-lock.json anew
	sh tools/lock.sh
clean:   ## remove what was built; set-up stays
	rm -rf build/wheel build/npm dist web/lib web/LICENSE .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/.ready: requirements/dev.txt pyproject.toml
	sh tools/setup.sh python && touch $@
web/node_modules/.ready: web/package.json web/package-lock.json
	sh tools/setup.sh web && touch $@
web/test-sdks/node_modules/.ready: web/node_modules/.ready web/test-sdks/package-lock.json
	sh tools/setup.sh web-sdks && touch $@
build/stamps/downloads: .venv/.ready web/node_modules/.ready $(wildcard requirements/*.txt)
	$(bin)/python -m tests.tools.downloads && mkdir -p $(@D) && touch $@
build/sdks/.ready build/peers/.ready: build/%/.ready: .venv/.ready requirements/%.txt
	sh tools/setup.sh $* && touch $@
build/stamps/browsers: .venv/.ready
	sh tools/setup.sh browsers && mkdir -p $(@D) && touch $@
