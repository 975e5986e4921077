/**
 * Starts Python where it is called: in a worker or in the page. Loads Pyodide from `indexURL`, the packages from its lock
 * file, and gives the functions of `unspool.bridge`. Evaluates no text as JavaScript.
 */
import { UnspoolError, fromWire, isUnspoolError, reasonText } from "./errors.js";
import type { BootOptions, BootProgress, BootStage, Versions } from "./wire.js";

/** `unspool.bridge` as the host sees it: JSON text in, JSON text out. */
export interface Bridge {
  open(text: string): Promise<string>;
  pull(text: string): Promise<string>;
  close(text: string): Promise<string>;
  cancel(text: string): string;
  step(text: string): string;
  /** Give every Python object back. */
  destroy(): void;
}

/** What Python gets to reach the models that are functions on the page. */
export interface PageAccess {
  open(request: string): Promise<string>;
  read(stream: string): Promise<string | null>;
  abort(stream: string): void;
  /** Show how a model of Python's own loads: BootProgress as JSON text. */
  progress(text: string): void;
}

export interface BootHooks {
  progress(progress: BootProgress): void;
  /** The interpreter is dead; it can come at any time after the boot. */
  fatal(error: unknown): void;
  readonly page: PageAccess;
}

export interface Booted {
  readonly bridge: Bridge;
  readonly versions: Versions;
}

export type Boot = (options: BootOptions, hooks: BootHooks) => Promise<Booted>;

/** The part of Pyodide's interface that is used here. */
export interface Pyodide {
  readonly version: string;
  loadPackage(
    names: string[],
    options: { errorCallback(text: string): void; messageCallback(text: string): void },
  ): Promise<unknown>;
  pyimport(name: string): PyModule;
  /** Package name to "default channel", or to the URL of its wheel. */
  readonly loadedPackages: Readonly<Record<string, string>>;
  readonly lockfile: { readonly packages: Readonly<Record<string, LockedPackage>> };
  readonly _api?: { on_fatal?: ((error: unknown) => unknown) | undefined };
}

interface LockedPackage {
  readonly name: string;
  readonly file_name: string;
  readonly depends: readonly string[];
}

interface PyModule {
  destroy(): void;
  readonly [name: string]: any;
}

interface PyodideModule {
  loadPyodide(options: Record<string, unknown>): Promise<Pyodide>;
}

const RUNTIME_FILES = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"] as const;
const EMPTY_WASM = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

/** Start Python. Rejects with UnspoolError: BOOT_FAILED, naming the file at fault; MODULE_ERROR for a module given. */
export const bootPython: Boot = async (options, hooks) => {
  const report = new ProgressReport(options, hooks);
  try {
    assertWasmAllowed();
    report.stage("runtime");
    const pyodide = await loadRuntime(options);
    watchForDeath(pyodide, hooks);
    report.stage("packages");
    await assertPackages(pyodide, options);
    report.stage("import");
    const booted = importBridge(pyodide, hooks.page);
    await registerModules(booted, options.modules);
    report.stage("ready");
    return { bridge: booted.bridge, versions: booted.versions };
  } catch (thrown) {
    if (isUnspoolError(thrown)) throw thrown;
    const missing = await missingFiles(options);
    const reason = missing.length > 0 ? `not found: ${missing.join(", ")}` : reasonText(thrown);
    throw new UnspoolError("BOOT_FAILED", `Python did not start: ${reason}`, { cause: thrown });
  } finally {
    report.end();
  }
};

/** Tell whether an error means that the interpreter can never be used again. */
export function isFatal(thrown: unknown): boolean {
  if (typeof thrown !== "object" || thrown === null) return false;
  if ((thrown as { pyodide_fatal_error?: unknown }).pyodide_fatal_error === true) return true;
  return thrown instanceof Error && /Pyodide already (fatally failed|exited)/.test(thrown.message);
}

function assertWasmAllowed(): void {
  try {
    new WebAssembly.Module(EMPTY_WASM);
  } catch (thrown) {
    throw new UnspoolError(
      "BOOT_FAILED",
      "WebAssembly is not allowed here: the content security policy needs script-src 'wasm-unsafe-eval'.",
      { cause: thrown },
    );
  }
}

