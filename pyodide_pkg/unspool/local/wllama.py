"""Wllama: a language model that runs in the page, with no server, no key and no network but for its own file.

In: requests. Out: responses of decoded OpenAI chat chunks. Source: npm `@wllama/wllama`, README and guides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

from unspool.contracts import Request
from unspool.errors import CallCancelledError, ConfigError, ProviderError, RequestTimeoutError, UnspoolError
from unspool.local.engine import Engine, EngineSpec, Generation, forget, shared_engine
from unspool.local.iterable import as_data
from unspool.local.model_file import Progress, absolute
from unspool.model import LanguageModel
from unspool.options import CallOptions, check_count
from unspool.providers.failure import stream_failure
from unspool.providers.openai_chat import OpenAIChatAdapter, OpenAIChatDecoder
from unspool.time_limit import TimeLimit
from unspool.transport import DEFAULT_IDLE_TIMEOUT_S

if TYPE_CHECKING:
    from unspool.schema.native import Dialect


class Wllama(LanguageModel):
    """A GGUF model in llama.cpp as WebAssembly. Objects with the same addresses and sizes share one loaded model."""

    schema_dialect: Dialect = "ollama"

    def __init__(
        self,
        *,
        model_url: str,
        wllama_url: str = "/wllama/index.js",
        wasm_url: str | None = None,
        n_ctx: int = 2048,
        n_threads: int | None = None,
        n_gpu_layers: int = 0,
        on_progress: Progress | None = None,
        **defaults: Unpack[CallOptions],
    ) -> None:
        """Describe the model; nothing is loaded before the first call.

        Args:
            model_url: the GGUF file. The browser keeps it; one that changes needs a version in its address. Addresses
                are relative to the page or worker that Python runs in.
            wllama_url: `esm/index.js` of the npm package.
            wasm_url: its `wllama.wasm`; default: `wasm/wllama.wasm` beside `wllama_url`.
            n_ctx: tokens of prompt and answer together, 16 or more.
            n_threads: default: half of the cores; 1 where the browser or the page's headers allow no threads.
            n_gpu_layers: layers of the model that WebGPU computes, where the browser has it; 0: none.
            on_progress: is told, while a call waits for the model file, how many bytes have come and how many will.
            defaults: see `CallOptions`; they hold where a call says nothing.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        for name, text in (("model_url", model_url), ("wllama_url", wllama_url), ("wasm_url", wasm_url)):
            if not (isinstance(text, str) and text) and not (name == "wasm_url" and text is None):
                raise ConfigError("INVALID_OPTIONS", f"{name} must be an address.")
        check_count("n_ctx", n_ctx, 16)
        if n_threads is not None:
            check_count("n_threads", n_threads)
        check_count("n_gpu_layers", n_gpu_layers, 0)
        super().__init__(model_name(model_url), **defaults)
        self._urls = (model_url, wllama_url, wasm_url)
        self._sizes = (n_ctx, n_threads, n_gpu_layers)
        self._on_progress = on_progress
        self._adapter = OpenAIChatAdapter()

    async def load(self) -> None:
        """Load the model now, so that the first call need not wait for it.

        Raises:
            UnspoolError: ConfigError UNSUPPORTED, INVALID_OPTIONS; NetworkError NETWORK; ProviderError MODEL_NOT_FOUND,
                PROVIDER, and the codes of HTTP failures.
        Cancellation:
            Aborts the download, unless another call waits for the same model.
        """
        await self._engine().ready(self._on_progress)

    async def unload(self) -> None:
        """Free the memory of the model, which other objects may share. The next call loads it anew.

        Cancellation:
            Stops the waiting; the memory is freed all the same.
        """
        await self._engine().exit()

    async def _open(self, request: Request, credential: str | None) -> WllamaResponse:
        body = self._adapter.build(request.projected(), api_key=None, base_url="http://localhost").body.decode()
        engine = self._engine()
        await engine.ready(self._on_progress)
        return WllamaResponse(engine, engine.start(body))

    def _decoder(self, request: Request) -> OpenAIChatDecoder:
        return self._adapter.decoder(request)

    def _engine(self) -> Engine:
        model_url, wllama_url, wasm_url = self._urls
        wllama_url = absolute(wllama_url)
        wasm_url = absolute("wasm/wllama.wasm", wllama_url) if wasm_url is None else absolute(wasm_url)
        return shared_engine(EngineSpec(absolute(model_url), wllama_url, wasm_url, *self._sizes))


class WllamaResponse:
    """One answer that is being generated."""

    status: int
    headers: Mapping[str, str]

    def __init__(self, engine: Engine, generation: Generation) -> None:
        """Take over an answer of the engine."""
        self.status = 200
        self.headers = {}
        self._engine = engine
        self._generation: Generation | None = generation
        self._limit = TimeLimit(DEFAULT_IDLE_TIMEOUT_S)
        self._aborted = False

    async def read(self) -> list[Any] | None:
        """Wait for the next chunk.

        Raises:
            ProviderError: CONTEXT_WINDOW_EXCEEDED, INVALID_REQUEST or PROVIDER, with llama.cpp's words.
            RequestTimeoutError: TIMEOUT when it generated nothing for 300 seconds.
            CallCancelledError: ABORTED after `abort` or `close`.
        Cancellation:
            Cancelling the waiting task leaves the response open; the owner then calls `abort` or `close`.
        """
        from pyodide.ffi import JsException

        if self._aborted:
            raise CallCancelledError("The response was aborted.")
        if self._generation is None:
            return None
        try:
            async with self._limit:
                chunk = await self._generation.next()
        except TimeoutError:
            self._end()
            await self._engine.exit()
            raise RequestTimeoutError(f"The model generated nothing for {DEFAULT_IDLE_TIMEOUT_S:g} seconds.") from None
        except JsException as error:
            if self._aborted:
                raise CallCancelledError("The response was aborted.") from None
            self._end()
            raise await self._failure(error) from error
        if self._aborted:
            raise CallCancelledError("The response was aborted.")
        if chunk is None:
            self._end()
            return None
        return [as_data(chunk)]

    def abort(self) -> None:
        """Stop generating: at the next token, or at the end of the prompt while that is being read. Idempotent."""
        if self._aborted or self._generation is None:
            return
        self._aborted = True
        self._generation.stop()
        self._end()

    async def close(self) -> None:
        """Stop generating. Does not wait for it: until its next token the engine still computes. Idempotent."""
        self.abort()

    def _end(self) -> None:
        self._generation = None
        self._limit.stop()

    async def _failure(self, error: Any) -> UnspoolError:
        """Name a fault of the engine. After a crash of WebAssembly it is given up; the next call loads a new one."""
        if getattr(error, "type", None) == "inference_error":
            return stream_failure({"message": str(error.message), "type": _kind(str(error.message))})
        said = self._engine.errors_logged()
        forget(self._engine)
        await self._engine.exit()
        if said:
            return stream_failure({"message": f"llama.cpp failed: {said}", "type": _kind(said)})
        return ProviderError("PROVIDER", f"llama.cpp failed ({error.name}: {error.message}).", retryable=True)


def model_name(model_url: str) -> str:
    """Name a model after its file: `…/SmolLM2.gguf?v=1` is `SmolLM2`."""
    file = model_url.partition("#")[0].partition("?")[0].rstrip("/").rpartition("/")[2]
    return file.removesuffix(".gguf") or model_url


def _kind(said: str) -> str:
    """llama.cpp's type of an error, which wllama drops."""
    lowered = said.lower()
    return "invalid_request_error" if "schema" in lowered or "grammar" in lowered or "samplers" in lowered else ""
