"""Stand between a client and its agent or gateway, and record: one module a side of that."""
