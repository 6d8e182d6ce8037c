"""Print the packages of a server, with the versions in uv.lock for this machine, as a requirements file for pip.

Each package has its hashes; with the argument `plain` it has none, for a constraints file. With `dev`, the tools for
tests and development are included.
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
    """Collect the dependencies of Postern and theirs whose markers hold on this machine, and print them."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    packages = [package for package in lock["package"] if holds(package.get("resolution-markers"))]
    by_name = {package["name"]: package for package in packages}
    own = by_name["postern-server"]
    # With every extra, so that a server from the source tree lacks none of its optional parts.
    waiting = [*own["dependencies"], *chain.from_iterable(own.get("optional-dependencies", {}).values())]
    if "dev" in sys.argv:
        waiting += own["dev-dependencies"]["dev"]
    seen: set[tuple[str, str]] = set()
    pinned: dict[str, dict[str, Any]] = {}
    while waiting:
        dependency = waiting.pop()
        if "marker" in dependency and not Marker(dependency["marker"]).evaluate():
            continue
        package = by_name[dependency["name"]]
        pinned[package["name"]] = package
        required = [("", package.get("dependencies", []))]
        extras = package.get("optional-dependencies", {})
        required += [(extra, extras.get(extra, [])) for extra in dependency.get("extra", [])]
        for extra, dependencies in required:
            if (package["name"], extra) not in seen:
                seen.add((package["name"], extra))
                waiting += dependencies
    for name, package in sorted(pinned.items()):
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        hashes = " ".join(f"--hash={file['hash']}" for file in files)
        print(f"{name}=={package['version']}" + ("" if "plain" in sys.argv else f" {hashes}"))


def holds(markers: list[str] | None) -> bool:
    """Whether one of a package's resolution markers holds on this machine; True without markers."""
    return not markers or any(Marker(marker).evaluate() for marker in markers)


if __name__ == "__main__":
    main()