async function loadRuntime(options: BootOptions): Promise<Pyodide> {
  const { loadPyodide } = (await import(
    /* webpackIgnore: true */ /* @vite-ignore */ `${options.indexURL}pyodide.mjs`
  )) as PyodideModule;
  const watch = watchInstantiation();
  try {
    const loading = loadPyodide({
      indexURL: nodePath(options.indexURL),
      ...(options.lockFileURL !== undefined && { lockFileURL: nodePath(options.lockFileURL) }),
      packages: [...options.packages],
    });
    return await Promise.race([loading, watch.failure]);
  } finally {
    watch.end();
  }
}

/**
 * See failures of `WebAssembly.instantiateStreaming`. Pyodide only prints them and then waits for ever: a runtime file that
 * is missing, broken off or refused would hang the caller.
 */
function watchInstantiation(): { failure: Promise<never>; end(): void } {
  const original = WebAssembly.instantiateStreaming;
  if (typeof original !== "function") return { failure: new Promise(() => {}), end() {} };
  let fail!: (reason: unknown) => void;
  const failure = new Promise<never>((_, reject) => (fail = reject));
  failure.catch(() => {});
  const observed: typeof original = (source, imports) => {
    const instance = original.call(WebAssembly, source, imports);
    instance.catch((reason: unknown) => fail(new Error(`pyodide.asm.wasm: ${reasonText(reason)}`, { cause: reason })));
    return instance;
  };
  WebAssembly.instantiateStreaming = observed;
  return {
    failure,
    end() {
      if (WebAssembly.instantiateStreaming === observed) WebAssembly.instantiateStreaming = original;
    },
  };
}

/** Pyodide in Node reads lock files by path only. */
function nodePath(url: string): string {
  return url.startsWith("file://") ? decodeURIComponent(new URL(url).pathname) : url;
}

/** Pyodide's loader prints what it cannot load and goes on. Try once more what is not there, then say what it printed. */
async function assertPackages(pyodide: Pyodide, options: BootOptions): Promise<void> {
  const absent = absentPackages(pyodide, options.packages);
  if (absent.length === 0) return;
  const complaints: string[] = [];
  await pyodide.loadPackage(absent, { messageCallback() {}, errorCallback: (text) => complaints.push(text) });
  const missing = absentPackages(pyodide, options.packages);
  if (missing.length === 0) return;
  const files = missing.map((name) =>
    name.includes("://") ? name : `${name} (${pyodide.lockfile.packages[lockKey(name)]?.file_name})`,
  );
  throw new UnspoolError("BOOT_FAILED", `Packages did not load: ${files.join(", ")}. ${complaints.join(" ")}`);
}

/** The packages that are not loaded, out of these and all that they need. */
function absentPackages({ lockfile, loadedPackages }: Pyodide, names: readonly string[]): string[] {
  const [wheels, wanted] = [
    names.filter((name) => name.includes("://")),
    names.filter((name) => !name.includes("://")),
  ];
  const sources = new Set(Object.values(loadedPackages));
  const absent = wheels.filter((url) => !sources.has(url));
  const seen = new Set<string>();
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    const key = lockKey(name);
    const found = lockfile.packages[key];
    if (found === undefined || seen.has(key)) continue; // the loader itself refuses names that are not in the lock file
    seen.add(key);
    if (!(found.name in loadedPackages)) absent.push(found.name);
    wanted.push(...found.depends);
  }
  return absent;
}

/** Lock files call a package by its normalized name. */
function lockKey(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, "-");
}

function watchForDeath(pyodide: Pyodide, hooks: BootHooks): void {
  const api = pyodide._api;
  if (api === undefined) return;
  const before = api.on_fatal;
  api.on_fatal = (error) => {
    hooks.fatal(error);
    return before?.(error);
  };
}

