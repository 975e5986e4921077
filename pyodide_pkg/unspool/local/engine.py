"""Engine: one model file in llama.cpp as WebAssembly (npm `@wllama/wllama`), loaded once and shared by every call.

In: addresses and sizes. Out: OpenAI chat chunks, as JavaScript gives them. llama.cpp runs in a worker of wllama's own,
which a page and a worker can both start, so neither ever waits for it. Nothing of JavaScript is touched at import, and
JavaScript gets no Python object to hold: its functions are bound to each other, and its promises are awaited.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, NamedTuple

from unspool.errors import ConfigError, NetworkError, ProviderError, UnspoolError
from unspool.local.model_file import Progress, download, fetch_model
from unspool.stream.excerpt import excerpt

_LOOK_S = 0.25
"""How often a load looks whether wllama's worker has failed, of which no promise of wllama's tells."""
_LOG_ERRORS = 4
"""llama.cpp's log level that lets nothing but errors through."""
_SAID_CHARS = 300

_IMPORT_JS = "(url) => import(url)"

# wllama calls `replace` on the reason of an abort. WebAssembly may give an Error there, out of memory for one; the
# TypeError of that call is then caught by nobody, which ends a worker of ours, and the load never ends (wllama 3.13.0,
# ProxyToWorker.onRecvMsg).
_MEND_JS = """(wllama) => {
  let proxy = wllama.proxy;
  Object.defineProperty(wllama, "proxy", {
    get: () => proxy,
    set(next) {
      proxy = next;
      const receive = next?.onRecvMsg;
      if (typeof receive !== "function") return;
      next.onRecvMsg = function (event) {
        const args = event.data?.args;
        if (event.data?.verb === "signal.abort" && Array.isArray(args)) {
          args.splice(1, 2, String(args[1] ?? ""), String(args[2] ?? ""));
        }
        return receive.call(this, event);
      };
    },
  });
}"""


class EngineSpec(NamedTuple):
    """What makes two engines the same one."""

    model_url: str
    wllama_url: str
    wasm_url: str
    n_ctx: int
    n_threads: int | None
    n_gpu_layers: int


