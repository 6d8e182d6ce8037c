"""The npm package of the TypeScript SDK: its files, sizes, and use from an empty folder."""

import gzip
import json
from pathlib import Path

import pytest

from tests.sdk.typescript import ESBUILD, SDK, TSC, built_sdk, linked_sdk, needs_typescript, run

pytestmark = [pytest.mark.needs_node, needs_typescript]
MAX_CORE_BYTES = 8_000
"""Largest size of the core, minified and compressed, without the table of operations and the error classes."""


def bundle_size(folder: Path, source: str, *options: str) -> tuple[int, str]:
    """Compressed size and text of a minified bundle of a program."""
    (folder / "program.mjs").write_text(source)
    run(
        ESBUILD, "program.mjs", "--bundle", "--minify", "--format=esm", "--platform=browser", "--outfile=bundle.js",
        "--allow-overwrite", "--log-level=error", *options, folder=folder,
    )  # fmt: skip
    bundle = (folder / "bundle.js").read_bytes()
    return len(gzip.compress(bundle, 9)), bundle.decode()


def test_the_core_is_small_and_webhooks_bring_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    linked_sdk(tmp_path)
    whole, text = bundle_size(tmp_path, 'import * as sdk from "@postern/sdk"; console.log(sdk);')
    core, _ = bundle_size(
        tmp_path, 'import * as sdk from "@postern/sdk"; console.log(sdk);', "--external:./generated/*"
    )
    assert "/projects/{projectId}/emails" in text
    webhooks, text = bundle_size(tmp_path, 'import { verify } from "@postern/sdk/webhooks"; console.log(verify);')
    with capsys.disabled():
        print(f"\nTypeScript SDK, minified and compressed: {whole:,} bytes (core {core:,}), webhooks {webhooks:,}")
    assert core <= MAX_CORE_BYTES
    assert "/projects/" not in text
    assert webhooks < 1_200


def test_the_package_installs_into_an_empty_folder(tmp_path: Path) -> None:
    built_sdk()
    packed = json.loads(run("npm", "pack", "--json", "--ignore-scripts", "--pack-destination", tmp_path, folder=SDK))[0]
    names = {file["path"] for file in packed["files"]}
    assert {"package.json", "README.md", "LICENSE", "dist/esm/index.js", "dist/cjs/index.d.ts"} <= names
    assert not [name for name in names if name.startswith(("src/", "node_modules/", "dist/."))]
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "package.json").write_text('{"private": true}')
    run(
        "npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", tmp_path / packed["filename"],
        folder=folder,
    )  # fmt: skip
    version = json.loads((SDK / "package.json").read_text())["version"]
    exported = json.loads((SDK / "package.json").read_text())["exports"]
    built = [
        path.removeprefix(".")
        for path, target in exported.items()
        if path != "./package.json" and (SDK / target["import"]["default"]).exists()
    ]
    assert {"", "/webhooks", "/testing"} <= set(built)
    # Adapters import the framework that they adapt, which is not installed here.
    plain = [path for path in built if path in {"", "/webhooks", "/testing", "/sessions"}]
    esm = "".join(f'import * as m{index} from "@postern/sdk{path}";\n' for index, path in enumerate(plain))
    (folder / "esm.mjs").write_text(f"{esm}console.log(m0.VERSION, new m0.Postern().emails.send.name);")
    cjs = "".join(f'const m{index} = require("@postern/sdk{path}");\n' for index, path in enumerate(plain))
    (folder / "cjs.cjs").write_text(f"{cjs}console.log(m0.VERSION, new m0.Postern().emails.send.name);")
    assert run("node", "esm.mjs", folder=folder).split()[0] == version
    assert run("node", "cjs.cjs", folder=folder).split()[0] == version
    uses = "console.log(m0.VERSION satisfies string, new m0.Postern().emails.send);\n"
    (folder / "esm.mts").write_text(esm + uses)
    (folder / "cjs.cts").write_text(esm + uses)
    options = (
        "--strict",
        "--noEmit",
        "--module",
        "Node16",
        "--target",
        "ES2022",
        "--lib",
        "ES2022,DOM",
        "--noUnusedLocals",
        "false",
    )
    run(TSC, *options, "esm.mts", "cjs.cts", folder=folder)
