"""Postern: e-mail delivery and customer identity behind one HTTP API."""
