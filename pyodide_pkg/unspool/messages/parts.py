"""The parts that messages are made of: text, reasoning, images, files, tool calls and their results. Immutable.

In: plain values. Out: objects with slots, equality, a repr and `to_wire()`. No IO, no clock.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from unspool.errors import ConfigError, StreamError, redact
from unspool.frozen_json import INNER_DEPTH, FrozenDict, freeze_object
from unspool.immutable import Immutable
from unspool.messages.data_url import MEDIA_TYPE, as_bytes, image_type, read_data_url
from unspool.messages.written_parts import noted
from unspool.tagged import Tagged

if TYPE_CHECKING:
    from unspool.messages import Message

ImageDetail = Literal["auto", "low", "high"]

MAX_NESTING = 16
"""Messages that may stand inside each other."""

_set = object.__setattr__


class ImmutablePart(Immutable, Tagged):
    """The base of all parts: what was built stays as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        slots: tuple[str, ...] = self.__slots__
        fields = [f"{name}={value!r}" for name in slots if (value := getattr(self, name)) is not None]
        return noted(self, f"{type(self).__name__}({', '.join(fields)})")

    def _keep_text(self, name: str, text: Any) -> None:
        if not isinstance(text, str):
            raise ConfigError("INVALID_OPTIONS", f"{name} of a part of type {self.type!r} must be a text.")
        _set(self, name, text)

    def _keep_replay(self, replay: Any) -> None:
        if replay is not None and not isinstance(replay, Replay):
            raise ConfigError("INVALID_OPTIONS", f"replay of a part of type {self.type!r} must be a Replay.")
        _set(self, "replay", replay)


class Replay(ImmutablePart):
    """What a provider wants back unread in the next turn: signatures, encrypted reasoning, ids of items.

    It travels only to the adapter that made it; every other one leaves it out.
    """

    __slots__ = ("adapter", "data")
    __match_args__ = ("adapter", "data")
    type: ClassVar[Literal["replay"]] = "replay"
    adapter: str
    """Name of the adapter that made it, and may read it."""
    data: FrozenDict
    """JSON, for that adapter alone to read."""

    def __init__(self, adapter: str, data: Mapping[str, Any]) -> None:
        self._keep_text("adapter", adapter)
        _set(self, "data", freeze_object(data, "replay state", INNER_DEPTH))

    def __repr__(self) -> str:
        return f"Replay({self.adapter!r}, {sorted(self.data)})"


class TextPart(ImmutablePart):
    """Visible text."""

    __slots__ = ("text", "replay")
    __match_args__ = ("text",)
    type: ClassVar[Literal["text"]] = "text"
    text: str
    """As the model or the user wrote it."""
    replay: Replay | None
    """What the adapter that made it wants back; None for parts of your own."""

    def __init__(self, text: str, *, replay: Replay | None = None) -> None:
        self._keep_text("text", text)
        self._keep_replay(replay)


class ReasoningPart(ImmutablePart):
    """Thinking text that the provider chose to show; never part of the answer."""

    __slots__ = ("text", "redacted", "replay")
    __match_args__ = ("text",)
    type: ClassVar[Literal["reasoning"]] = "reasoning"
    text: str
    """As the provider shows it; may be a summary."""
    redacted: bool
    """True when the provider shows nothing of it and keeps it in `replay`."""
    replay: Replay | None
    """The adapter's own state: without it the part is not sent back."""

    def __init__(self, text: str, *, redacted: bool = False, replay: Replay | None = None) -> None:
        self._keep_text("text", text)
        _set(self, "redacted", redacted)
        self._keep_replay(replay)

    def to_wire(self) -> dict[str, object]:
        wire = super().to_wire()
        if not self.redacted:
            del wire["redacted"]
        return wire


class RefusalPart(ImmutablePart):
    """The model's own words for declining; never part of the answer."""

    __slots__ = ("text", "replay")
    __match_args__ = ("text",)
    type: ClassVar[Literal["refusal"]] = "refusal"
    text: str
    """As the model or the user wrote it."""
    replay: Replay | None
    """What the adapter that made it wants back; None for parts of your own."""

    def __init__(self, text: str, *, replay: Replay | None = None) -> None:
        self._keep_text("text", text)
        self._keep_replay(replay)


