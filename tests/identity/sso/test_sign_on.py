"""Sign-on with an identity provider."""

import asyncio
import html
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from uuid import uuid4

import jwt
import pytest
from cryptography import x509
from lxml import etree

from tests.conftest import Client
from tests.identity.customers.test_second_factor import with_passkey, with_totp
from tests.identity.sso.conftest import REDIRECT_URL, VERIFIER, person, query_of
from tests.peers.identity_provider import IdentityProvider, Person, keys, posted
from tests.protocols.saml.conftest import schema

SIGNATURES = {
    "signed assertion": {},
    "signed response": {"sign_assertion": False, "sign_response": True},
    "both signed": {"sign_response": True},
}


@pytest.mark.parametrize("encrypted", [False, True], ids=["in clear", "encrypted"])
@pytest.mark.parametrize("signature", SIGNATURES)
async def test_a_sign_on_creates_customer_membership_and_session(connected, signature, encrypted):
    for name, value in SIGNATURES[signature].items():
        setattr(connected.idp, name, value)
    if encrypted:
        connected.idp.encrypt_for = x509.load_pem_x509_certificate(connected.connection["spCertificate"].encode())
    email = connected.address()
    browser = connected.browser()
    answer = await browser.sign_on(email)
    assert query_of(answer)["state"] == "app-state"
    signed_in = await browser.exchange_code(answer)
    customer = signed_in["customer"]
    assert (customer["email"], customer["name"], customer["identities"]) == (email, "Maria", ["SAML"])
    assert customer["emailVerifiedAt"] is not None
    members = await connected.directory.members_of(connected.organization)
    memberships = [(member["customerId"], member["roles"], member["source"]) for member in members]
    assert memberships == [(customer["id"], ["MEMBER"], "SSO")]
    profile = await Client(connected.app, signed_in["accessToken"]).get(
        f"/projects/{connected.directory.project.id}/auth/me"
    )
    assert profile.json()["id"] == customer["id"]
    signed_in_events = await connected.directory.events("sso.signed_in")
    assert [(event["subjectId"], event["data"]["customerId"]) for event in signed_in_events] == [
        (connected.connection["id"], customer["id"])
    ]
    (trace,) = await connected.traces()
    assert (trace["outcome"], trace["customerId"]) == ("ACCEPTED", customer["id"])
    assert all(step["ok"] for step in trace["steps"])


async def test_a_returning_person_is_identified_by_the_subject(connected):
    first = await connected.browser().sign_in(connected.address("maria"))
    user_with_new_address = person(connected.address("married"), name_id=f"subject-of-{connected.address('maria')}")
    again = await connected.browser().sign_in("", person=user_with_new_address)
    assert again["customer"]["id"] == first["customer"]["id"]
    assert await connected.customer_count() == 1


async def test_the_organization_of_the_single_sign_on_is_active(connected):
    """Also for a member of several organizations who had another one active."""
    email = connected.address()
    first = await connected.browser().sign_in(email)
    assert first["organizationId"] == connected.organization["id"]
    other = await connected.directory.organization("Other")
    body = {"customerId": first["customer"]["id"]}
    await connected.directory.project.client.post(f"/b2b/organizations/{other['id']}/members", body)
    stranger = Client(connected.app, None, f"/projects/{connected.directory.project.id}/auth")
    switch = {"refreshToken": first["refreshToken"], "organizationId": other["id"]}
    assert (await stranger.post("/token/refresh", switch)).json()["organizationId"] == other["id"]
    second = await connected.browser().sign_in(email)
    claims = jwt.decode(second["accessToken"], options={"verify_signature": False})
    assert claims["org"]["id"] == second["organizationId"] == connected.organization["id"]


