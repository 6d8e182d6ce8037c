"""Print what uv.lock pins for this machine as a requirements file with hashes, for pip: what a server needs.

With the argument `dev` also the tests' tools; with `plain` without hashes, as a constraints file.
"""

import sys
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

try:
    from packaging.markers import Marker
except ImportError:
    from pip._vendor.packaging.markers import Marker

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Walk from Postern along the dependencies whose markers hold here."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    packages = [each for each in lock["package"] if holds(each.get("resolution-markers"))]
    by_name = {each["name"]: each for each in packages}
    own = by_name["postern-server"]
    # With every extra, so that a server from the source tree lacks none of its optional parts.
    waiting = [*own["dependencies"], *chain.from_iterable(own.get("optional-dependencies", {}).values())]
    if "dev" in sys.argv:
        waiting += own["dev-dependencies"]["dev"]
    seen: set[tuple[str, str]] = set()
    pinned: dict[str, dict[str, Any]] = {}
    while waiting:
        wanted = waiting.pop()
        if "marker" in wanted and not Marker(wanted["marker"]).evaluate():
            continue
        package = by_name[wanted["name"]]
        pinned[package["name"]] = package
        parts = [("", package.get("dependencies", []))]
        extras = package.get("optional-dependencies", {})
        parts += [(extra, extras.get(extra, [])) for extra in wanted.get("extra", [])]
        for extra, needs in parts:
            if (package["name"], extra) not in seen:
                seen.add((package["name"], extra))
                waiting += needs
    for name, package in sorted(pinned.items()):
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        hashes = " ".join(f"--hash={file['hash']}" for file in files)
        print(f"{name}=={package['version']}" + ("" if "plain" in sys.argv else f" {hashes}"))


def holds(markers: list[str] | None) -> bool:
    """Whether one of a package's resolution markers is true here; a package without any always counts."""
    return not markers or any(Marker(marker).evaluate() for marker in markers)


if __name__ == "__main__":
    main()