class Image(ImmutablePart):
    """A picture: bytes, or an address that the provider fetches."""

    __slots__ = ("data", "url", "media_type", "detail", "replay")
    type: ClassVar[Literal["image"]] = "image"
    data: bytes | None
    """The encoded picture (PNG, JPEG, …); None for one that has an address."""
    url: str | None
    """Its address; None for one that has bytes."""
    media_type: str | None
    """Such as `image/png`; always there beside `data`."""
    detail: ImageDetail | None
    """How closely the model is to look; None leaves it to the provider."""
    replay: Replay | None
    """The adapter's own state, of an image that a model made."""

    def __init__(
        self,
        source: bytes | str,
        *,
        media_type: str | None = None,
        detail: ImageDetail | None = None,
        replay: Replay | None = None,
    ) -> None:
        """Take a picture.

        Args:
            source: bytes, an http or https address, or a data URL (kept as bytes).
            media_type: found from the bytes of PNG, JPEG, GIF, WebP and BMP when it is left out.
            detail: how closely the model is to look.
            replay: set by adapters.
        Raises:
            ConfigError: INVALID_OPTIONS when it is no picture by its address, its data URL or its bytes.
        """
        data: bytes | None = None
        url: str | None = None
        given: Any = source
        if isinstance(given, bytes | bytearray | memoryview):
            data = as_bytes("An image", given)
        elif isinstance(given, str) and given[:5].lower() == "data:":
            data, stated = read_data_url(given)
            media_type = media_type or stated
        elif isinstance(given, str) and given.lower().startswith(("https://", "http://")):
            url = given
        else:
            raise ConfigError("INVALID_OPTIONS", "An image must be bytes, an http(s) address or a data URL.")
        if data is not None:
            media_type = media_type or image_type(data)
            if not data or media_type is None:
                raise ConfigError(
                    "INVALID_OPTIONS", "The bytes of the image are of no known format; say which, as media_type."
                )
        if media_type is not None:
            media_type = str(media_type).lower()
            if not MEDIA_TYPE.fullmatch(media_type):
                raise ConfigError("INVALID_OPTIONS", "The media type of an image must look like image/png.")
        if detail not in (None, "auto", "low", "high"):
            raise ConfigError("INVALID_OPTIONS", "The detail of an image must be auto, low or high.")
        _set(self, "data", data)
        _set(self, "url", url)
        _set(self, "media_type", media_type)
        _set(self, "detail", detail)
        self._keep_replay(replay)

    @property
    def base64(self) -> str:
        """The bytes as base64; empty for an image that has an address."""
        return b64encode(self.data).decode() if self.data is not None else ""

    @property
    def data_url(self) -> str:
        """The bytes as data URL, or the address."""
        return self.url if self.url is not None else f"data:{self.media_type};base64,{self.base64}"

    def to_wire(self) -> dict[str, object]:
        return _with_data(super().to_wire(), self.data)

    def __repr__(self) -> str:
        what = f"<{len(self.data)} bytes>" if self.data is not None else redact(repr(self.url))
        return noted(self, f"Image({what}, media_type={self.media_type!r})")


class File(ImmutablePart):
    """A file beside the conversation. No provider receives its bytes: a model sees one line that names it."""

    __slots__ = ("name", "media_type", "size_bytes", "path", "data")
    __match_args__ = ("name",)
    type: ClassVar[Literal["file"]] = "file"
    name: str
    """What a model is told it is called."""
    media_type: str | None
    """Such as `text/csv`."""
    size_bytes: int | None
    """That of `data`, where that is there."""
    path: str | None
    """Where tools of the application can read it."""
    data: bytes | None
    """The bytes, for the application's own use."""

    def __init__(
        self,
        name: str,
        *,
        media_type: str | None = None,
        size_bytes: int | None = None,
        path: str | None = None,
        data: bytes | None = None,
    ) -> None:
        """Name a file.

        Raises:
            ConfigError: INVALID_OPTIONS when it has no name, or a size that its bytes do not have.
        """
        if not isinstance(cast(Any, name), str) or not name:
            raise ConfigError("INVALID_OPTIONS", "A file must have a name.")
        if not isinstance(cast(Any, path), str | None) or not isinstance(cast(Any, size_bytes), int | None):
            raise ConfigError(
                "INVALID_OPTIONS", "The path of a file must be a text, and its size_bytes a whole number."
            )
        data = None if data is None else as_bytes("The data of a file", data)
        if data is not None and size_bytes not in (None, len(data)):
            raise ConfigError("INVALID_OPTIONS", f"The file has {len(data)} bytes, not {size_bytes}.")
        _set(self, "name", name)
        _set(self, "media_type", media_type)
        _set(self, "size_bytes", len(data) if data is not None else size_bytes)
        _set(self, "path", path)
        _set(self, "data", data)

    def to_wire(self) -> dict[str, object]:
        return _with_data(super().to_wire(), self.data)

    def __repr__(self) -> str:
        return noted(self, f"File({self.name!r}, media_type={self.media_type!r}, size_bytes={self.size_bytes})")


