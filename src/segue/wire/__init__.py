"""Protocols without I/O, both directions: one folder each, all with the same few files."""
