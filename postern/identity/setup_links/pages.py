"""The hosted pages of a setup link. They work without scripts, in the languages and the theme of hosted pages.

    setup?token → button → cookie → setup/{link} → domain, sso, scim → finish

Opening the page does not bind the link to the browser, because mail scanners open links: the button does. From then on
no URL contains the token. Forms redirect to the page of the step (303), except those that show a secret or a link once.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import msgspec

from postern.identity.customers.pages import HTML, hosted_page
from postern.identity.organizations.model import OrganizationDomain, OrganizationMissing, OrganizationSuspended
from postern.identity.setup_links import directory, holder
from postern.identity.setup_links.guides import GUIDES, shown_steps
from postern.identity.setup_links.holder import Holder
from postern.identity.setup_links.model import (
    SetupConnectionActive,
    SetupLinkClosed,
    SetupLinkInUse,
    SetupLinkMissing,
    SetupLinkOwnerRequired,
    SetupStepNotAllowed,
    Step,
)
from postern.identity.sso.model import SsoConnection, SsoDomainServed, SsoTest
from postern.kernel.http.call import Call
from postern.kernel.http.operation import FORM, RawRequest, get, post
from postern.kernel.http.problems import Invalid, Problem
from postern.kernel.http.responses import HttpResponse
from postern.web.languages import Text, chosen_language, text
from postern.web.pages import read_form, redirect
from postern.web.problem_texts import text_of

PAGE = "/projects/{project_id}/auth/pages/setup"
OF_LINK = f"{PAGE}/{{link_id}}"
BODY_LIMIT = 400_000
"""Maximum size of a form, in bytes. Metadata of 100 kB in a form is up to three times as large."""
FIELDS = {
    "token": "Token of the link.",
    "action": "What to do.",
    "domain": "Domain of the organization.",
    "domainId": "Id of a domain.",
    "provider": "Identity provider.",
    "metadataUrl": "URL of the SAML metadata.",
    "metadataXml": "SAML metadata.",
    "issuer": "Issuer of the OpenID provider.",
    "clientId": "Client id.",
    "clientSecret": "Client secret.",
    "groupId": "Id of a group of the directory.",
    "role": "Role of the members of the group.",
}
TITLES: dict[Step, Text] = {
    "DOMAIN": text("Verify your domain"),
    "SSO": text("Set up single sign-on"),
    "SCIM": text("Connect your directory"),
}
"""The steps by their keys; their pages are `domain`, `sso` and `scim`."""
STATUS_TEXTS = {
    "VERIFIED": text("Verified"),
    "PENDING": text("The record was not found yet"),
    "FAILED": text("The record was not found"),
    "LAPSED": text("The record is missing"),
}
CLOSED = (
    SetupLinkMissing,
    SetupLinkClosed,
    SetupLinkInUse,
    SetupLinkOwnerRequired,
    OrganizationMissing,
    OrganizationSuspended,
)
"""The problems of a link that cannot be used; the page then shows only a notice."""
BEGIN_AGAIN = text("Open the page of your organization and begin again. What you have set up stays.")
OWNER_TEXTS: dict[type[Problem], Text] = {
    SetupLinkMissing: text("This setup is over, or was begun in another browser."),
    SetupLinkClosed: text("This setup is over."),
    SetupStepNotAllowed: text("This cannot be done here. Look at the page of your organization."),
    SetupConnectionActive: text("Single sign-on is active, so it cannot be changed here. Ask the app to change it."),
    SsoDomainServed: text("Another connection is active for this domain. Ask the app to change that."),
}
"""What the pages say about these problems to an owner, whom nobody has sent a link."""
Act = Callable[[Holder, dict[str, str]], Awaitable[dict[str, Any] | None]]
"""Processes a form. Returns values that the page shows once, or None to redirect to the page of the step."""


def _form_of(path: str) -> Any:
    """A decorator for an operation that takes a form of these pages."""
    return post(
        path,
        public=True,
        hidden=True,
        ignore_unknown_query=True,
        media_types=HTML,
        takes=FORM,
        fields=FIELDS,
        body_limit=BODY_LIMIT,
        other_statuses=(303,),
    )


def _page_of(path: str) -> Any:
    """A decorator for an operation that shows one of these pages."""
    return get(path, public=True, hidden=True, ignore_unknown_query=True, media_types=HTML)


@_page_of(PAGE)
async def setup_start_page(call: Call, token: str = "") -> HttpResponse:
    """Show what a setup link is for, with a button to begin."""
    try:
        link, organization, _ = await holder.link_of_token(call, token)
    except CLOSED as problem:
        return await _notice(call, problem)
    return await _start_page(call, token, organization.name, link.steps)


@_form_of(PAGE)
async def open_setup_link(call: Call, request: RawRequest) -> HttpResponse:
    """Bind the link to this browser, and redirect to the overview."""
    form = await read_form(request)
    try:
        link_id, cookie = await holder.open_link(call, request, form.get("token", ""))
    except CLOSED as problem:
        return await _notice(call, problem)
    return redirect(f"{_base(call)}/{link_id}{_kept_query(call, '')}", status=303, cookies=cookie)


@_page_of(OF_LINK)
async def setup_overview_page(call: Call, request: RawRequest, link_id: UUID) -> HttpResponse:
    """Show the permitted steps, and which of them are done."""

    async def show(visitor: Holder) -> HttpResponse:
        return await _overview(call, visitor)

    return await _show(call, request, link_id, show)


@_form_of(f"{OF_LINK}/finish")
async def finish_setup(call: Call, request: RawRequest, link_id: UUID) -> HttpResponse:
    """Complete the link: it cannot be used any more."""
    await read_form(request)

    async def show(visitor: Holder) -> HttpResponse:
        await holder.finish(visitor)
        if visitor.link.session_id is not None:
            query = _kept_query(call, visitor.return_url, done="setup")
            return redirect(f"{_organization_path(call, visitor.link.organization_id)}{query}", status=303)
        message = text(
            "The setup of {organization} is complete. This link no longer works.",
            organization=visitor.organization.name,
        )
        return await hosted_page(call, "notice.html", None, heading=text("Done"), message=message)

    return await _show(call, request, link_id, show)


@_page_of(f"{OF_LINK}/domain")
async def setup_domain_page(call: Call, request: RawRequest, link_id: UUID) -> HttpResponse:
    """Show the domains of the organization with their TXT records."""
    return await _show(call, request, link_id, lambda visitor: _domain_page(call, visitor), "DOMAIN")


@_form_of(f"{OF_LINK}/domain")
async def set_up_domain(call: Call, request: RawRequest, link_id: UUID) -> HttpResponse:
    """Add, check or remove a domain (`action`: add, check, remove)."""

    async def act(visitor: Holder, form: dict[str, str]) -> None:
        action = form.get("action")
        if action == "check":
            await holder.check_domain(visitor, form.get("domainId", ""))
        elif action == "remove":
            await holder.remove_domain(visitor, form.get("domainId", ""))
        else:
            await holder.add_domain(visitor, form.get("domain", ""))

    return await _process(call, request, link_id, "DOMAIN", act, _domain_page)


@_page_of(f"{OF_LINK}/sso")
async def setup_sso_page(call: Call, request: RawRequest, link_id: UUID) -> HttpResponse:
    """Show the choice of providers, or the instructions, the settings and the test of the connection."""
    choosing = "change" in request.query_params
    return await _show(call, request, link_id, lambda visitor: _sso_page(call, visitor, choosing=choosing), "SSO")


@_form_of(f"{OF_LINK}/sso")
async def set_up_sso(call: Call, request: RawRequest, link_id: UUID) -> HttpResponse:
    """Choose a provider, save settings, test or activate the connection (`action`: choose, save, test, activate)."""

    async def act(visitor: Holder, form: dict[str, str]) -> dict[str, Any] | None:
        action = form.get("action")
        if action == "save":
            await holder.save_settings(visitor, form)
        elif action == "test":
            return {"test": await holder.start_test(visitor)}
        elif action == "activate":
            await holder.activate(visitor)
        else:
            await holder.choose_provider(visitor, form.get("provider", ""), form.get("domain", ""))
        return None

    return await _process(call, request, link_id, "SSO", act, _sso_page)


@_page_of(f"{OF_LINK}/scim")
async def setup_scim_page(call: Call, request: RawRequest, link_id: UUID) -> HttpResponse:
    """Show the instructions for the directory, whether it has sent requests, and the roles of its groups."""
    return await _show(call, request, link_id, lambda visitor: _scim_page(call, visitor), "SCIM")


@_form_of(f"{OF_LINK}/scim")
async def set_up_scim(call: Call, request: RawRequest, link_id: UUID) -> HttpResponse:
    """Create a token, or set the role of a group (`action`: connect, role)."""

    async def act(visitor: Holder, form: dict[str, str]) -> dict[str, Any] | None:
        if form.get("action") == "role":
            await directory.set_role_of_group(visitor, form.get("groupId", ""), form.get("role", ""))
            return None
        connected = await directory.connect_directory(visitor)
        return {"token": connected.token}

    return await _process(call, request, link_id, "SCIM", act, _scim_page)


async def _show(
    call: Call,
    request: RawRequest,
    link_id: UUID,
    show: Callable[[Holder], Awaitable[HttpResponse]],
    step: Step | None = None,
) -> HttpResponse:
    """The response of `show` for the holder of the link, or a notice if the link cannot be used."""
    try:
        visitor = await holder.require_holder(call, request, link_id)
        if step is not None:
            visitor.require_step(step)
        return await show(visitor)
    except (*CLOSED, SetupStepNotAllowed) as problem:
        organization_id = await holder.organization_of_member(call, link_id)
        if organization_id is None:
            return await _notice(call, problem)
        query = _kept_query(call, await holder.allowed_return_url(call, request))
        return await _notice(call, problem, f"{_organization_path(call, organization_id)}{query}")


async def _process(
    call: Call, request: RawRequest, link_id: UUID, step: Step, act: Act, show: Callable[..., Awaitable[HttpResponse]]
) -> HttpResponse:
    """Process the form of a step. After a problem, show the page of the step again with a message."""
    form = await read_form(request)

    async def respond(visitor: Holder) -> HttpResponse:
        try:
            shown = await act(visitor, form)
        except CLOSED:
            raise
        except msgspec.ValidationError:
            return await show(call, visitor, problem=Invalid(), form=form)
        except Problem as problem:
            return await show(call, visitor, problem=problem, form=form)
        if shown is None:
            kept_query = _kept_query(call, visitor.return_url)
            return redirect(f"{_base(call)}/{link_id}/{step.lower()}{kept_query}", status=303)
        # The link now has what `act` has created.
        return await show(call, await holder.require_holder(call, request, link_id), **shown)

    return await _show(call, request, link_id, respond, step)


async def _start_page(call: Call, token: str, organization: str, steps: Sequence[Step]) -> HttpResponse:
    return await hosted_page(
        call,
        "setup-start.html",
        None,
        switch_url=f"{_base(call)}?{urlencode({'token': token})}",
        organization=organization,
        token=token,
        steps=[{"title": TITLES[step]} for step in TITLES if step in steps],
    )


async def _overview(call: Call, visitor: Holder) -> HttpResponse:
    domains = await holder.domains_of(visitor)
    connection = await holder.connection_of(visitor)
    connected = await directory.directory_of(visitor) if "SCIM" in visitor.link.steps else None
    done = {
        "DOMAIN": any(domain.status == "VERIFIED" for domain in domains),
        "SSO": connection is not None and connection.status == "ACTIVE",
        "SCIM": connected is not None and any(token.last_used_at for token in connected.tokens),
    }
    steps: list[dict[str, Any]] = [
        {"title": TITLES[step], "done": done[step], "url": f"{_base(call)}/{visitor.link.id}/{step.lower()}"}
        for step in TITLES
        if step in visitor.link.steps
    ]
    return await _step_page(call, visitor, "setup.html", "", steps=steps)


async def _domain_page(
    call: Call, visitor: Holder, *, problem: Problem | None = None, form: dict[str, str] | None = None
) -> HttpResponse:
    domains = await holder.domains_of(visitor)
    return await _step_page(
        call,
        visitor,
        "setup-domain.html",
        "/domain",
        problem=problem,
        entered=(form or {}).get("domain", ""),
        domains=[
            {
                "id": str(domain.id),
                "domain": domain.domain,
                "status": _domain_status(domain),
                "verified": domain.status == "VERIFIED",
                "removable": domain.verified_at is None,
                "record_name": domain.record_name,
                "record": domain.record,
            }
            for domain in domains
        ],
    )


async def _sso_page(
    call: Call,
    visitor: Holder,
    *,
    problem: Problem | None = None,
    form: dict[str, str] | None = None,
    test: SsoTest | None = None,
    choosing: bool = False,
) -> HttpResponse:
    connection = await holder.connection_of(visitor)
    entered = form or {}
    provider = visitor.link.provider
    if connection is None or provider is None or (choosing and connection.status == "DRAFT"):
        domains = await holder.domains_of(visitor)
        return await _step_page(
            call,
            visitor,
            "setup-provider.html",
            "/sso",
            problem=problem,
            domain_names=[domain.domain for domain in domains],
            chosen=entered.get("provider", provider or ""),
            may_add_domain="DOMAIN" in visitor.link.steps,
            offered=[{"key": key, "name": guide.name} for key, guide in GUIDES.items()],
        )
    guide = GUIDES[provider]
    trace = await holder.latest_test(visitor, connection)
    return await _step_page(
        call,
        visitor,
        "setup-sso.html",
        "/sso",
        problem=problem,
        provider=guide.name,
        domain=connection.domain,
        guide=shown_steps(guide.sso, _values_of(connection)),
        takes=list(guide.takes),
        change_url=f"{_base(call)}/{visitor.link.id}/sso{_kept_query(call, visitor.return_url, change='1')}",
        active=connection.status != "DRAFT",
        configured=_is_configured(connection),
        settings=_settings_of(connection),
        tested=connection.tested_at is not None,
        test_url=None if test is None else test.url,
        checks=[] if trace is None else [msgspec.structs.asdict(step) for step in trace.steps],
        accepted=trace is not None and trace.outcome == "ACCEPTED",
        metadata_url=entered.get("metadataUrl", connection.idp_metadata_url or ""),
        issuer=entered.get("issuer", connection.oidc_issuer or ""),
        client_id=entered.get("clientId", connection.oidc_client_id or ""),
        has_secret=connection.oidc_has_secret,
    )


async def _scim_page(
    call: Call,
    visitor: Holder,
    *,
    problem: Problem | None = None,
    form: dict[str, str] | None = None,
    token: str = "",
) -> HttpResponse:
    del form  # A problem leaves nothing to enter again.
    connection = await directory.directory_of(visitor)
    guide = GUIDES[visitor.link.provider or "SAML"]
    values = {"base_url": connection.base_url if connection else "", "token": token or "…"}
    groups = await directory.groups_of(visitor, connection) if connection else []
    roles = visitor.link.assignable_roles
    return await _step_page(
        call,
        visitor,
        "setup-scim.html",
        "/scim",
        problem=problem,
        provider=guide.name,
        supported=bool(guide.scim),
        connected=connection is not None,
        guide=shown_steps(guide.scim, values),
        token=token,
        received=connection is not None and any(info.last_used_at for info in connection.tokens),
        user_count=connection.user_count if connection else 0,
        group_count=connection.group_count if connection else 0,
        refused=[] if connection is None else [msgspec.structs.asdict(error) for error in connection.recent_errors[:5]],
        roles=roles,
        groups=[
            {
                "id": str(group.id),
                "name": group.display_name,
                "role": next((role for role in group.roles if role in roles), ""),
            }
            for group in groups
        ],
    )


async def _step_page(
    call: Call, visitor: Holder, template: str, path: str, *, problem: Problem | None = None, **values: Any
) -> HttpResponse:
    """A page of the link at `path` below its overview. After a problem it shows what is wrong, with the detail in
    English for those who administer the provider."""
    url = f"{_base(call)}/{visitor.link.id}"
    from_member = visitor.link.session_id is not None
    shown_url = f"{url}{path}"
    kept_query = _kept_query(call, visitor.return_url)
    organization_path = _organization_path(call, visitor.link.organization_id)
    return await hosted_page(
        call,
        template,
        None,
        status=200 if problem is None else problem.status,
        retry_after=None if problem is None else problem.retry_after_seconds,
        error="" if problem is None else _text_of(problem, from_member=from_member),
        reason="" if problem is None or (from_member and type(problem) in OWNER_TEXTS) else problem.detail,
        switch_url=f"{shown_url}?{urlencode({'returnUrl': visitor.return_url})}" if visitor.return_url else shown_url,
        kept_query=kept_query,
        overview=url,
        organization_url=f"{organization_path}{kept_query}" if from_member else "",
        action=f"{url}{path or '/finish'}",
        organization=visitor.organization.name,
        **values,
    )


async def _notice(call: Call, problem: Problem, organization_url: str = "") -> HttpResponse:
    """The page of a link that cannot be used. `organization_url` is the page from which a member has begun the
    setup."""
    from_member = bool(organization_url)
    begins_again = from_member and isinstance(problem, (SetupLinkMissing, SetupLinkClosed))
    return await hosted_page(
        call,
        "setup-notice.html",
        None,
        status=problem.status,
        heading=text("Setup"),
        message=BEGIN_AGAIN if begins_again else "",
        error=_text_of(problem, from_member=from_member),
        organization_url=organization_url,
    )


def _text_of(problem: Problem, *, from_member: bool) -> Text:
    """What a page says about a problem."""
    return (OWNER_TEXTS.get(type(problem)) if from_member else None) or text_of(problem)


def _organization_path(call: Call, organization_id: UUID) -> str:
    """The path of the page of an organization."""
    return f"/projects/{call.project_id}/auth/pages/organizations/{organization_id}"


def _domain_status(domain: OrganizationDomain) -> Text:
    return STATUS_TEXTS[domain.status]


def _values_of(connection: SsoConnection) -> dict[str, str]:
    """The values of a connection that instructions name."""
    return {
        "entity_id": connection.sp_entity_id,
        "acs_url": connection.sp_acs_url,
        "metadata_url": connection.sp_metadata_url,
        # JumpCloud lets the administrator choose its entity id, which must be unique in the organization.
        "idp_entity_id": f"{connection.sp_entity_id}/jumpcloud",
        "redirect_url": connection.oidc_redirect_url or "",
        "post_logout_redirect_url": connection.oidc_post_logout_redirect_url or "",
    }


def _is_configured(connection: SsoConnection) -> bool:
    if connection.kind == "OIDC":
        return bool(connection.oidc_issuer and connection.oidc_client_id)
    return bool(connection.idp_entity_id and connection.idp_sso_url and connection.idp_certificate)


def _settings_of(connection: SsoConnection) -> list[dict[str, str]]:
    """The settings of the identity provider that are stored, for the administrator to compare."""
    if connection.kind == "OIDC":
        rows = [("Issuer", connection.oidc_issuer), ("Client ID", connection.oidc_client_id)]
    else:
        rows = [("Entity ID", connection.idp_entity_id), ("Single sign-on URL", connection.idp_sso_url)]
        rows += [("Certificate (SHA-256)", info.fingerprint) for info in connection.idp_certificates]
    return [{"label": label, "value": value} for label, value in rows if value]


def _base(call: Call) -> str:
    return f"/projects/{call.project_id}/auth/pages/setup"


def _kept_query(call: Call, return_url: str, **parameters: str) -> str:
    """The query of a URL with these parameters and those that go from page to page: the language that was chosen, and
    the way back to the app."""
    chosen = chosen_language(call.origin)
    kept = {**parameters, **({"lang": chosen} if chosen else {}), **({"returnUrl": return_url} if return_url else {})}
    return f"?{urlencode(kept)}" if kept else ""
