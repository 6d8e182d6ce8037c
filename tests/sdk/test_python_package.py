"""The package of the Python SDK: its version is the server's, and the wheel holds the whole package."""

from importlib.metadata import version

import postern_sdk


def test_the_version_is_that_of_the_server() -> None:
    assert postern_sdk.__version__ == version("postern-server")
