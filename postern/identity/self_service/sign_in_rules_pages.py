"""The single sign-on, the directories and the sign-in rules of an organization, for members who may manage them."""

from typing import Any
from uuid import UUID

import msgspec
from msgspec import UNSET

from postern.identity.customers.sign_in import project_of_call
from postern.identity.organizations import operations as organizations
from postern.identity.organizations.model import OrganizationChange
from postern.identity.scim import operations as scim
from postern.identity.scim.model import DirectoryConnection
from postern.identity.self_service.authority import (
    ORGANIZATION,
    SIGN_IN,
    Authority,
    organization_path,
    require_authority,
)
from postern.identity.self_service.forms import check_inputs, form_values, text_input
from postern.identity.self_service.visits import Entered, Render, Visit, form_operation, page_operation, show, submit
from postern.identity.sso import operations as sso
from postern.kernel.http.call import Call
from postern.kernel.http.operation import RawRequest
from postern.kernel.http.problems import Invalid, Problem
from postern.kernel.http.responses import HttpResponse
from postern.web.languages import Text, counted_text, text

LIST_SHOWN = 100
"""Connections on the page."""
MINUTES_DIGITS = 6
"""Maximum number of digits of a number of minutes."""
METHODS: dict[str, Text] = {
    "PASSWORD": text("Password"),
    "EMAIL_CODE": text("Code by mail"),
    "EMAIL_LINK": text("Link by mail"),
    "PASSKEY": text("Passkey"),
    "SOCIAL": text("Accounts at other providers"),
    "SSO": text("Company sign-in"),
}
KINDS = {"SAML": "SAML", "OIDC": "OpenID Connect"}
"""The names of the protocols of connections, which are the same in all languages."""
CONNECTION_STATES = {
    "DRAFT": text("Not ready yet"),
    "ACTIVE": text("On"),
    "INACTIVE": text("Off"),
}


async def sign_in_values(visit: Visit, authority: Authority) -> dict[str, Any]:
    if SIGN_IN not in authority.permissions:
        return {"connections": [], "directories": [], "rules": [], "setup": ""}
    organization = authority.organization
    page = await sso.list_sso_connections(visit.call, organization.id, limit=LIST_SHOWN)
    directories = await scim.list_directory_connections(visit.call, organization.id)
    project = await project_of_call(visit.call)
    lifetime, idle = organization.session_lifetime_minutes, organization.session_idle_minutes
    methods = organization.allowed_methods
    rules = [
        *([text("Everybody must use the company sign-in.")] if organization.require_sso else []),
        *([text("Everybody must use a second factor.")] if organization.require_mfa else []),
        *([text("Allowed: {methods}", methods=[METHODS[key] for key in methods])] if methods is not None else []),
        *([text("Sessions end after {count} minutes.", count=str(lifetime))] if lifetime is not None else []),
        *([text("Sessions end after {count} minutes without use.", count=str(idle))] if idle is not None else []),
    ]
    return {
        "connections": [
            {
                "name": row.name,
                "kind": KINDS[row.kind],
                "domain": row.domain,
                "state": text("On, but it does not work now") if row.held else CONNECTION_STATES[row.status],
                "ends": visit.moment(min((it.expires_at for it in row.idp_certificates), default=None)),
            }
            for row in page.items
        ],
        "directories": [_directory(visit, row) for row in directories.items],
        "rules": rules,
        "setup": "APP" if not project.settings.sign_in.organization_setup else "HERE" if authority.owns else "OWNER",
    }


def _directory(visit: Visit, row: DirectoryConnection) -> dict[str, Any]:
    """A directory as the page shows it."""
    last_request = max((token.last_used_at for token in row.tokens if token.last_used_at), default=None)
    if row.status == "DISABLED":
        state = text("Off")
    elif last_request is None:
        state = text("The directory has not sent a request yet")
    else:
        state = text("Last request {time}", time=visit.moment(last_request))
    return {
        "name": row.name,
        "size": counted_text("{count} person", "{count} people", row.active_user_count),
        "state": state,
        "refused": bool(row.recent_errors),
    }


def _rules(organization_id: UUID) -> Render:
    async def render(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
        organization = (await require_authority(visit, organization_id, SIGN_IN)).organization
        allowed: list[str] = list(METHODS) if organization.allowed_methods is None else [*organization.allowed_methods]
        minutes = {
            "lifetime": organization.session_lifetime_minutes,
            "idle": organization.session_idle_minutes,
        }

        def checked(name: str, stored: bool) -> bool:
            return stored if entered is None else name in entered

        def number(name: str, label: Text) -> dict[str, Any]:
            stored = "" if minutes[name] is None else str(minutes[name])
            value = (entered or {}).get(name, stored)
            hint = text("Empty: no limit of the organization")
            return text_input(
                name, label, value=value, required=False, maxlength=MINUTES_DIGITS, inputmode="numeric", hint=hint
            )

        requirements = [
            {
                "value": "Sso",
                "label": text("Everybody must use the company sign-in."),
                "selected": checked("requireSso", organization.require_sso),
            },
            {
                "value": "Mfa",
                "label": text("Everybody must use a second factor."),
                "selected": checked("requireMfa", organization.require_mfa),
            },
        ]
        methods = [
            {"value": key, "label": label, "selected": checked(f"method{key}", key in allowed)}
            for key, label in METHODS.items()
        ]
        form = form_values(
            text("Sign-in rules"),
            visit.url(organization_path(organization_id, "/rules")),
            text("Save"),
            paragraphs=[text("These rules apply to all members, at their next sign-in or within minutes.")],
            inputs=[
                check_inputs("require", text("Required"), requirements),
                check_inputs("method", text("Allowed ways to sign in"), methods),
                number("lifetime", text("Minutes until a session ends")),
                number("idle", text("Minutes without use until a session ends")),
            ],
            back=visit.url(organization_path(organization_id)),
        )
        return await visit.form(form, problem=problem)

    return render


@page_operation(f"{ORGANIZATION}/rules", other_statuses=(303,))
async def rules_page(call: Call, request: RawRequest, organization_id: UUID) -> HttpResponse:
    """The page that changes the sign-in rules."""
    return await show(call, request, organization_path(organization_id, "/rules"), _rules(organization_id))


@form_operation(f"{ORGANIZATION}/rules", other_statuses=(303,))
async def change_rules_by_page(call: Call, request: RawRequest, organization_id: UUID) -> HttpResponse:
    """Change the sign-in rules."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        await require_authority(visit, organization_id, SIGN_IN)
        methods = [key for key in METHODS if f"method{key}" in form]
        if not methods:
            raise Invalid.at("/method", "Allow at least one way to sign in.", "no_method")
        change = {
            "requireSso": "requireSso" in form,
            "requireMfa": "requireMfa" in form,
            "allowedMethods": None if len(methods) == len(METHODS) else methods,
            "sessionLifetimeMinutes": _minutes(form["lifetime"]),
            "sessionIdleMinutes": _minutes(form["idle"]),
        }
        body = msgspec.convert(change, OrganizationChange)
        assert body.name is UNSET
        await organizations.change_organization(visit.call, organization_id, body)
        return visit.done(organization_path(organization_id), "rules")

    return await submit(call, request, organization_path(organization_id, "/rules"), act, _rules(organization_id))


def _minutes(entered: str) -> int | None:
    """A number that a person has entered; None if it is empty. Raises Invalid."""
    number = entered.strip()
    if not number:
        return None
    # The length first: Python refuses to convert very long numbers.
    if len(number) > MINUTES_DIGITS or not (number.isascii() and number.isdigit()):
        raise Invalid
    return int(number)