class Engine:
    """One loaded model. Get it with `shared_engine`."""

    def __init__(self, spec: EngineSpec) -> None:
        """Describe the engine; nothing is loaded."""
        self.spec = spec
        self._loading: asyncio.Task[None] | None = None
        self._waiting: list[Progress | None] = []
        self._wllama: Any = None
        self._logged: Any = None
        self._ending: set[asyncio.Task[None]] = set()

    async def ready(self, on_progress: Progress | None = None) -> None:
        """Wait until the model is loaded; the first to wait starts it.

        Args:
            on_progress: is told how the download goes, also when somebody else started it.
        Raises:
            ConfigError: UNSUPPORTED where there are no workers.
            NetworkError: NETWORK when the model or a file of wllama cannot be fetched.
            ProviderError: MODEL_NOT_FOUND when there is no model file at the address; the codes of HTTP failures;
                PROVIDER when llama.cpp cannot load it, for want of memory or because it is damaged.
        Cancellation:
            When the last one who waits is cancelled, the download is aborted and wllama's worker ended.
        """
        if self._wllama is not None:
            return
        if self._loading is None:
            self._loading = asyncio.ensure_future(self._load())
            self._loading.add_done_callback(_look_at)
        self._waiting.append(on_progress)
        try:
            await asyncio.shield(self._loading)
        except UnspoolError:
            forget(self)
            raise
        finally:
            self._waiting.remove(on_progress)
            if not self._waiting and not self._loading.done():
                forget(self)
                self._loading.cancel()

    def start(self, body: str) -> Generation:
        """Start an answer to an OpenAI chat request, given as JSON text with `stream`."""
        self._logged.length = 0
        return Generation(self, self._wllama, body)

    async def idle(self) -> None:
        """Wait until no stopped answer is being generated any more."""
        while self._ending:
            await asyncio.wait(set(self._ending))

    def errors_logged(self) -> str:
        """What llama.cpp has logged as an error since the last start; empty when nothing."""
        lines = [
            entry for entry in self._logged or () if isinstance(entry, str) and not entry.startswith("Stack trace")
        ]
        return excerpt(" ".join(lines), _SAID_CHARS)

    async def exit(self) -> None:
        """End wllama's worker and free the memory. Answers that are being read fail. Idempotent."""
        forget(self)
        if self._loading is not None:
            self._loading.cancel()
        wllama, self._wllama = self._wllama, None
        if wllama is not None:
            await wllama.exit()

    def finish_in_background(self, generation: Generation) -> None:
        """Let a stopped answer run out; it does within one token."""
        task = asyncio.ensure_future(generation.run_out())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _tell(self, done: int, total: int | None) -> None:
        for on_progress in self._waiting:
            if on_progress is not None:
                on_progress(done, total)

    async def _load(self) -> None:
        import js
        from pyodide.ffi import JsException

        if not hasattr(js, "Worker"):
            raise ConfigError("UNSUPPORTED", "A model in the page needs Web Workers; this realm has none.")
        controller = js.AbortController.new()
        wasm = wllama = None
        try:
            module = await _import_module(self.spec.wllama_url)
            wasm = js.URL.createObjectURL(await _fetch_wasm(self.spec.wasm_url, controller.signal))
            model = js.Array.of(await fetch_model(self.spec.model_url, controller.signal, self._tell))
            self._logged = js.Array.new()
            wllama = _make(module, wasm, self._logged)
            await self._until_loaded(wllama.loadModel(model, _load_options(self.spec)))
            if not wllama.getLoadedContextInfo().success:  # wllama does not look (3.13.0)
                raise self._load_failure("")
            self._wllama, wllama = wllama, None
        except JsException as error:
            raise self._load_failure(f"{error.name}: {error.message}") from error
        finally:
            controller.abort()
            if wllama is not None:
                wllama.exit().catch(js.Boolean)
            if wasm is not None:
                js.URL.revokeObjectURL(wasm)

    async def _until_loaded(self, promise: Any) -> None:
        loading = asyncio.ensure_future(promise)
        try:
            while not loading.done():
                await asyncio.wait({loading}, timeout=_LOOK_S)
                broken = [entry for entry in self._logged if hasattr(entry, "filename")]
                if broken and not loading.done():
                    raise self._load_failure(f"its worker failed: {broken[0].message}")
            await loading
        finally:
            loading.cancel()

    def _load_failure(self, said: str) -> ProviderError:
        words = excerpt(f"{said} {self.errors_logged()}".strip(), 2 * _SAID_CHARS)
        if any(sign in words.lower() for sign in ("memory", "oom", "alloc")):
            return ProviderError(
                "PROVIDER", f"The model does not fit into the memory that the browser gives ({words})."
            )
        return ProviderError("PROVIDER", f"llama.cpp could not load {self.spec.model_url} ({words}).")


class Generation:
    """One answer that is being generated. Made by `Engine.start`.

    Chunks go through a JavaScript TransformStream: wllama writes, Python reads. wllama's own async iterator would do,
    but when an answer fails while chunks of it wait to be read, that failure belongs to nobody for a while, and the
    page reports it as unhandled.
    """

    def __init__(self, engine: Engine, wllama: Any, body: str) -> None:
        import js

        pipe = js.TransformStream.new()
        writer = pipe.writable.getWriter()
        self._engine = engine
        self._reader = pipe.readable.getReader()
        self._controller = js.AbortController.new()
        options = js.JSON.parse(body)
        options.abortSignal = self._controller.signal
        options.onData = _bound(writer, "write")
        end = _bound(writer, "close")
        promise = wllama.createChatCompletion(options)
        promise.then(end, end)
        self._outcome = asyncio.ensure_future(promise)
        self._outcome.add_done_callback(_look_at)

    async def next(self) -> Any:
        """Wait for the next chunk, a JavaScript object; None at the end.

        Raises:
            JsException: wllama's error.
        """
        step = await self._reader.read()
        if not step.done:
            return step.value
        await self._outcome
        return None

    def stop(self) -> None:
        """Stop at the next token, or at the end of the prompt while that is being read. Does not wait."""
        self._controller.abort()
        self._engine.finish_in_background(self)

    async def run_out(self) -> None:
        """Read and drop what is left."""
        with contextlib.suppress(Exception):  # AbortError, or the end of the engine: no news
            while await self.next() is not None:
                pass