class ToolCall(ImmutablePart):
    """A call the model asks for."""

    __slots__ = ("id", "name", "arguments", "truncated", "replay")
    type: ClassVar[Literal["toolCall"]] = "toolCall"
    id: str
    """What its result is sent back under."""
    name: str
    """The tool."""
    arguments: str
    """Raw JSON text, exactly as it was streamed."""
    truncated: bool
    """True when the response ended inside the arguments: never execute such a call."""
    replay: Replay | None
    """The adapter's own state, such as a signature."""

    def __init__(
        self, id: str, name: str, arguments: str, truncated: bool = False, *, replay: Replay | None = None
    ) -> None:
        self._keep_text("id", id)
        self._keep_text("name", name)
        self._keep_text("arguments", arguments)
        _set(self, "truncated", truncated)
        self._keep_replay(replay)

    @property
    def args(self) -> dict[str, Any]:
        """The arguments as a value; empty or blank text counts as `{}`.

        Raises:
            StreamError: the code of the fault (INVALID_JSON, INCOMPLETE_JSON, …) when the text is not one JSON object.
        """
        from unspool.structured import strict_json  # here, because history is often built without ever parsing it

        value: Any = strict_json.loads(self.arguments) if self.arguments.strip() else {}
        if isinstance(value, dict):
            return cast("dict[str, Any]", value)
        raise StreamError("INVALID_JSON", "The arguments are no JSON object.")


class ToolResult(ImmutablePart):
    """What a tool answered, to be sent back."""

    __slots__ = ("call_id", "parts", "is_error")
    type: ClassVar[Literal["toolResult"]] = "toolResult"
    call_id: str
    """`id` of the call."""
    parts: tuple[TextPart | Image | File, ...]
    """What it answered, in order."""
    is_error: bool
    """Whether the tool failed."""

    def __init__(
        self,
        call_id: str,
        content: str | TextPart | Image | File | Sequence[str | TextPart | Image | File],
        is_error: bool = False,
    ) -> None:
        """Answer a call.

        Args:
            call_id: `id` of the call.
            content: text, images and files.
            is_error: whether the tool failed; the content then says how.
        Raises:
            ConfigError: INVALID_OPTIONS when the content is anything else.
        """
        single: Any = (content,)
        pieces: Sequence[Any] = content if isinstance(content, list | tuple) else single
        parts = tuple(TextPart(piece) if isinstance(piece, str) else piece for piece in pieces)
        if not all(isinstance(part, TextPart | Image | File) for part in cast("tuple[object, ...]", parts)):
            raise ConfigError("INVALID_OPTIONS", "The content of a tool result must be text, images or files.")
        self._keep_text("call_id", call_id)
        _set(self, "parts", parts)
        _set(self, "is_error", is_error)

    @property
    def text(self) -> str:
        """The text, parts joined with nothing between them."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    def to_wire(self) -> dict[str, object]:
        wire = super().to_wire()
        only = self.parts[0] if len(self.parts) == 1 else None
        if isinstance(only, TextPart) and only.replay is None:
            del wire["parts"]
            wire["text"] = self.text
        else:
            wire["parts"] = [part.to_wire() for part in self.parts]
        return wire


class ProviderPart(ImmutablePart):
    """A block that only the adapter that made it understands, such as a search that the provider ran itself.

    It stands in the history where it stood in the answer, and travels back to that adapter only.
    """

    __slots__ = ("kind", "replay")
    __match_args__ = ("kind",)
    type: ClassVar[Literal["provider"]] = "provider"
    kind: str
    """The provider's own name for it."""
    replay: Replay
    """All that it is."""

    def __init__(self, kind: str, replay: Replay) -> None:
        self._keep_text("kind", kind)
        if cast(Any, replay) is None:
            raise ConfigError("INVALID_OPTIONS", "A provider's part must have the replay state that it consists of.")
        self._keep_replay(replay)


class MessagePart(ImmutablePart):
    """A message inside a message: another role's words, at this place. Requests hold it as a message of its own."""

    __slots__ = ("message",)
    __match_args__ = ("message",)
    type: ClassVar[Literal["message"]] = "message"
    message: Message
    """Whoever speaks in it."""

    def __init__(self, message: Message) -> None:
        """Nest a message.

        Raises:
            ConfigError: INVALID_OPTIONS when it is none, or holds messages more than 15 deep.
        """
        from unspool.messages.message import Message  # here, because that module is built on this one

        if not isinstance(cast(Any, message), Message):
            raise ConfigError("INVALID_OPTIONS", "A part of type 'message' must hold a message.")
        level = [message]
        for _ in range(MAX_NESTING):
            level = [part.message for inner in level for part in inner.parts if isinstance(part, MessagePart)]
        if level:
            raise ConfigError("INVALID_OPTIONS", f"Messages may stand inside each other {MAX_NESTING} deep.")
        _set(self, "message", message)


Part = TextPart | ReasoningPart | RefusalPart | Image | File | ToolCall | ToolResult | ProviderPart | MessagePart


def _with_data(wire: dict[str, object], data: bytes | None) -> dict[str, object]:
    if data is not None:
        wire["data"] = b64encode(data).decode()
    return wire
