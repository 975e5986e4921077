"""One small pure mapper a protocol; `integrations.calls.Mapper` shows how one is written."""
