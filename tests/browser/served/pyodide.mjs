// Stands before Pyodide's own loader: the interpreter is the same, but counts its proxies and can be reached by a probe.
import { loadPyodide as original, version } from "/pyodide/pyodide.mjs";

export { version };

export async function loadPyodide(options) {
  const pyodide = await original({ ...options, indexURL: new URL("/pyodide/", import.meta.url).href });
  pyodide._module.enable_pyproxy_allocation_tracing();
  globalThis.pyodide = pyodide;
  return pyodide;
}
