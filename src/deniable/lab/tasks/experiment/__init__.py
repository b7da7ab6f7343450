"""One experiment: its settings are prepared, run, kept and shown."""
