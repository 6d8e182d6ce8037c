"""Organizations in the export of a realm of Keycloak: create them, with their domains, before their members are
imported. Domains are not verified by that: who controls them proves it by a TXT record.

Source of the format: an export of Keycloak 26.7 (`tests/cli/keycloak-realm.json`).
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from postern.cli.export_formats import Membership, RowUnusable, User, display_name
from postern.cli.exports import ExportRow, read_second_list
from postern.cli.requests import refusal_of, send_again

if TYPE_CHECKING:
    import httpx

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SLUG_LIMIT = 64
_OPTIONAL_FIELDS = ("slug", "metadata")
"""Fields of an organization without which it is created if the server refuses them."""


@dataclass(frozen=True)
class ExportedOrganization:
    """An organization of an export, and what of it is not carried over."""

    body: dict[str, Any]
    """What is sent to create it."""
    is_enabled: bool
    domains: list[str]
    members: list[str]
    """The user names of its members."""
    notes: list[str] = field(default_factory=list)

    @property
    def membership(self) -> Membership:
        """What its members are imported with."""
        return Membership(self.body["externalId"], self.body["name"])


@dataclass(frozen=True)
class OrganizationReport:
    """What happened to an organization of an export."""

    row: int
    name: str | None
    outcome: str
    """`CREATED`, `UNCHANGED` or `FAILED`."""
    organization_id: str | None = None
    faults: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def line(self) -> dict[str, Any]:
        """Its line in the report on an import."""
        return {
            "organization": self.name,
            "row": self.row,
            "outcome": self.outcome,
            "organizationId": self.organization_id,
            "faults": self.faults,
            "notCarriedOver": self.notes,
        }


def read_organizations(file: Path) -> Iterator[tuple[ExportRow, ExportedOrganization | str]]:
    """The organizations of a realm, each with what is sent, or why it cannot be converted. None if the file has none.

    Raises CannotRun if the rest of the file cannot be read, and OSError.
    """
    for row in read_second_list(file, "organizations"):
        if row.fields is None:
            yield row, row.fault or "The row cannot be read."
            continue
        try:
            organization = _from_keycloak(User(row.fields))
            json.dumps(organization.body, ensure_ascii=False, allow_nan=False).encode()
        except RowUnusable as error:
            yield row, str(error)
        except (ValueError, RecursionError):
            yield row, "The row has a text or a number that JSON cannot express, or is nested too deeply."
        else:
            yield row, organization


def memberships_of(organizations: Iterable[ExportedOrganization]) -> dict[str, list[Membership]]:
    """The organizations of users by user name."""
    memberships: dict[str, list[Membership]] = {}
    for organization in organizations:
        for member in organization.members:
            memberships.setdefault(member, []).append(organization.membership)
    return memberships


def lost_memberships_of(rows: Iterable[tuple[ExportRow, ExportedOrganization | str]]) -> dict[str, str]:
    """The names of organizations that cannot be converted, by the user names of their members, as far as the members
    can be read. An organization without a name has its position in the file instead."""
    lost: dict[str, str] = {}
    for row, organization in rows:
        if isinstance(organization, str) and row.fields is not None:
            name = row.fields.get("name") or row.fields.get("alias")
            title = name[:200] if isinstance(name, str) else f"number {row.number}"
            members = row.fields.get("members")
            for member in members if isinstance(members, list) else []:
                user_name = member.get("username") if isinstance(member, dict) else None
                if isinstance(user_name, str):
                    lost.setdefault(user_name.strip(), title)
    return lost


def _from_keycloak(fields: User) -> ExportedOrganization:
    name = display_name(fields.text("name")) or fields.identifier("alias")
    body: dict[str, Any] = {"name": name, "externalId": fields.identifier("id")}
    notes: list[str] = []
    alias = fields.text("alias")
    if alias and len(alias) <= _SLUG_LIMIT and _SLUG.fullmatch(alias):
        body["slug"] = alias
    elif alias:
        notes.append(f"The alias {alias[:100]}: a slug has lower-case letters, digits and single hyphens.")
    description = fields.text("description")
    metadata = ({"description": description} if description else {}) | fields.mapping("attributes")
    if metadata:
        body["metadata"] = metadata
    if fields.has("redirectUrl"):
        notes.append("The redirect URL.")
    for items, title in (("identityProviders", "Identity providers"), ("groups", "Groups")):
        names = [str(item.text("alias") or item.text("name")) for item in fields.objects(items)]
        if names:
            notes.append(f"{title}: {', '.join(names)[:200]}.")
    members = fields.objects("members")
    managed = sum(member.text("membershipType") == "MANAGED" for member in members)
    if managed:
        notes.append(f"Managed members: {managed}; they become ordinary members.")
    return ExportedOrganization(
        body,
        is_enabled=fields.flag("enabled") or not fields.has("enabled"),
        domains=[domain.identifier("name") for domain in fields.objects("domains")],
        members=[member.identifier("username") for member in members],
        notes=notes,
    )


async def send_organization(
    client: "httpx.AsyncClient", path: str, row: ExportRow, organization: ExportedOrganization | str, *, dry_run: bool
) -> OrganizationReport:
    """Create an organization unless there is one with its external id, and add the domains that it lacks, so that an
    import can be repeated. `path` is that of the organizations of the project. Raises CannotRun."""
    if isinstance(organization, str):
        name = str((row.fields or {}).get("name") or "")[:200] or None
        return _failure(row, name, {"path": "", "code": "unusable", "message": organization})
    body = dict(organization.body)
    answer = await send_again(client, "GET", path, params={"externalId": body["externalId"]})
    existing = answer.json()
    if existing or dry_run:
        organization_id = existing[0]["id"] if existing else None
    else:
        created = await send_again(client, "POST", path, json=body, headers=_one_time(), accepted=(400, 409, 422))
        while not created.is_success:
            refusal = refusal_of(created)
            refused = next((name for name in _OPTIONAL_FIELDS if name in body and _is_about(refusal, name)), None)
            if refused is None:
                return _failure(row, body["name"], refusal)
            del body[refused]
            organization.notes.append(f"The {'alias' if refused == 'slug' else 'attributes'}: {refusal['message']}")
            created = await send_again(client, "POST", path, json=body, headers=_one_time(), accepted=(400, 409, 422))
        organization_id = created.json()["id"]
        if not organization.is_enabled:
            await send_again(client, "PATCH", f"{path}/{organization_id}", json={"status": "SUSPENDED"})
    if existing and existing[0]["status"] == "ACTIVE" and not organization.is_enabled:
        organization.notes.append("That it is disabled: it is active here.")
    for domain in organization.domains:
        await _add_domain(client, path, organization_id, domain, organization.notes, dry_run=dry_run)
    outcome = "UNCHANGED" if existing else "CREATED"
    return OrganizationReport(row.number, body["name"], outcome, organization_id, notes=organization.notes)


async def _add_domain(
    client: "httpx.AsyncClient", path: str, organization_id: str | None, domain: str, notes: list[str], *, dry_run: bool
) -> None:
    if organization_id is not None and not dry_run:
        added = await send_again(
            client,
            "POST",
            f"{path}/{organization_id}/domains",
            json={"domain": domain},
            headers=_one_time(),
            accepted=(400, 409, 422),
        )
        if not added.is_success:
            refusal = refusal_of(added)
            if refusal["code"] != "domain_listed":
                notes.append(f"The domain {domain[:253]}: {refusal['message']}")
            return
    notes.append(f"The verification of {domain[:253]}: publish its TXT record.")


def _one_time() -> dict[str, str]:
    """The header with which a request that is sent again after a lost response is carried out once."""
    return {"Idempotency-Key": str(uuid4())}


def _failure(row: ExportRow, name: str | None, fault: dict[str, Any]) -> OrganizationReport:
    return OrganizationReport(row.number, name, "FAILED", faults=[fault])


def _is_about(refusal: dict[str, Any], name: str) -> bool:
    return refusal["path"].split("/")[1:2] == [name] or refusal["code"] == f"{name}_taken"
