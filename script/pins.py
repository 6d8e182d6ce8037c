"""Print what uv.lock pins for this machine as a requirements file with hashes, for pip."""

import sys
import tomllib
from pathlib import Path
from typing import Any

from pip._vendor.packaging.markers import Marker

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Walk from Postern along the dependencies whose markers hold here."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    packages = [each for each in lock["package"] if holds(each.get("resolution-markers"))]
    by_name = {each["name"]: each for each in packages}
    own = by_name["postern-server"]
    waiting = list(own["dependencies"])
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
        print(f"{name}=={package['version']} {hashes}")


def holds(markers: list[str] | None) -> bool:
    """Whether one of a package's resolution markers is true here; a package without any always counts."""
    return not markers or any(Marker(marker).evaluate() for marker in markers)


if __name__ == "__main__":
    main()
