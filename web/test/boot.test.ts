import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { bootPython, type BootHooks, type Pyodide } from "../lib/boot.js";
import type { BootProgress } from "../lib/index.js";
import { failing } from "./connections.js";
import { settle } from "./support.js";

/** What the `pyodide.mjs` of the test folder gives. */
interface FakeRuntime {
  load(options: Record<string, unknown>): Promise<Pyodide>;
}

const globals = globalThis as unknown as { fakeRuntime: FakeRuntime };
let folder: string;
let indexURL: string;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "unspool-boot-"));
  writeFileSync(
    join(folder, "pyodide.mjs"),
    "export const loadPyodide = (options) => globalThis.fakeRuntime.load(options);",
  );
  indexURL = `${pathToFileURL(folder).href}/`;
});
after(() => rmSync(folder, { recursive: true }));

function hooks(): BootHooks & { progressed: BootProgress[]; deaths: unknown[] } {
  const progressed: BootProgress[] = [];
  const deaths: unknown[] = [];
  const never = (): never => assert.fail("the page was asked");
  return {
    progressed,
    deaths,
    progress: (progress) => void progressed.push(progress),
    fatal: (error) => void deaths.push(error),
    page: { open: never, read: never, abort: never, progress: never },
  };
}

/** Pyodide with a `unspool.bridge` that answers everything with `answer`. */
function runtime(
  answer: (text: string) => unknown = () => '{"ok":true,"value":{}}',
  broken: readonly string[] = [],
): {
  pyodide: Pyodide;
  live: Set<string>;
  loadedPackages: Record<string, string>;
} {
  const live = new Set<string>();
  const proxy = (name: string): unknown => {
    live.add(name);
    return Object.assign((text: string) => answer(text), { destroy: () => live.delete(name) });
  };
  const module = (name: string, members: Record<string, unknown>): { destroy(): void } => {
    live.add(name);
    return Object.assign({ destroy: () => void live.delete(name) }, members);
  };
  const names = ["open", "pull", "close", "cancel", "step", "register", "connect_page"];
  const locked = (name: string, ...depends: string[]): Pyodide["lockfile"]["packages"][string] => ({
    name,
    file_name: `${name}.whl`,
    depends,
  });
  const packages = {
    pydantic: locked("pydantic", "pydantic_core", "typing-extensions"),
    "pydantic-core": locked("pydantic_core", "typing-extensions"),
    "typing-extensions": locked("typing_extensions"),
    unspool: locked("unspool", "pydantic"),
  };
  const known = Object.values(packages).map(({ name }) => name);
  const loadedPackages = Object.fromEntries(
    known.filter((name) => !broken.includes(name)).map((name) => [name, "default channel"]),
  );
  return {
    live,
    loadedPackages,
    pyodide: {
      version: "314",
      _api: {},
      lockfile: { packages },
      loadedPackages,
      loadPackage: async (names, { errorCallback }) => errorCallback(`Failed to fetch ${names.join(" ")}`),
      pyimport: (name) =>
        name === "unspool"
          ? module(name, { __version__: "1" })
          : module(name, Object.fromEntries(names.map((member) => [member, proxy(member)]))),
    },
  };
}

const options = (): Parameters<typeof bootPython>[0] => ({ indexURL, packages: ["pydantic", "unspool"], modules: {} });

test("a start reports its stages in order and gives the bridge", async () => {
  const { pyodide, live } = runtime((text) => text);
  const seen = hooks();
  let loaded: Record<string, unknown> | undefined;
  globals.fakeRuntime = { load: async (given) => ((loaded = given), pyodide) };
  const { bridge, versions } = await bootPython(options(), seen);
  assert.deepEqual(loaded, { indexURL: `${folder}/`, packages: ["pydantic", "unspool"] });
  assert.deepEqual(versions, { unspool: "1", pyodide: "314" });
  assert.deepEqual(
    seen.progressed.map(({ stage }) => stage),
    ["runtime", "packages", "import", "ready"],
  );
  assert.equal(await bridge.pull("text"), "text");
  bridge.destroy();
  assert.deepEqual([...live], []);
});

test("an answer that is not text is destroyed and refused", async () => {
  let destroyed = 0;
  const { pyodide } = runtime(() => ({ destroy: () => (destroyed += 1) }));
  globals.fakeRuntime = { load: async () => pyodide };
  const { bridge } = await bootPython(options(), hooks());
  for (const call of [bridge.open, bridge.pull, bridge.close])
    assert.equal((await failing(call("x"))).code, "BRIDGE_PROTOCOL");
  assert.throws(() => bridge.cancel("x"), { code: "BRIDGE_PROTOCOL" });
  assert.equal(destroyed, 4);
});

