"""JSON-RPC peers around the log."""