function importBridge(pyodide: Pyodide, page: PageAccess): Booted & { register(text: string): Promise<string> } {
  const module = pyodide.pyimport("unspool.bridge");
  const held: PyModule[] = [module];
  const hold = (name: string): ((text: string) => unknown) => {
    const found = module[name] as PyModule & ((text: string) => unknown);
    held.push(found);
    return found;
  };
  const [open, pull, close, cancel, step, register, connectPage] = [
    hold("open"),
    hold("pull"),
    hold("close"),
    hold("cancel"),
    hold("step"),
    hold("register"),
    hold("connect_page") as unknown as (page: PageAccess) => void,
  ];
  connectPage(page);
  const package_ = pyodide.pyimport("unspool");
  const unspool = String(package_["__version__"]);
  package_.destroy();
  return {
    versions: { unspool, pyodide: pyodide.version },
    register: async (text) => answerText(await register(text)),
    bridge: {
      open: async (text) => answerText(await open(text)),
      pull: async (text) => answerText(await pull(text)),
      close: async (text) => answerText(await close(text)),
      cancel: (text) => answerText(cancel(text)),
      step: (text) => answerText(step(text)),
      destroy() {
        for (const proxy of held.splice(0)) proxy.destroy();
      },
    },
  };
}

/** Let only text out of Python; anything else is given back at once. */
function answerText(answer: unknown): string {
  if (typeof answer === "string") return answer;
  (answer as Partial<PyModule> | null | undefined)?.destroy?.();
  throw new UnspoolError("BRIDGE_PROTOCOL", "The Python side answered with something that is not text.");
}

async function registerModules(
  python: { register(text: string): Promise<string> },
  modules: Readonly<Record<string, string>>,
): Promise<void> {
  if (Object.keys(modules).length === 0) return;
  const answer = JSON.parse(await python.register(JSON.stringify({ modules }))) as { ok: boolean; error?: unknown };
  if (!answer.ok) throw fromWire(answer.error);
}

/** Ask for each file that every start needs; name those that the server does not give. */
async function missingFiles(options: BootOptions): Promise<string[]> {
  if (!/^https?:/.test(options.indexURL)) return [];
  const lock = options.lockFileURL ?? `${options.indexURL}pyodide-lock.json`;
  const urls = [...RUNTIME_FILES.map((name) => options.indexURL + name), lock];
  const answers = await Promise.all(
    urls.map(async (url) => {
      try {
        const { ok, status } = await fetch(url, { method: "HEAD" });
        return ok ? null : `${url} (HTTP ${status})`;
      } catch {
        return `${url} (no answer)`;
      }
    }),
  );
  return answers.filter((answer) => answer !== null);
}

/** Counts what arrives, with the browser's own resource timing: it costs the downloads nothing. */
class ProgressReport {
  readonly #hooks: BootHooks;
  readonly #prefixes: readonly string[];
  #observer: PerformanceObserver | undefined;
  #stage: BootStage = "runtime";
  #loadedBytes = 0;

  constructor(options: BootOptions, hooks: BootHooks) {
    this.#hooks = hooks;
    this.#prefixes = [options.indexURL, ...options.packages.filter((name) => name.includes("://"))];
    if (typeof PerformanceObserver !== "function") return;
    this.#observer = new PerformanceObserver((list) => this.#arrived(list.getEntries()));
    this.#observer.observe({ entryTypes: ["resource"] });
  }

  stage(stage: BootStage): void {
    this.#stage = stage;
    this.#report();
  }

  end(): void {
    this.#observer?.disconnect();
  }

  #arrived(entries: readonly PerformanceEntry[]): void {
    for (const entry of entries) {
      if (!this.#prefixes.some((prefix) => entry.name.startsWith(prefix))) continue;
      this.#loadedBytes += (entry as PerformanceResourceTiming).encodedBodySize;
      this.#report(entry.name.slice(entry.name.lastIndexOf("/") + 1));
    }
  }

  #report(detail?: string): void {
    this.#hooks.progress({
      stage: this.#stage,
      loadedBytes: this.#loadedBytes,
      ...(detail !== undefined && { detail }),
    });
  }
}
