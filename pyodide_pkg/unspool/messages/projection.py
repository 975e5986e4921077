"""Projection: a conversation as one route can take it. The history itself is never touched. No IO, no clock.

Files become one line that names them, on every route. Images become such a line where the model sees none, or where
the request has too many. Equal content gives equal lines, so that a provider's cache of the prompt stays good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, cast

from unspool.errors import ConfigError, redact
from unspool.immutable import Immutable
from unspool.messages.message import Message, unnested
from unspool.messages.parts import File, Image, Part, TextPart, ToolResult

ImagePricing = Callable[[Image], int]
"""What one image costs on a route, in input tokens."""

_HASH_CHARS = 16
_PROJECTED = (Image, File, ToolResult)


class ImagePolicy(Immutable):
    """How many images, or bytes of images, one request may carry; the oldest are left out first.

    Quanta keep the provider's prompt cache good: what is left out grows in steps, so that the beginning of a growing
    conversation stays the same for many turns. With `max_images=20, image_quantum=10` the 21st image has the oldest 10
    left out, and nothing changes again until the 31st.
    """

    __slots__ = ("byte_quantum", "counted_as", "image_quantum", "max_bytes", "max_images")
    max_images: int | None
    max_bytes: int | None
    image_quantum: int
    byte_quantum: int
    counted_as: Literal["raw", "base64"]

    def __init__(
        self,
        max_images: int | None = None,
        max_bytes: int | None = None,
        *,
        image_quantum: int = 1,
        byte_quantum: int = 1,
        counted_as: Literal["raw", "base64"] = "base64",
    ) -> None:
        """Set the limits.

        Args:
            max_images: images in one request; None: no limit.
            max_bytes: bytes of all images together; None: no limit. An image that has an address counts none.
            image_quantum: images are left out by multiples of this.
            byte_quantum: bytes are left out by multiples of this, rounded up to whole images.
            counted_as: whether the encoded picture counts, or its base64, as most wires carry it.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        least = {"max_images": 0, "max_bytes": 0, "image_quantum": 1, "byte_quantum": 1}
        given: dict[str, Any] = {
            "max_images": max_images,
            "max_bytes": max_bytes,
            "image_quantum": image_quantum,
            "byte_quantum": byte_quantum,
        }
        for name, value in given.items():
            if value is None and name.startswith("max_"):
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < least[name]:
                raise ConfigError("INVALID_OPTIONS", f"{name} must be a whole number, {least[name]} or more.")
        if counted_as not in ("raw", "base64"):
            raise ConfigError("INVALID_OPTIONS", "counted_as must be raw or base64.")
        for name, value in (*given.items(), ("counted_as", counted_as)):
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ImagePolicy) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"ImagePolicy({', '.join(f'{name}={getattr(self, name)!r}' for name in sorted(self.__slots__))})"


def project(
    messages: Iterable[Message], *, image_input: bool | None = None, image_policy: ImagePolicy | None = None
) -> tuple[Message, ...]:
    """Give a conversation in the form that one route takes.

    Args:
        messages: the history; messages inside messages are given as messages of their own.
        image_input: whether the model is shown images. None: not known; they are sent, and the provider decides.
        image_policy: which images are left out of a request that has too many.
    Returns:
        Messages without files, tool results included; without images where `image_input` is False. A message in which
        nothing changes is the very object that was given.
    """
    conversation = unnested(messages)
    if not any(isinstance(part, _PROJECTED) for message in conversation for part in message.parts):
        return tuple(conversation)
    left_out = 0
    if image_input is not False and image_policy is not None:
        left_out = offloaded_image_prefix_count(image_sizes(conversation), image_policy)
    seen = 0

    def line_of(part: object) -> str | None:
        nonlocal seen
        if isinstance(part, File):
            return file_line(part)
        if isinstance(part, Image):
            seen += 1
            if image_input is False:
                return image_line(part, "not shown: this model takes no images")
            if seen <= left_out:
                return image_line(part, "left out of this request: it is one of the oldest")
        return None

    return tuple(_projected(message, line_of) for message in conversation)


