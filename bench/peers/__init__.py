"""Postern and other programs that do the same work, measured in turns on the same machine (`python -m bench.peers`)."""