test("modules are registered in one message; a refusal is the start's error", async () => {
  const modules = { models: "class A: ..." };
  const seen: string[] = [];
  globals.fakeRuntime = { load: async () => runtime((text) => (seen.push(text), '{"ok":true,"value":{}}')).pyodide };
  await bootPython({ ...options(), modules }, hooks());
  assert.deepEqual(
    seen.slice(-1).map((text) => JSON.parse(text) as unknown),
    [{ modules }],
  );
  const refusal = '{"ok":false,"error":{"code":"MODULE_ERROR","message":"no"}}';
  globals.fakeRuntime = { load: async () => runtime(() => refusal).pyodide };
  assert.equal((await failing(bootPython({ ...options(), modules }, hooks()))).code, "MODULE_ERROR");
});

test("a package that Pyodide only complains about fails the start, also one that others need", async () => {
  globals.fakeRuntime = { load: async () => runtime(undefined, ["pydantic_core"]).pyodide };
  const error = await failing(bootPython(options(), hooks()));
  assert.deepEqual(
    [error.code, error.message],
    ["BOOT_FAILED", "Packages did not load: pydantic_core (pydantic_core.whl). Failed to fetch pydantic_core"],
  );
});

test("a package that comes at the second try is no fault", async () => {
  const { pyodide, loadedPackages } = runtime(undefined, ["pydantic"]);
  const asked: string[][] = [];
  globals.fakeRuntime = {
    load: async () => ({
      ...pyodide,
      loadPackage: async (names) => (asked.push(names), (loadedPackages["pydantic"] = "default channel")),
    }),
  };
  await bootPython(options(), hooks());
  assert.deepEqual(asked, [["pydantic"]]);
});

test("a wheel that did not load is named by its URL", async () => {
  const { pyodide, loadedPackages } = runtime();
  globals.fakeRuntime = { load: async () => pyodide };
  const wheels = ["https://x.example/a-1-py3-none-any.whl", "https://x.example/b-1-py3-none-any.whl"];
  loadedPackages["a"] = wheels[0]!;
  const error = await failing(bootPython({ ...options(), packages: wheels }, hooks()));
  assert.match(error.message, /did not load: https:\/\/x\.example\/b-1-py3-none-any\.whl\./);
});

test("a failed instantiation ends the start, though Pyodide would wait for ever", async () => {
  const original = WebAssembly.instantiateStreaming;
  globals.fakeRuntime = {
    load: () => {
      WebAssembly.instantiateStreaming(Promise.reject(new TypeError("Failed to fetch")), {}).catch(() => {});
      return new Promise(() => {});
    },
  };
  const error = await failing(bootPython(options(), hooks()));
  assert.deepEqual(
    [error.code, error.message],
    ["BOOT_FAILED", "Python did not start: pyodide.asm.wasm: Failed to fetch"],
  );
  assert.equal(WebAssembly.instantiateStreaming, original);
});

test("the death of the interpreter is heard at any time, beside what others listen for", async () => {
  const { pyodide } = runtime();
  const heard: unknown[] = [];
  pyodide._api!.on_fatal = (error) => heard.push(error);
  globals.fakeRuntime = { load: async () => pyodide };
  const seen = hooks();
  await bootPython(options(), seen);
  pyodide._api!.on_fatal("end");
  assert.deepEqual([seen.deaths, heard], [["end"], ["end"]]);
});

test("a policy without WebAssembly is named (F50)", async () => {
  const original = WebAssembly.Module;
  WebAssembly.Module = class {
    constructor() {
      throw new WebAssembly.CompileError("blocked by CSP");
    }
  } as unknown as typeof original;
  try {
    assert.match((await failing(bootPython(options(), hooks()))).message, /'wasm-unsafe-eval'/);
  } finally {
    WebAssembly.Module = original;
  }
});

test("files that the server does not have are listed (F47)", async () => {
  const have = new Set(["/py/pyodide.mjs", "/py/pyodide.asm.mjs", "/py/pyodide-lock.json"]);
  const server: Server = createServer((request, response) => {
    response.statusCode = have.has(request.url ?? "") ? 200 : 404;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/py/`;
  try {
    const error = await failing(bootPython({ ...options(), indexURL: base }, hooks()));
    const missing = ["pyodide.asm.wasm", "python_stdlib.zip"].map((name) => `${base}${name} (HTTP 404)`);
    assert.equal(error.message, `Python did not start: not found: ${missing.join(", ")}`);
    const lockFileURL = `${base}other-lock.json`;
    assert.match(
      (await failing(bootPython({ ...options(), indexURL: base, lockFileURL }, hooks()))).message,
      /other-lock\.json \(HTTP 404\)/,
    );
  } finally {
    server.close();
    await settle();
  }
});
