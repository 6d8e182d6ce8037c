"""The TypeScript SDK: its package, types and client."""

import json

import pytest

from tests.sdk.typescript import built_sdk, needs_typescript, run

pytestmark = [pytest.mark.needs_node, needs_typescript]


def test_the_version_is_that_of_the_package():
    sdk = built_sdk()
    version = json.loads((sdk / "package.json").read_text())["version"]
    script = "import('@postern/sdk').then((sdk) => console.log(sdk.VERSION, require('@postern/sdk').VERSION))"
    assert run("node", "-e", script, folder=sdk).split() == [version, version]
