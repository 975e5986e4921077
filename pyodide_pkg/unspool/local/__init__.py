"""Models that answer without HTTP. A response is a source of decoded events."""
