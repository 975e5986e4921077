#!/bin/sh
# Sets up what the Makefile needs, from a fresh clone with only git, make, python3 and node there.
#
#   sh tools/setup.sh uv         prints the uv to use; installs one under build/ when there is none
#   sh tools/setup.sh python     .venv with the locked packages and this package, editable
#   sh tools/setup.sh web        web/node_modules by its lock
#   sh tools/setup.sh sdks       build/sdks: the SDKs that tests read streams with, beside .venv and not in it
#   sh tools/setup.sh web-sdks   web/test-sdks/node_modules by its lock: the npm SDKs that tests read streams with
#   sh tools/setup.sh peers      build/peers: other readers of JSON that the bench measures, likewise
#   sh tools/setup.sh browsers   Chromium and Firefox: found, or installed by apt-get, or by Playwright
#
# Network: the package registries, through their own clients, and nothing else.
set -eu
cd "$(dirname "$0")/.."
# A machine behind a proxy has its certificates in the system's store.
export UV_SYSTEM_CERTS=1

say() { echo "setup: $*" >&2; }
die() { say "$*"; exit 1; }
runs() { "$@" >/dev/null 2>&1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then sudo -n "$@"
    else return 1
    fi
}

apt_install() {
    command -v apt-get >/dev/null || return 1
    say "apt-get install $*"
    as_root apt-get update -qq >/dev/null || return 1
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

uv_venv() {
    rm -rf build/uv
    python3 -m venv build/uv >/dev/null 2>&1
}

find_uv() {
    # A shim may be on PATH for a Python that is not selected: only a uv that answers counts.
    if runs uv --version; then echo uv; return; fi
    if ! runs build/uv/bin/uv --version; then
        say "uv into build/uv"
        uv_venv || { apt_install python3-venv && uv_venv; } || die "python3 -m venv does not work: install python3-venv, or uv"
        build/uv/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/uv.txt >&2
    fi
    echo build/uv/bin/uv
}

find_python() {
    wanted='import ssl, sys; sys.exit(not (3, 12) <= sys.version_info < (3, 15))'
    for name in python3.14 python3.13 python3.12 python3; do
        if runs "$name" -c "$wanted"; then command -v "$name"; return; fi
    done
    for version in 3.14 3.13 3.12; do
        for python in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python3; do
            if runs "$python" -c "$wanted"; then echo "$python"; return; fi
        done
    done
    echo 3.13  # none here: uv downloads it
}

setup_python() {
    uv=$(find_uv)
    if ! runs .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then
        python=$(find_python)
        say ".venv with $python"
        rm -rf .venv
        "$uv" venv -q --python "$python" .venv ||
            die "no Python 3.12 to 3.14 here, and uv could not fetch one: install one so that python3.13 runs, then try again"
    fi
    say "the packages of requirements/dev.txt"
    "$uv" pip sync -q --python .venv/bin/python --require-hashes requirements/dev.txt
    "$uv" pip install -q --python .venv/bin/python --no-deps --no-build-isolation --editable .
    # pyright is an npm package behind a Python one: fetch it now rather than in the first check.
    .venv/bin/pyright --version >/dev/null
    # llama.cpp's server is linked to a system library that a small machine lacks.
    runs .venv/bin/python -c 'import xllamacpp' || apt_install libgomp1 ||
        say "llama.cpp's server will not run: install libgomp (Debian: libgomp1)"
}

setup_aside() { # name of the lock and of the folder
    uv=$(find_uv)
    say "the packages of requirements/$1.txt"
    rm -rf "build/$1"
    "$uv" pip install -q --python .venv/bin/python --require-hashes --no-deps --target "build/$1" -r "requirements/$1.txt"
}

setup_web() {
    runs node --version || die "node is needed (20 or newer)"
    say "the packages of web/package-lock.json"
    (cd web && npm ci --no-fund --no-audit --loglevel=error >&2)
}

setup_web_sdks() {
    say "the packages of web/test-sdks/package-lock.json"
    (cd web/test-sdks && npm ci --ignore-scripts --no-fund --no-audit --loglevel=error >&2)
}

first_of() {
    for name in "$@"; do
        if runs "$name" --version; then command -v "$name"; return; fi
    done
    return 1
}

setup_browser() { # engine, Debian package, commands that may be there
    engine=$1 package=$2
    shift 2
    first_of "$@" >/dev/null && return
    if apt_install "$package" && first_of "$@" >/dev/null; then return; fi
    say "playwright install $engine"
    .venv/bin/playwright install --with-deps "$engine" >&2 || .venv/bin/playwright install "$engine" >&2 ||
        die "no $engine: install it so that one of '$*' runs, then try again"
}

case "${1:-}" in
uv) find_uv ;;
python) setup_python ;;
web) setup_web ;;
sdks | peers) setup_aside "$1" ;;
web-sdks) setup_web_sdks ;;
browsers)
    setup_browser chromium chromium chromium chromium-browser google-chrome
    setup_browser firefox firefox-esr firefox-esr firefox
    ;;
*) die "usage: sh tools/setup.sh uv|python|web|sdks|peers|web-sdks|browsers" ;;
esac