def offloaded_image_prefix_count(sizes: Sequence[int], policy: ImagePolicy) -> int:
    """Say how many of the oldest images a request leaves out, from their sizes alone.

    Args:
        sizes: bytes of each encoded image, oldest first; 0 for an image that has an address (`image_sizes`).
        policy: the limits.
    Returns:
        0 when all fit, and at most all.
    """
    if not isinstance(cast(Any, policy), ImagePolicy):
        raise ConfigError("INVALID_OPTIONS", "policy must be an ImagePolicy.")
    count = 0
    if policy.max_images is not None and len(sizes) > policy.max_images:
        count = min(len(sizes), _stepped(len(sizes) - policy.max_images, policy.image_quantum))
    if policy.max_bytes is not None:
        counted = [(size + 2) // 3 * 4 for size in sizes] if policy.counted_as == "base64" else sizes
        excess = sum(counted) - policy.max_bytes
        if excess > 0:
            wanted, removed, images = _stepped(excess, policy.byte_quantum), 0, 0
            while images < len(sizes) and removed < wanted:
                removed += counted[images]
                images += 1
            count = max(count, images)
    return count


def image_sizes(messages: Iterable[Message]) -> list[int]:
    """Give the bytes of each image of a conversation, oldest first, those in tool results included.

    Args:
        messages: the conversation.
    Returns:
        0 for an image that has an address.
    """
    return [len(image.data or b"") for image in images_of(messages)]


def images_of(messages: Iterable[Message]) -> Iterator[Image]:
    """Give the images of a conversation, oldest first, those in tool results included.

    Args:
        messages: the conversation.
    """
    for message in unnested(messages):
        for part in message.parts:
            if isinstance(part, Image):
                yield part
            elif isinstance(part, ToolResult):
                yield from (inner for inner in part.parts if isinstance(inner, Image))


def file_line(file: File) -> str:
    """Give the one line that every model sees of a file.

    Args:
        file: the file.
    """
    if not isinstance(cast(Any, file), File):
        raise ConfigError("INVALID_OPTIONS", "file must be a File.")
    known = [_quoted(file.name)]
    if file.media_type:
        known.append(_one_line(file.media_type))
    if file.size_bytes is not None:
        known.append(f"{file.size_bytes} bytes")
    if file.data is not None:
        known.append(f"sha256 {_hash(file.data)}")
    if file.path is not None:
        known.append(f"at {_quoted(file.path)}")
    return f"[File {', '.join(known)}]"


def image_line(image: Image, why: str) -> str:
    """Give the line that stands for an image which a model is not shown.

    Args:
        image: the image.
        why: why it is not shown.
    """
    if not isinstance(cast(Any, image), Image):
        raise ConfigError("INVALID_OPTIONS", "image must be an Image.")
    known = [_one_line(image.media_type)] if image.media_type else []
    if image.data is not None:
        known += (f"{len(image.data)} bytes", f"sha256 {_hash(image.data)}")
    else:
        known.append(_quoted(redact(image.url or "")))
    return f"[Image {', '.join(known)}; {why}]"


def _projected(message: Message, line_of: Callable[[object], str | None]) -> Message:
    parts = _replaced(message.parts, line_of)
    return message if parts is None else message.with_parts(parts)


def _replaced(parts: Sequence[Part], line_of: Callable[[object], str | None]) -> list[Part] | None:
    """Put lines into the places of parts, in order; None when nothing changes."""
    new: list[Part | str] = []
    for part in parts:
        inner = _replaced(part.parts, line_of) if isinstance(part, ToolResult) else None
        if isinstance(part, ToolResult) and inner is not None:
            content = cast("list[TextPart | Image | File]", inner)
            new.append(ToolResult(part.call_id, content, part.is_error))
        else:
            new.append(line_of(part) or part)
    if all(one is other for one, other in zip(new, parts, strict=True)):
        return None
    out: list[Part] = []
    for piece, after in zip(new, (*parts[1:], None), strict=True):
        if isinstance(piece, str):
            # Most wires join the texts of a message with nothing between them.
            before = out[-1] if out else None
            ahead = isinstance(before, TextPart) and before.text != "" and not before.text.endswith("\n")
            behind = isinstance(after, TextPart) and not after.text.startswith("\n")
            piece = TextPart("\n" * ahead + piece + "\n" * behind)
        out.append(piece)
    return out


def _stepped(excess: int, quantum: int) -> int:
    return -(-excess // quantum) * quantum


def _hash(data: bytes) -> str:
    from hashlib import sha256  # here, because few conversations need it

    return sha256(data).hexdigest()[:_HASH_CHARS]


def _quoted(text: str) -> str:
    return '"' + _one_line(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
