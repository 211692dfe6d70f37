"""Golden sessions: a syrupy extension, an opt-in pytest plugin, scrubbers."""