async def test_concurrent_replays_sign_on_once(connected):
    browser = connected.browser()
    url, form = browser.idp_response((await browser.start()).headers["location"], connected.address())
    answers = await asyncio.gather(*(browser.post(url, form) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [303, 403, 403, 403]
    assert await connected.customer_count() == 1
    replay = await browser.post(url, form)
    assert replay.status_code == 403


async def test_a_replay_of_an_idp_initiated_sign_on_is_rejected(acme):
    await acme.connect(allowIdpInitiated=True, defaultRedirectUrl=REDIRECT_URL)
    browser = acme.browser()
    acme.idp.now = acme.clock()
    answer = await browser.idp_initiated_sign_on(acme.address())
    assert answer.status_code == 303
    body = answer.request.content.decode()
    requests = [
        browser.client.request(
            "POST",
            acme.connection["spAcsUrl"],
            content=body,
            headers={"content-type": "application/x-www-form-urlencoded"},
        )
        for _ in range(3)
    ]
    replays = await asyncio.gather(*requests)
    assert [replay.status_code for replay in replays] == [403] * 3
    assert "REPLAYED" in replays[0].text


async def test_a_sign_on_is_bound_to_the_browser_that_started_it(connected):
    browser, other_browser = connected.browser(), connected.browser()
    await other_browser.start()
    answer = await other_browser.post(
        *browser.idp_response((await browser.start()).headers["location"], connected.address())
    )
    assert answer.status_code == 403
    assert "WRONG_IN_RESPONSE_TO" in answer.text
    assert await connected.customer_count() == 0


async def test_unsolicited_responses_are_rejected_unless_allowed(connected):
    browser = connected.browser()
    refused = await browser.idp_initiated_sign_on(connected.address())
    assert (refused.status_code, "UNSOLICITED" in refused.text) == (403, True)
    await connected.change(allowIdpInitiated=True)
    no_redirect_url = await browser.idp_initiated_sign_on(connected.address())
    assert (no_redirect_url.status_code, "NOWHERE_TO_GO" in no_redirect_url.text) == (403, True)
    assert await connected.customer_count() == 0
    await connected.change(defaultRedirectUrl=REDIRECT_URL)
    query = query_of(await browser.idp_initiated_sign_on(connected.address()))
    assert query["connectionId"] == connected.connection["id"]
    path = f"/projects/{connected.directory.project.id}/auth/token"
    for body in ({"code": query["code"]}, {"code": query["code"], "codeVerifier": VERIFIER}):
        assert (await browser.client.post(path, body)).status_code == 401, (
            "a code without a challenge needs a secret key"
        )
    exchange = await connected.client.post(path, {"code": query["code"]})
    assert exchange.json()["customer"]["identities"] == ["SAML"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"audience": "https://other.example"}, "WRONG_AUDIENCE"),
        ({"destination": "https://other.example/acs"}, "WRONG_DESTINATION"),
        ({"recipient": "https://other.example/acs"}, "WRONG_RECIPIENT"),
        ({"issuer": "https://other.example"}, "WRONG_ISSUER"),
        ({"life": timedelta(minutes=-5)}, "EXPIRED"),
        ({"status": "urn:oasis:names:tc:SAML:2.0:status:Responder"}, "STATUS_NOT_SUCCESS"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_responses_that_fail_a_check_are_rejected_and_traced(connected, changes, reason):
    if reason == "STATUS_NOT_SUCCESS":  # Identity providers do not sign error responses.
        connected.idp.sign_assertion = False
    else:
        connected.idp.sign_response = True
    answer = await connected.browser().sign_on(connected.address(), **changes)
    assert (answer.status_code, reason in answer.text) == (403, True), answer.text
    (trace,) = await connected.traces()
    assert (trace["outcome"], trace["reason"]) == ("REFUSED", reason)
    assert any(not step["ok"] for step in trace["steps"])
    assert await connected.customer_count() == 0


@pytest.mark.parametrize("raw", ["", "!!!", "PHg+", "A" * 400_000])
async def test_malformed_responses_are_rejected(connected, raw):
    answer = await connected.browser().post(connected.connection["spAcsUrl"], {"SAMLResponse": raw})
    assert answer.status_code == 403


async def test_an_assertion_for_another_connection_is_rejected(connected, new_project):
    browser = connected.browser()
    url, form = browser.idp_response((await browser.start()).headers["location"], connected.address())
    await connected.connect(active=False, domain="two.example", allowIdpInitiated=True)
    answer = await browser.post(connected.connection["spAcsUrl"], form)
    assert answer.status_code == 403
    assert (await browser.post(url, form)).status_code == 303, "the connection of the request accepts it"


async def test_an_unknown_connection_is_404(connected, stranger):
    unknown = "/sso/saml/01a1fcc4-0000-7000-8000-000000000000"
    for verb, path in [("GET", "/login"), ("GET", "/metadata.xml"), ("POST", "/acs"), ("GET", "/slo")]:
        assert (await stranger.request(verb, f"http://postern.test{unknown}{path}")).status_code == 404


async def test_idp_certificates_roll_over_without_interruption(connected):
    newer = keys("rolled")
    email = connected.address()
    await connected.change(idpCertificate=[connected.idp.certificate, newer.pem])
    await connected.browser().sign_in(email)
    connected.idp.keys = newer
    await connected.browser().sign_in(email)
    await connected.change(idpCertificate=[newer.pem])
    await connected.browser().sign_in(email)
    connected.idp.keys = keys()
    refused = await connected.browser().sign_on(email)
    assert (refused.status_code, "UNKNOWN_CERTIFICATE" in refused.text) == (403, True)


async def test_sp_key_rotation_does_not_interrupt_sign_ons(connected):
    def certificate(text):
        return x509.load_pem_x509_certificate(text.encode())

    first = connected.connection["spCertificate"]
    connected.idp.encrypt_for = certificate(first)
    email = connected.address()
    await connected.client.post(f"{connected.connection_path}/rotate-certificate")
    await connected.browser().sign_in(email)
    await connected.client.post(f"{connected.connection_path}/rotate-certificate")
    refused = await connected.browser().sign_on(email)
    assert (refused.status_code, "DECRYPTION_FAILED" in refused.text) == (403, True), "the old key is deleted"


async def test_encryption_can_be_required(connected):
    await connected.change(requireEncryption=True)
    refused = await connected.browser().sign_on(connected.address())
    assert (refused.status_code, "NOT_ENCRYPTED" in refused.text) == (403, True)


@pytest.mark.parametrize("cause", ["domain removed", "suspended", "inactive"])
async def test_a_blocked_connection_rejects_sign_ons(connected, cause):
    browser = connected.browser()
    location = (await browser.start()).headers["location"]
    if cause == "domain removed":
        await connected.remove_domain()
    elif cause == "suspended":
        path = f"/b2b/organizations/{connected.organization['id']}"
        assert (await connected.client.patch(path, {"status": "SUSPENDED"})).status_code == 200
    else:
        await connected.client.post(f"{connected.connection_path}/deactivate")
    query = query_of(await browser.post(*browser.idp_response(location, connected.address())))
    errors = {"domain removed": "domain_not_verified", "suspended": "organization_suspended", "inactive": "not_active"}
    assert query == {"error": errors[cause], "state": "app-state"}
    again = await browser.start()
    assert (again.status_code, again.json()["code"]) == (409, "sso_unavailable")
    assert await connected.customer_count() == 0


async def test_sign_ons_return_only_to_listed_redirect_urls(connected):
    answer = await connected.browser().start(redirectUrl="https://evil.example/")
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (400, "/redirectUrl")


async def test_the_http_post_request_page_submits_itself_under_a_strict_csp(connected):
    await connected.change(idpSsoBinding="POST")
    page = await connected.browser().start()
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "<script>" not in page.text
    action, fields = posted(page.text)
    assert action == f"{connected.idp.base}/login"
    assert set(fields) == {"SAMLRequest"}


async def test_requests_are_signed(connected):
    location = (await connected.browser().start()).headers["location"]
    assert {"SAMLRequest", "SigAlg", "Signature"} == {
        part.split("=")[0] for part in urlsplit(location).query.split("&")
    }


async def test_the_cookie_is_http_only_and_limited_to_the_connection(connected, world):
    cookie = (await connected.browser().start()).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert f"Path=/sso/saml/{connected.connection['id']}" in cookie


# Linking to existing customers, and addresses outside verified domains.


async def test_a_verified_domain_links_to_the_customer_with_the_address(connected):
    existing = await connected.directory.customer(connected.address("maria"))
    signed_in = await connected.browser().sign_in(connected.address("maria"))
    assert signed_in["customer"]["id"] == existing["id"]
    assert "SAML" in signed_in["customer"]["identities"]


async def test_single_sign_on_counts_as_another_sign_in_method_only_while_it_works(connected, auth):
    address = connected.address()
    sign_up, ada, _, passkey, _ = await with_passkey(auth, address)
    assert (await connected.browser().sign_in(address))["customer"]["id"] == sign_up["customer"]["id"]
    await auth.settings(methods=["PASSKEY"])
    assert (await connected.client.post(f"{connected.connection_path}/deactivate")).status_code == 200
    refused = await ada.client.delete(f"/passkeys/{passkey['id']}")
    assert (refused.status_code, refused.json()["code"]) == (409, "last_sign_in_method")
    assert (await connected.client.post(f"{connected.connection_path}/activate")).status_code == 200
    assert (await ada.client.delete(f"/passkeys/{passkey['id']}")).status_code == 204


async def test_linking_to_an_unverified_customer_revokes_earlier_credentials(connected, auth):
    address = connected.address("maria")
    unverified = await auth.unverified(address)
    signed_in = await connected.browser().sign_in(address)
    assert signed_in["customer"]["id"] == unverified["customer"]["id"]
    assert signed_in["customer"]["identities"] == ["SAML"]
    assert (await auth.sign_in(address)).status_code == 401
    assert (await auth.as_(unverified["accessToken"]).get("/me")).status_code == 401


async def test_an_address_outside_the_verified_domains_is_not_trusted(connected):
    existing = await connected.directory.customer("ceo@other.example")
    query = query_of(await connected.browser().sign_on("ceo@other.example"))
    assert query["error"] == "email_outside"
    await connected.change(allowOtherDomains=True)
    query = query_of(await connected.browser().sign_on("ceo@other.example"))
    assert query["error"] == "account_not_linked"
    customer = (await connected.client.get(f"/customers/{existing['id']}")).json()
    assert [identity["provider"] for identity in customer["identities"]] == ["PASSWORD"]
    guest = await connected.browser().sign_in("guest@other.example")
    assert guest["customer"]["emailVerifiedAt"] is None


async def test_connections_with_the_same_entity_id_do_not_share_subjects(connected):
    email = connected.address("maria")
    first = await connected.browser().sign_in(email)
    other = await connected.directory.organization("Other")
    other_domain = await connected.directory.verified_domain(other, "evil.example")
    connected.organization, connected.domain = other, other_domain
    connected.idp = IdentityProvider(connected.idp.entity_id, keys=keys("evil"), now=connected.clock())
    await connected.connect(allowOtherDomains=True)
    user_with_same_subject = person("mallory@evil.example", name_id=f"subject-of-{email}")
    signed_in = await connected.browser().sign_in("", person=user_with_same_subject)
    assert signed_in["customer"]["id"] != first["customer"]["id"]
    query = query_of(await connected.browser().sign_on(email, person=person(email, name_id="another")))
    assert query["error"] == "account_not_linked"


async def test_another_subject_with_a_linked_address_does_not_get_the_customer(connected):
    """Regression test of I4 (tests/defects.md)."""
    email = connected.address("maria")
    first = await connected.browser().sign_in(email)
    query = query_of(await connected.browser().sign_on(email, person=person(email, name_id="another subject")))
    assert (query["error"], "code" in query) == ("identity_conflict", False)
    assert (await connected.traces())[0]["reason"] == "IDENTITY_CONFLICT"
    assert (await connected.client.get("/identity-requests")).json() == []
    again = await connected.browser().sign_in(email)
    assert again["customer"]["id"] == first["customer"]["id"]
    assert again["customer"]["identities"].count("SAML") == 1


@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_another_subject_needs_the_approval_of_an_administrator(connected, decision):
    """Regression test of I4 (tests/defects.md)."""
    changed = await connected.change(onNewSubject="HOLD")
    assert changed["onNewSubject"] == "HOLD"
    email = connected.address("maria")
    first = await connected.browser().sign_in(email)
    new_subject = person(email, name_id="another subject")
    for _ in range(2):
        query = query_of(await connected.browser().sign_on(email, person=new_subject))
        assert query["error"] == "identity_held"
    (identity_request,) = (await connected.client.get("/identity-requests?status=pending")).json()
    assert (identity_request["customerId"], identity_request["subject"], identity_request["email"]) == (
        first["customer"]["id"],
        "another subject",
        email,
    )
    assert identity_request["connectionId"] == connected.connection["id"]
    assert (identity_request["status"], identity_request["decidedAt"]) == ("PENDING", None)
    decided = await connected.client.post(f"/identity-requests/{identity_request['id']}/{decision}")
    assert decided.json()["status"] == {"approve": "APPROVED", "reject": "REJECTED"}[decision]
    second_decision = await connected.client.post(f"/identity-requests/{identity_request['id']}/approve")
    assert (second_decision.status_code, second_decision.json()["code"]) == (409, "identity_request_decided")
    old_subject = person(email, name_id=f"subject-of-{email}")
    accepted, refused = (new_subject, old_subject) if decision == "approve" else (old_subject, new_subject)
    assert (await connected.browser().sign_in(email, person=accepted))["customer"]["id"] == first["customer"]["id"]
    query = query_of(await connected.browser().sign_on(email, person=refused))
    assert query["error"] == ("identity_held" if decision == "approve" else "identity_conflict")
    assert (await connected.client.get("/identity-requests?status=unknown")).status_code == 400


async def test_an_address_change_at_the_idp_updates_the_customer(connected):
    """Regression test of I11 (tests/defects.md)."""
    old_address, new_address, taken_address = (connected.address() for _ in range(3))
    first = await connected.browser().sign_in(old_address, person=person(old_address, name_id="maria"))
    other = await connected.directory.customer(taken_address)
    for email, expected in (
        (new_address, new_address),
        (taken_address, new_address),
        ("maria@other.example", new_address),
    ):
        user = person(email, name_id="maria")
        answer = await connected.browser().sign_on(email, person=user)
        if "code" in query_of(answer):
            assert (await connected.browser().exchange_code(answer))["customer"]["id"] == first["customer"]["id"]
        customer = (await connected.client.get(f"/customers/{first['customer']['id']}")).json()
        assert customer["email"] == expected, email
    assert (await connected.client.get(f"/customers/{other['id']}")).json()["email"] == taken_address
    events = (await connected.client.get(f"/customers/{first['customer']['id']}/events")).json()["data"]
    assert sum(event["type"] == "customer.email_verified" and event["metadata"]["changed"] for event in events) == 1


async def test_an_address_changed_in_postern_is_not_overwritten_by_the_idp(connected):
    """Regression test of I11 (tests/defects.md)."""
    idp_address, postern_address, new_idp_address = (connected.address() for _ in range(3))
    first = await connected.browser().sign_in(idp_address, person=person(idp_address, name_id="maria"))
    path = f"/customers/{first['customer']['id']}"
    assert (await connected.client.patch(path, {"email": postern_address, "emailVerified": True})).status_code == 200
    await connected.browser().sign_in(new_idp_address, person=person(new_idp_address, name_id="maria"))
    assert (await connected.client.get(path)).json()["email"] == postern_address


async def test_a_removed_member_can_rejoin_only_by_invitation(connected):
    """Regression test of I11 (tests/defects.md)."""
    email = connected.address("maria")
    signed_in = await connected.browser().sign_in(email)
    customer = signed_in["customer"]["id"]
    organization = f"/b2b/organizations/{connected.organization['id']}"
    assert (await connected.client.delete(f"{organization}/members/{customer}")).status_code == 200
    await connected.browser().sign_in(email)
    assert (await connected.client.get(f"{organization}/members")).json() == []
    domain_join = (await connected.client.post("/b2b/domain-join", {"customerId": customer})).json()
    assert (domain_join["joined"], domain_join["reason"]) == (False, "MEMBER_REMOVED")
    assert (await connected.client.post(f"{organization}/invitations", {"email": email})).status_code == 201
    await connected.browser().sign_in(email)
    assert [member["customerId"] for member in (await connected.client.get(f"{organization}/members")).json()] == [
        customer
    ]


async def test_new_customers_are_rejected_without_create_customers(connected):
    await connected.change(createCustomers=False)
    assert query_of(await connected.browser().sign_on(connected.address()))["error"] == "sign_up_closed"
    existing = await connected.directory.customer(connected.address("maria"))
    signed_in = await connected.browser().sign_in(connected.address("maria"))
    assert signed_in["customer"]["id"] == existing["id"]


async def test_a_banned_customer_cannot_sign_on(connected):
    signed_in = await connected.browser().sign_in(connected.address("maria"))
    await connected.client.post(f"/customers/{signed_in['customer']['id']}/ban")
    assert query_of(await connected.browser().sign_on(connected.address("maria")))["error"] == "sign_in_blocked"


async def test_a_transient_name_id_does_not_identify_a_customer(connected):
    user = Person("_x", "urn:oasis:names:tc:SAML:2.0:nameid-format:transient", {"mail": [connected.address()]})
    query = query_of(await connected.browser().sign_on(person=user))
    assert query["error"] == "transient_subject"
    await connected.change(attributeMapping={"subject": "employeeNumber"})
    user.attributes["employeeNumber"] = ["17"]
    first = await connected.browser().sign_in("", person=user)
    again = await connected.browser().sign_in("", person=user)
    assert first["customer"]["id"] == again["customer"]["id"]


async def test_a_sign_on_without_an_address_creates_no_customer(connected):
    user = Person("subject", "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent", {})
    assert query_of(await connected.browser().sign_on(person=user))["error"] == "email_missing"


async def test_concurrent_first_sign_ons_create_one_customer(connected):
    email = connected.address()
    browsers = [connected.browser() for _ in range(3)]
    idp_responses = [browser.idp_response((await browser.start()).headers["location"], email) for browser in browsers]
    answers = await asyncio.gather(
        *(browser.post(*idp_response) for browser, idp_response in zip(browsers, idp_responses, strict=True))
    )
    assert [set(query_of(answer)) for answer in answers] == [{"code", "state"}] * 3
    assert await connected.customer_count() == 1


# Groups and roles.


async def test_group_roles_are_added_and_removed_at_sign_on(connected):
    role = {"key": "billing", "name": "Billing", "scope": "ORGANIZATION"}
    created = await connected.client.post("/access/roles", role)
    assert created.status_code == 201, created.text
    await connected.change(groupRoles={"admins & co": ["ADMIN"], "finance": ["billing"]})
    email = connected.address()

    async def roles_with(*groups):
        signed_in = await connected.browser().sign_in("", person=person(email, groups=list(groups)))
        members = await connected.directory.members_of(connected.organization)
        return next(member["roles"] for member in members if member["customerId"] == signed_in["customer"]["id"])

    assert sorted(await roles_with("staff", "admins & co")) == ["ADMIN", "MEMBER"]
    assert sorted(await roles_with("finance")) == ["MEMBER", "billing"]
    assert await roles_with() == ["MEMBER"]


async def test_unmapped_roles_and_the_last_owner_are_kept(connected):
    await connected.change(groupRoles={"owners": ["OWNER"]})
    member = await connected.directory.member(
        connected.organization, "OWNER", "ADMIN", email=connected.address("maria")
    )
    await connected.browser().sign_in(connected.address("maria"))
    (listed,) = await connected.directory.members_of(connected.organization)
    assert (listed["customerId"], sorted(listed["roles"])) == (member["id"], ["ADMIN", "OWNER"])


# Tests of a connection.


async def test_a_test_shows_every_check_and_creates_no_customer(acme):
    """Regression test of I12 (tests/defects.md)."""
    await acme.connect(active=False, groupRoles={"staff": ["ADMIN"]})
    browser = acme.browser()
    link = (await acme.client.post(f"{acme.connection_path}/test")).json()
    started = await browser.client.get(link["url"])
    page = await browser.post(*browser.idp_response(started.headers["location"], acme.address()))
    assert page.status_code == 200
    assert "The test succeeded" in page.text
    assert "{&#x27;" not in page.text, "attributes are listed one by one"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert await acme.customer_count() == 0
    assert await acme.directory.members_of(acme.organization) == []
    (trace,) = await acme.traces()
    assert (trace["kind"], trace["outcome"], trace["customerId"]) == ("TEST", "ACCEPTED", None)
    assert trace["profile"]["name"] == "Maria"
    assert (await acme.client.get(acme.connection_path)).json()["testedAt"] is not None
    await acme.change(clockSkewSeconds=30)
    assert acme.connection["testedAt"] is None


async def test_pages_of_single_sign_on_have_the_brand_and_the_language_of_the_project(acme):
    await acme.connect(active=False)
    await settings_of(acme, defaultLanguage="de", appName="Linden", redirectUrls=["https://app.example.com/back"])
    browser = acme.browser()
    style = f"/projects/{acme.directory.project.id}/auth/pages/style.css"

    def shown(page, *parts):
        return [part for part in (style, '<html lang="de">', "Linden", *parts) if part not in html.unescape(page.text)]

    link = (await acme.client.post(f"{acme.connection_path}/test")).json()
    started = await browser.client.get(link["url"])
    passed = await browser.post(*browser.idp_response(started.headers["location"], acme.address()))
    assert shown(passed, "Der Test war erfolgreich", "niemand angemeldet", "Prüfungen", "Maria") == []
    rejected = await browser.post(acme.connection["spAcsUrl"], {"SAMLResponse": "nonsense"})
    back = 'href="https://app.example.com'
    assert (rejected.status_code, shown(rejected, "Sie konnten nicht angemeldet werden", "Grund:", back)) == (403, [])
    # A problem before the connection is read, and one of a connection that does not exist.
    headers = {"accept": "text/html"}
    path = f"/sso/saml/{acme.connection['id']}/login?redirectUrl=https://elsewhere.example"
    assert shown(await browser.client.get(path, headers=headers)) == []
    unknown = await browser.client.get(f"/sso/saml/{uuid4()}/login", headers=headers)
    assert (unknown.status_code, style in html.unescape(unknown.text)) == (404, False)


async def settings_of(acme, **settings):
    project = acme.directory.project
    changed = await project.developer.patch(f"/projects/{project.id}", {"settings": {"signIn": settings}})
    assert changed.status_code == 200, changed.text


async def test_a_failed_test_reports_every_fault(acme):
    await acme.connect(active=False)
    browser = acme.browser()
    link = (await acme.client.post(f"{acme.connection_path}/test")).json()
    location = (await browser.client.get(link["url"])).headers["location"]
    hostile = person("<script>alert(1)</script>")
    page = await browser.post(*browser.idp_response(location, person=hostile, audience="https://other.example"))
    assert (page.status_code, "WRONG_AUDIENCE" in page.text) == (200, True)
    assert "<script>alert" not in page.text
    location = (await browser.client.get(link["url"])).headers["location"]
    page = await browser.post(*browser.idp_response(location, person=hostile))
    assert "EMAIL_MISSING" in page.text
    assert "<script>alert" not in page.text
    assert (await acme.client.get(acme.connection_path)).json()["testedAt"] is None


async def test_a_forged_or_expired_test_link_is_rejected(acme, clock):
    await acme.connect(active=False)
    link = (await acme.client.post(f"{acme.connection_path}/test")).json()["url"]
    browser = acme.browser()
    forged = await browser.client.get(link[:-1] + ("A" if link[-1] != "A" else "B"))
    assert (forged.status_code, forged.json()["code"]) == (403, "sso_test_invalid")
    clock.move(timedelta(hours=2))
    assert (await browser.client.get(link)).status_code == 403


# Finding the connection.


async def test_the_sso_lookup_finds_the_connection_of_an_address(connected, stranger):
    path = f"/projects/{connected.directory.project.id}/auth/sso"
    email = connected.address().upper()
    lookup = (await stranger.get(path, params={"email": email})).json()
    assert (lookup["connectionId"], lookup["loginUrl"]) == (
        connected.connection["id"],
        connected.connection["loginUrl"],
    )
    assert (await stranger.post(path, {"email": email})).json() == lookup
    second_domain = await connected.directory.verified_domain(connected.organization, "second-of-acme.example")
    assert (await stranger.post(path, {"email": f"a@{second_domain['domain']}"})).json() == lookup
    for other_address in ("maria@gmail.com", f"maria@sub.{connected.domain['domain']}", "maria@localhost"):
        assert set((await stranger.post(path, {"email": other_address})).json().values()) == {None}
    await connected.remove_domain()
    assert (await stranger.post(path, {"email": email})).json()["connectionId"] is None


async def test_published_metadata_describes_the_service_provider(connected, stranger):
    answer = await stranger.get(connected.connection["spMetadataUrl"])
    assert answer.headers["content-type"].startswith("application/xml")
    schema("saml-schema-metadata-2.0.xsd").validate(etree.fromstring(answer.content))
    assert (await connected.client.get(f"{connected.connection_path}/metadata.xml")).content == answer.content
    assert etree.fromstring(answer.content).get("entityID") == connected.connection["spEntityId"]


@pytest.mark.parametrize("second_factor", [False, True], ids=["at once", "after a second factor"])
async def test_a_session_ends_no_later_than_the_idp_session(connected, auth, clock, second_factor):
    """SessionNotOnOrAfter (SAML profiles §4.1.4.3), with the clock skew of the connection."""
    email = connected.address("maria")
    app = (await with_totp(auth, clock, email))[2] if second_factor else None
    idp_session_ends_at = clock() + timedelta(hours=1)
    signed_in = await connected.browser().sign_in(email, session_ends=idp_session_ends_at)
    if app is not None:
        body = {"mfaToken": signed_in["mfaToken"], "code": app.code()}
        signed_in = (await auth.post("/mfa/verify", body)).json()
    session_ends_at = datetime.fromisoformat(signed_in["refreshTokenExpiresAt"])
    assert timedelta() <= idp_session_ends_at + timedelta(seconds=60) - session_ends_at < timedelta(seconds=1)
    clock.move(timedelta(minutes=59))
    refreshed = await auth.post("/token/refresh", {"refreshToken": signed_in["refreshToken"]})
    assert refreshed.status_code == 200
    assert datetime.fromisoformat(refreshed.json()["accessTokenExpiresAt"]) <= session_ends_at
    clock.move(timedelta(minutes=3))
    again = await auth.post("/token/refresh", {"refreshToken": refreshed.json()["refreshToken"]})
    assert again.status_code == 401
    assert (await auth.as_(refreshed.json()["accessToken"]).get("/me")).status_code == 401


async def test_a_grant_is_rejected_after_the_end_of_the_idp_session(connected, clock):
    browser = connected.browser()
    answer = await browser.sign_on(connected.address("maria"), session_ends=clock() + timedelta(seconds=1))
    clock.move(timedelta(seconds=70))
    path = f"/projects/{connected.directory.project.id}/auth/token"
    refused = await browser.client.post(path, {"code": query_of(answer)["code"], "codeVerifier": VERIFIER})
    assert (refused.status_code, refused.json()["code"]) == (401, "code_invalid")
