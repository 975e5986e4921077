// Runs the bench modules inside Pyodide, in this worker: one message a module, then null.
import { loadPyodide } from "/pyodide/pyodide.mjs";

const { sources, modules } = await (await fetch("/bench-sources.json")).json();
const pyodide = await loadPyodide({ indexURL: "/pyodide/", packages: ["pydantic", "unspool"] });
for (const [path, text] of Object.entries(sources)) {
  pyodide.FS.mkdirTree(`/repo/${path.slice(0, path.lastIndexOf("/"))}`);
  pyodide.FS.writeFile(`/repo/${path}`, text);
}
pyodide.runPython(`
import sys
sys.path.insert(0, "/repo")

async def measured(name):
    import importlib, inspect, json, traceback
    try:
        told = importlib.import_module(f"tests.bench.{name}").measure("pyodide")
        return json.dumps({"figures": await told if inspect.isawaitable(told) else told})
    except Exception:
        return json.dumps({"failed": f"{name} in the worker:\\n{traceback.format_exc()}"})
`);
for (let second = 0; second < 15; second += 1) pyodide.runPython("from tests.bench.scanner import warm_up; warm_up()");
for (const name of modules) postMessage(await pyodide.runPythonAsync(`await measured(${JSON.stringify(name)})`));
postMessage(null);
