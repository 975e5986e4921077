"""typed: a code of ours for an exception of anyone's code, which must not lose what has come. No IO, no clock."""

from __future__ import annotations

from unspool.errors import ConfigError, NetworkError, UnspoolError, WireError
from unspool.printable import said_by


def typed(error: Exception, blame: type[UnspoolError], *, may_refuse: bool = True) -> UnspoolError:
    """Give a foreign exception a code; an error of ours is given back.

    Args:
        error: what was raised.
        blame: NetworkError when it came out of a transport (NETWORK), else it came out of a decoder (PROTOCOL).
        may_refuse: whether a ConfigError stays one. What comes while an answer is read is never the caller's fault.
    """
    if isinstance(error, ConfigError) and not may_refuse:
        return WireError("PROTOCOL", error.message)
    if isinstance(error, UnspoolError):
        return error
    words = said_by(error, 300)
    ours: UnspoolError
    if blame is NetworkError:
        ours = NetworkError(f"The request could not be sent or its answer not received ({words}).", retryable=False)
    else:
        ours = WireError("PROTOCOL", f"The answer could not be decoded ({words}).")
    ours.__cause__ = error
    return ours
