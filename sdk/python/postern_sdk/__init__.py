"""Client of Postern: e-mail delivery and customer identity behind one HTTP API."""

from postern_sdk._version import __version__ as __version__