_engines: dict[EngineSpec, Engine] = {}


def shared_engine(spec: EngineSpec) -> Engine:
    """Give the engine of this spec: the one that is loaded or loading, or a new one."""
    return _engines.setdefault(spec, Engine(spec))


def forget(engine: Engine) -> None:
    """Let the next call load this model anew. Idempotent."""
    if _engines.get(engine.spec) is engine:
        del _engines[engine.spec]


async def _import_module(url: str) -> Any:
    from pyodide.code import run_js
    from pyodide.ffi import JsException

    try:
        return await run_js(_IMPORT_JS)(url)
    except JsException as error:
        raise NetworkError(
            f"wllama could not be loaded from {url} ({error.message}). Serve index.js and wasm/wllama.wasm of the npm "
            "package @wllama/wllama there, or give their addresses.",
            retryable=False,
        ) from error


async def _fetch_wasm(url: str, signal: Any) -> Any:
    """Get wllama.wasm here rather than in wllama's worker, where a missing file ends in an uncaught error."""
    try:
        blob = await download(url, signal, kind="application/wasm")
    except ProviderError as error:
        raise NetworkError(f"llama.cpp could not be loaded: {error.message}", retryable=error.retryable) from error
    head = (await blob.slice(0, 4).arrayBuffer()).to_bytes()
    if head != b"\0asm":
        raise NetworkError(f"{url} is no WebAssembly: it begins with {head!r}.", retryable=False)
    return blob


def _make(module: Any, wasm_url: str, logged: Any) -> Any:
    """Make a Wllama that asks no other server, keeps no files, and logs into an array."""
    import js
    from pyodide.code import run_js

    paths, logger, config = js.Object.new(), js.Object.new(), js.Object.new()
    paths.default = wasm_url
    logger.debug = logger.log = logger.warn = js.Boolean  # a function that does no harm
    logger.error = _bound(logged, "push")
    config.logger = logger
    config.cacheManager = js.Object.new()
    wllama = module.Wllama.new(paths, config)
    wllama.setCompat(None)  # else a browser without JSPI would fetch another build from a public server
    run_js(_MEND_JS)(wllama)
    return wllama


def _load_options(spec: EngineSpec) -> Any:
    import js

    options = js.Object.new()
    options.n_ctx = spec.n_ctx
    options.n_gpu_layers = spec.n_gpu_layers
    options.n_threads = _threads() if spec.n_threads is None else spec.n_threads
    options.log_level = _LOG_ERRORS
    return options


def _threads() -> int:
    """As many threads as are good: half of the cores that the browser names, which are about the real ones.

    Not more: llama.cpp's threads spin while they wait for each other, so one that must share its core holds up all.
    Without JSPI one: in Firefox 153 about every sixth load with threads never ended when started from a worker
    (2026-11). wllama itself takes one where there is no SharedArrayBuffer (a page without COOP and COEP headers).
    """
    import js

    if not hasattr(js.WebAssembly, "Suspending"):
        return 1
    return max(1, int(getattr(js.navigator, "hardwareConcurrency", None) or 1) // 2)


def _bound(target: Any, method: str) -> Any:
    """A method of a JavaScript object as a function of JavaScript's: one of Python's would be a proxy to destroy."""
    import js

    return js.Reflect.get(target, method).bind(target)


def _look_at(task: asyncio.Future[Any]) -> None:
    """Whoever waits has the error; when nobody does, it is no news."""
    if not task.cancelled():
        task.exception()
