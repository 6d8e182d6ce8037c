"""The host names of projects' hosted pages (`settings.signIn.pagesDomain`), in the memory of each process.

A name is served while it is below a VERIFIED domain of its project. It is in URLs as soon as it can be reached: if this
server obtains certificates, once it has one for the name.
"""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID

from postern.messaging.certificates import store
from postern.messaging.certificates.reloading import keep_calling

if TYPE_CHECKING:
    from postern.world import World


class PagesDomains:
    """The names of all projects. Until `reload` is called, there are none."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._projects: dict[str, UUID | None] = {}
        self._names: dict[UUID, str] = {}

    async def reload(self) -> None:
        """Read the names."""
        world = self._world
        claimed = await store.claimed_pages_domains(world.db)
        served = await store.served_pages_domains(world.db) if claimed else []
        reachable = {row.name for row in served}
        if served and world.settings.https_port is not None:
            with_certificate = await store.names_with_certificate(world.db, names=sorted(reachable), now=world.clock())
            reachable = {row.name for row in with_certificate}
        self._names = {row.project_id: row.name for row in served if row.name in reachable}
        self._projects = {row.name: None for row in claimed} | {row.name: row.project_id for row in served}

    async def keep_reloading(self) -> None:
        """Call `reload` every RELOAD_SECONDS, until cancelled."""
        await keep_calling(self.reload, "pages_domains_not_reloaded")

    def name_of(self, project_id: UUID) -> str | None:
        """The host name in the URLs of a project's hosted pages; None if that is the host of this server."""
        return self._names.get(project_id)

    @property
    def is_empty(self) -> bool:
        """Whether no project has a name."""
        return not self._projects

    def is_known(self, host: str) -> bool:
        """Whether a host belongs to the hosted pages of a project, even if it is not served now."""
        return host in self._projects

    def project_of(self, host: str) -> UUID | None:
        """The project whose hosted pages a host shows; None if it is not the host of one, or is not served now."""
        return self._projects.get(host)

    async def aclose(self) -> None:
        """Nothing is open."""


def pages_base_url(world: "World", project_id: UUID) -> str:
    """The base URL of a project's hosted pages and of what else the browsers of its customers open, without a trailing
    slash: that of the project's `pagesDomain` if this can be reached, or else that of this server."""
    name = world.resources[PagesDomains].name_of(project_id)
    if name is None:
        return world.settings.public_url
    base = urlsplit(world.settings.public_url)
    return f"{base.scheme}://{name}{'' if base.port is None else f':{base.port}'}"


def is_own_host(world: "World", host: str) -> bool:
    """Whether a host name is that of this server, or that of the hosted pages of a project."""
    host, own_host = host.rstrip(".").lower(), urlsplit(world.settings.public_url).hostname or ""
    return host == own_host.rstrip(".") or world.resources[PagesDomains].is_known(host)


def pages_url(world: "World", project_id: UUID) -> str:
    """The URL of a project for the browsers of its customers: `…/projects/{id}`. The hosted pages are below
    `auth/pages`, the OpenID provider below `oauth`."""
    return f"{pages_base_url(world, project_id)}/projects/{project_id}"
