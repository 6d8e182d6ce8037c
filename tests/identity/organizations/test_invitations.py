"""Invitations: e-mails, acceptance, expiry, and every action in every state."""

import asyncio
import re
from datetime import timedelta
from typing import get_args
from uuid import UUID

import lxml.html
import pytest
from msgspec.structs import replace

from postern.identity.organizations import invitation_store
from postern.identity.organizations.mails import url_with_token
from postern.identity.organizations.model import NEXT_INVITATION_STATUS, InvitationStatus
from postern.identity.organizations.rules import invitation_token
from postern.identity.organizations.work import WORK
from postern.kernel.due import Lane, claim
from tests.identity.customers.conftest import GOOD, new_address

ACTIONS = ("ACCEPT", "REVOKE", "RESEND")
INVITATIONS = next(work for work in WORK if work.name == "organizations.invitations")


async def invite(directory, organization, email, **fields):
    path = f"/apps/{directory.project.id}/organizations/{organization['id']}/invitations"
    return await directory.project.client.post(path, {"email": email, **fields})


async def token_for(auth, email: str) -> str:
    """The invitation token in the newest e-mail to an address."""
    texts = [mail["text"] for mail in await auth.mails(email)]
    return re.findall(r"\b[0-9a-f]{32}\.[\w-]{27}", texts[-1])[0]


async def signed_in(auth, directory, email: str, **fields):
    """Create a customer and sign in; returns the client of the customer."""
    await directory.customer(email, **fields)
    return auth.as_((await auth.sign_in(email)).json()["accessToken"])


async def test_an_invitation_is_in_the_language_that_the_customer_has_stored(directory, auth):
    acme, known, unknown = await directory.organization("Acme"), new_address(), new_address()
    customer = await directory.customer(known)
    assert (await auth.project.client.patch(f"/customers/{customer['id']}", {"language": "de"})).status_code == 200
    for address, subject in ((known, "Einladung zu Acme"), (unknown, "You are invited to Acme")):
        assert (await invite(directory, acme, address)).status_code == 201
        assert (await auth.mails(address))[-1]["subject"].startswith(subject)


async def test_a_mailed_invitation_leads_to_a_membership(directory, auth, project):
    acme = await directory.organization("Acme {{ 7 * 7 }}")
    inviter = await directory.member(acme, "OWNER")
    response = await invite(
        directory,
        acme,
        "ada@example.com",
        role="ADMIN",
        acceptUrl="https://app.example.com/join?from=mail",
        invitedByEndUserId=inviter["id"],
    )
    assert response.status_code == 201
    invitation = response.json()
    assert (invitation["role"], invitation["status"], invitation["appId"]) == ("ADMIN", "PENDING", project.id)
    assert (invitation["invitedByEndUserId"], invitation["mailedAt"]) == (inviter["id"], None)
    assert (await project.client.get(f"/b2b/organizations/{acme['id']}")).json()["pendingInvitationCount"] == 1
    (mail,) = await auth.mails("ada@example.com")
    assert "as Admin.\n\nAccept the invitation" in mail["text"].replace("\r\n", "\n"), "the role has no description"
    assert mail["subject"] == "You are invited to Acme {{ 7 * 7 }} on " + mail["subject"].rpartition(" on ")[2]
    assert "https://app.example.com/join?from=mail&token=" in mail["text"]
    assert 'href="https://app.example.com/join?from=mail&amp;token=' in mail["html"]
    token = await token_for(auth, "ada@example.com")
    preview = await auth.post("/invitations/preview", {"token": token})
    assert (preview.json()["organization"]["id"], preview.json()["status"]) == (acme["id"], "PENDING")
    ada = await signed_in(auth, directory, "Ada@example.com")
    accepted = await ada.post("/invitations/accept", {"token": token})
    assert accepted.status_code == 200, accepted.text
    assert (accepted.json()["invitation"]["status"], accepted.json()["roles"]) == ("ACCEPTED", ["ADMIN"])
    again = await ada.post("/invitations/accept", {"token": token})
    assert again.json() == accepted.json()
    (member,) = [member for member in await directory.members_of(acme) if member["customerId"] != inviter["id"]]
    assert (member["roles"], member["source"]) == (["ADMIN"], "INVITATION")
    assert len(await directory.events("invitation.accepted")) == 1
    assert len(await directory.events("organization.member_added")) == 2
    (listed,) = (await project.client.get(f"/apps/{project.id}/organizations/{acme['id']}/invitations")).json()
    assert listed["mailedAt"] is not None
    assert listed["acceptedAt"] is not None


async def test_only_the_verified_invited_address_can_accept(directory, auth):
    acme = await directory.organization()
    await invite(directory, acme, "ada@example.com")
    token = await token_for(auth, "ada@example.com")
    bob = await signed_in(auth, directory, "bob@example.com")
    assert (await bob.post("/invitations/accept", {"token": token})).json()["code"] == "invited_somebody_else"
    unverified = await auth.unverified("ada@example.com")
    ada = auth.as_(unverified["accessToken"])
    refused = await ada.post("/invitations/accept", {"token": token})
    assert (refused.status_code, refused.json()["code"]) == (403, "address_not_verified")
    assert (await auth.post("/invitations/accept", {"token": token})).status_code == 401
    assert await directory.members_of(acme) == []


@pytest.mark.parametrize("token", ["x", "0" * 32, "0" * 32 + ".x", "0" * 32 + "." + "x" * 27, "é.ü"])
async def test_a_malformed_token_is_404(directory, auth, token):
    ada = await signed_in(auth, directory, "ada@example.com")
    assert (await ada.post("/invitations/accept", {"token": token})).status_code == 404
    assert (await auth.post("/invitations/preview", {"token": token})).status_code == 404


async def test_a_token_of_another_project_is_rejected(directory, auth, new_project):
    await invite(directory, await directory.organization(), "ada@example.com")
    token = await token_for(auth, "ada@example.com")
    other_project = await new_project()
    answer = await other_project.client.post("/auth/invitations/preview", {"token": token})
    assert answer.status_code in (403, 404)
    other_auth = auth.client.__class__(auth.app, None, f"/projects/{other_project.id}/auth")
    assert (await other_auth.post("/invitations/preview", {"token": token})).status_code == 404


async def test_one_pending_invitation_per_address_and_organization(directory, clock):
    acme, other = await directory.organization(), await directory.organization("Other")
    first = await invite(directory, acme, "ada@example.com")
    twice = await invite(directory, acme, "ADA@example.com")
    assert (twice.status_code, twice.json()["code"]) == (409, "already_invited")
    assert (await invite(directory, other, "ada@example.com")).status_code == 201
    clock.move(timedelta(days=7, seconds=1))
    assert (await invite(directory, acme, "ada@example.com")).status_code == 201
    path = f"/b2b/organizations/{acme['id']}/invitations"
    invitations = (await directory.project.client.get(path)).json()
    assert [invitation["status"] for invitation in invitations] == ["PENDING", "EXPIRED"]
    resend = await directory.project.client.post(f"{path}/{first.json()['id']}/resend")
    assert resend.json()["code"] == "already_invited"


async def test_concurrent_invitations_create_one(directory):
    acme = await directory.organization()
    answers = await asyncio.gather(*(invite(directory, acme, "ada@example.com") for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409]


async def test_concurrent_acceptances_join_once(directory, auth):
    acme = await directory.organization()
    await invite(directory, acme, "ada@example.com")
    token = await token_for(auth, "ada@example.com")
    ada = await signed_in(auth, directory, "ada@example.com")
    answers = await asyncio.gather(*(ada.post("/invitations/accept", {"token": token}) for _ in range(4)))
    assert {answer.status_code for answer in answers} == {200}
    assert len(await directory.events("organization.member_added")) == 1


async def test_resending_issues_a_new_token_at_most_once_a_minute(directory, auth, clock):
    acme = await directory.organization()
    invitation = (await invite(directory, acme, "ada@example.com", expiresInDays=1)).json()
    old = await token_for(auth, "ada@example.com")
    path = f"/apps/{directory.project.id}/organizations/{acme['id']}/invitations/{invitation['id']}/resend"
    too_early = await directory.project.client.post(path)
    assert (too_early.status_code, too_early.headers["retry-after"]) == (429, "60")
    clock.move(timedelta(seconds=59, milliseconds=100))
    assert (await directory.project.client.post(path)).headers["retry-after"] == "1"
    clock.move(timedelta(seconds=1))
    resent = await directory.project.client.post(path)
    assert resent.status_code == 200
    assert resent.json()["expiresAt"] > invitation["expiresAt"]
    new = await token_for(auth, "ada@example.com")
    assert new != old
    ada = await signed_in(auth, directory, "ada@example.com")
    assert (await ada.post("/invitations/accept", {"token": old})).status_code == 404
    assert (await ada.post("/invitations/accept", {"token": new})).status_code == 200


async def test_a_worker_with_a_former_claim_does_not_postpone_the_mail_of_a_renewed_invitation(directory, world, clock):
    acme = await directory.organization()
    invitation = (await invite(directory, acme, "ada@example.com")).json()
    lane = Lane(UUID(directory.project.id))
    (former,) = await claim(world.db, INVITATIONS, lane, clock(), 10)
    clock.move(timedelta(minutes=1))
    path = f"/apps/{directory.project.id}/organizations/{acme['id']}/invitations/{invitation['id']}"
    assert (await directory.project.client.post(f"{path}/resend")).status_code == 200
    (present,) = await claim(world.db, INVITATIONS, lane, clock(), 10)
    assert (present.attempt, present.generation) == (former.attempt, former.generation + 1)
    due_at = clock() + timedelta(days=1)
    postponed = [
        await invitation_store.store_mail_result(world.db, replace(row, mail_problem="refused", due_at=due_at))
        for row in (former, present)
    ]
    assert postponed == [False, True]


async def test_an_invitation_expires_with_an_event(directory, auth, clock, run_due_work):
    acme = await directory.organization()
    invitation = (await invite(directory, acme, "ada@example.com", expiresInDays=30)).json()
    token = await token_for(auth, "ada@example.com")
    clock.move(timedelta(days=30))
    path = f"/apps/{directory.project.id}/organizations/{acme['id']}/invitations"
    assert [listed["id"] for listed in (await directory.project.client.get(f"{path}?status=EXPIRED")).json()] == [
        invitation["id"]
    ]
    assert (await directory.project.client.get(f"{path}?status=PENDING")).json() == []
    assert (await directory.project.client.get(f"/b2b/organizations/{acme['id']}")).json()[
        "pendingInvitationCount"
    ] == 0
    ada = await signed_in(auth, directory, "ada@example.com")
    refused = await ada.post("/invitations/accept", {"token": token})
    assert (refused.status_code, refused.json()["code"]) == (409, "invitation_closed")
    await run_due_work()
    await run_due_work()
    assert [event["subjectId"] for event in await directory.events("invitation.expired")] == [invitation["id"]]


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("status", get_args(InvitationStatus))
async def test_every_action_in_every_invitation_state(directory, auth, clock, status, action):
    acme = await directory.organization()
    invitation = (await invite(directory, acme, "ada@example.com", expiresInDays=1)).json()
    path = f"/apps/{directory.project.id}/organizations/{acme['id']}/invitations/{invitation['id']}"
    token = await token_for(auth, "ada@example.com")
    ada = await signed_in(auth, directory, "ada@example.com")
    if status == "ACCEPTED":
        await ada.post("/invitations/accept", {"token": token})
    elif status == "REVOKED":
        await directory.project.client.delete(path)
    clock.move(timedelta(days=1) if status == "EXPIRED" else timedelta(minutes=2))
    if action == "ACCEPT":
        ada = auth.as_((await auth.sign_in("ada@example.com")).json()["accessToken"])
        answer = await ada.post("/invitations/accept", {"token": token})
        new_status = answer.json().get("invitation", {}).get("status")
        if status == "ACCEPTED":  # Accepting again as the same customer is not an error.
            assert new_status == "ACCEPTED"
            return
    elif action == "REVOKE":
        answer = await directory.project.client.delete(path)
        new_status = answer.json().get("status")
    else:
        answer = await directory.project.client.post(f"{path}/resend")
        new_status = answer.json().get("status")
    expected = NEXT_INVITATION_STATUS[status, action]
    assert answer.status_code == (409 if expected is None else 200)
    if expected is None:
        assert answer.json()["code"] == "invitation_closed"
    else:
        assert new_status == expected


def test_the_state_table_covers_every_state_and_action():
    actions = {action for _, action in NEXT_INVITATION_STATUS}
    assert set(NEXT_INVITATION_STATUS) == {
        (status, action) for status in get_args(InvitationStatus) for action in actions
    }


async def test_invalid_invitations_are_rejected(directory):
    acme = await directory.organization()
    member = await directory.member(acme)
    assert (await invite(directory, acme, member["email"])).json()["code"] == "already_member"
    assert (await invite(directory, acme, "nobody")).status_code == 400
    assert (await invite(directory, acme, "a@example.com", role="pilot")).json()["errors"][0]["path"] == "/role"
    assert (await invite(directory, acme, "a@example.com", expiresInDays=31)).status_code == 400
    assert (await invite(directory, acme, "a@example.com", acceptUrl="javascript:alert(1)")).status_code == 400
    customer = await directory.customer()
    not_a_member = await invite(directory, acme, "a@example.com", invitedByEndUserId=customer["id"])
    assert not_a_member.json()["code"] == "inviter_unknown"
    other = await directory.organization("Other")
    invitation = (await invite(directory, acme, "a@example.com")).json()
    path = f"/apps/{directory.project.id}/organizations/{other['id']}/invitations"
    assert (await directory.project.client.delete(f"{path}/{invitation['id']}")).status_code == 404
    assert (await directory.project.client.get(f"{path}?status=LOST")).status_code == 400


async def test_a_suspended_organization_cannot_invite_or_admit_members(directory, auth, clock):
    acme = await directory.organization()
    path = f"/b2b/organizations/{acme['id']}"
    invitation = (await invite(directory, acme, "ada@example.com")).json()
    token = await token_for(auth, "ada@example.com")
    ada = await signed_in(auth, directory, "ada@example.com")
    await directory.project.client.patch(path, {"status": "SUSPENDED"})
    clock.move(timedelta(minutes=2))
    for refused in (
        await directory.project.client.post(f"{path}/invitations/{invitation['id']}/resend"),
        await ada.post("/invitations/accept", {"token": token}),
    ):
        assert (refused.status_code, refused.json()["code"]) == (409, "organization_suspended")


async def test_mail_problems_are_reported_and_retried(directory, auth, project, clock, run_due_work):
    acme = await directory.organization()
    relay = {"transport": "relay", "relays": [{"host": "relay.example"}]}
    await project.developer.patch("", {"settings": {**relay, "signIn": {"mailFrom": "a@unproved.example"}}})
    invitation = (await invite(directory, acme, "ada@example.com")).json()
    await run_due_work()
    path = f"/b2b/organizations/{acme['id']}/invitations"
    (listed,) = (await project.client.get(path)).json()
    assert (listed["id"], listed["mailedAt"]) == (invitation["id"], None)
    assert "unproved.example" in listed["mailProblem"]
    assert "settings.signIn.mailFrom" in listed["mailProblem"], "the message names the setting to change"
    await project.developer.patch("", {"settings": {"transport": "capture"}})
    clock.move(timedelta(minutes=3))
    assert await token_for(auth, "ada@example.com")
    (listed,) = (await project.client.get(path)).json()
    assert (listed["mailProblem"], listed["mailedAt"] is None) == (None, False)


@pytest.mark.parametrize("name", ["Acme\r\nBcc: eve@evil.example", "Acme\u2028Ltd", "Acme\x85Ltd", "Acme\t", "\n"])
async def test_names_that_are_invalid_in_mail_are_rejected(directory, name):
    acme = await directory.organization()
    organization_path = f"/b2b/organizations/{acme['id']}"
    for refused in (
        await directory.project.client.post("/b2b/organizations", {"name": name}),
        await directory.project.client.patch(organization_path, {"name": name}),
        await directory.project.developer.patch("", {"name": name}),
        await directory.project.developer.patch("", {"settings": {"signIn": {"appName": name}}}),
    ):
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid"), refused.text


@pytest.mark.parametrize("url", ["https://[::", "https://[1:2]/join", "https://app.example.com:99999/", "https://a:b/"])
async def test_an_invalid_accept_url_is_rejected(directory, url):
    acme = await directory.organization()
    refused = await invite(directory, acme, "a@example.com", acceptUrl=url)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/acceptUrl")
    redirect_urls = ["https://app.example.com/back", url]
    refused = await directory.project.developer.patch("", {"settings": {"signIn": {"redirectUrls": redirect_urls}}})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/settings/signIn/redirectUrls/1")


def test_the_token_is_added_to_the_query_of_the_accept_url():
    assert url_with_token("https://a.example/x?to={{name}}", "t") == "https://a.example/x?to=%7B%7Bname%7D%7D&token=t"
    assert url_with_token("https://a.example/x", "t") == "https://a.example/x?token=t"
    assert url_with_token("https://a.example/x?a=1", "t") == "https://a.example/x?a=1&token=t"


async def test_the_mail_links_to_a_page_with_an_accept_button(auth, directory, stranger, world):
    """Regression test of I8, I12 (tests/defects.md)."""
    await auth.settings(signUp=False, redirectUrls=["https://app.example.com/back"])
    acme = await directory.organization("Acme")
    email = new_address()
    invitation = await directory.project.client.post(f"/b2b/organizations/{acme['id']}/invitations", {"email": email})
    mail = (await auth.mails(email))[-1]
    assert f"/projects/{directory.project.id}/auth/pages/invitation?token=" in mail["text"]
    assert "MEMBER" not in mail["text"] + mail["html"]
    button, address = lxml.html.fromstring(mail["html"]).iterfind(".//a")
    assert (button.text, "display:inline-block" in button.get("style")) == ("Accept the invitation", True)
    assert address.text == address.get("href") == button.get("href"), "for programs that open no buttons"
    project_and_invitation_ids = UUID(directory.project.id), UUID(invitation.json()["id"])
    token = invitation_token(world.secrets, *project_and_invitation_ids, 1)
    path = f"/projects/{directory.project.id}/auth/pages/invitation?token={token}"
    page = await stranger.get(path)
    assert page.status_code == 200, (path, page.text)
    assert "Join Acme" in page.text
    assert email in page.text
    members_path = f"/b2b/organizations/{acme['id']}/members"
    assert (await directory.project.client.get(members_path)).json() == [], (
        "opening the page does not accept the invitation"
    )
    accepted = await stranger.request("POST", path.partition("?")[0], data={"token": token})
    assert accepted.status_code == 200
    assert "You are now a member of Acme" in accepted.text
    assert "Continue to" in accepted.text
    (member,) = (await directory.project.client.get(members_path)).json()
    assert (member["email"], member["roles"]) == (email, ["MEMBER"])
    customer = (await directory.project.client.get(f"/customers/{member['customerId']}")).json()
    assert customer["emailVerifiedAt"] is not None
    accepted_again = await stranger.request("POST", path.partition("?")[0], data={"token": token})
    assert accepted_again.status_code == 200
    assert "have accepted" in (await stranger.get(path)).text
    challenge = (await auth.post("/sign-in/code", {"email": email})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(email)}
    assert (await auth.post("/sign-in/code/verify", body)).json()["customer"]["id"] == member["customerId"]
    assert invitation.json()["status"] == "PENDING"


async def test_the_page_of_a_closed_invitation_shows_its_state(auth, directory, stranger):
    """Regression test of I8 (tests/defects.md)."""
    acme = await directory.organization("Acme")
    email = new_address()
    path = f"/b2b/organizations/{acme['id']}/invitations"
    invitation = (await directory.project.client.post(path, {"email": email})).json()
    token = await token_for(auth, email)
    await directory.project.client.delete(f"{path}/{invitation['id']}")
    page_path = f"/projects/{directory.project.id}/auth/pages/invitation"
    assert "was declined or withdrawn" in (await stranger.get(f"{page_path}?token={token}")).text
    refused = await stranger.request("POST", page_path, data={"token": token})
    assert refused.status_code == 409
    unknown = await stranger.get(f"{page_path}?token=nonsense")
    assert unknown.status_code == 404
    assert "no longer valid" in unknown.text


async def test_the_page_and_the_mail_say_who_invites_as_what_and_until_when(auth, directory, stranger, clock):
    await auth.settings(appName="Northwind")
    acme = await directory.organization("Acme")
    inviter = await directory.member(acme, "OWNER", name="Jan Petersen")
    role = {"key": "PURCHASER", "name": "Purchaser", "scope": "ORGANIZATION", "description": "Places orders."}
    created = await directory.project.client.post(f"/projects/{directory.project.id}/access/roles", role)
    assert created.status_code == 201, created.text
    email = new_address()
    invitation = (await invite(directory, acme, email, role="PURCHASER", invitedByEndUserId=inviter["id"])).json()
    mail = (await auth.mails(email))[-1]
    first, second, *_ = mail["text"].replace("\r\n", "\n").split("\n\n")
    assert first == f"Jan Petersen ({inviter['email']}) invites you to join Acme on Northwind as Purchaser."
    assert second == "Places orders."
    path = f"/projects/{directory.project.id}/auth/pages/invitation"
    token = await token_for(auth, email)
    page = lxml.html.fromstring((await stranger.get(f"{path}?token={token}&lang=en")).text)
    assert page.findtext(".//h1").strip() == f"Jan Petersen ({inviter['email']}) invites you to Acme"
    facts = dict(zip(*([node.text for node in page.iterfind(f".//{tag}")] for tag in ("dt", "dd")), strict=True))
    assert (facts["You join as"], facts["Sent to"]) == ("Purchaser", email)
    assert str((clock() + timedelta(days=7)).year) in facts["Valid until"]
    assert "Places orders." in page.text_content()
    declined = await stranger.request("POST", path, data={"token": token, "answer": "decline"})
    assert (declined.status_code, "You have declined the invitation" in declined.text) == (200, True)
    listed = await directory.project.client.get(f"/b2b/organizations/{acme['id']}/invitations?status=REVOKED")
    assert [(row["id"], row["revokedAt"] is not None) for row in listed.json()] == [(invitation["id"], True)]
    for answer in ({"answer": "decline"}, {}):
        late = await stranger.request("POST", path, data={"token": token, **answer})
        assert late.status_code == 409, "a declined invitation is closed"
    assert "declined or withdrawn" in (await stranger.get(f"{path}?token={token}&lang=en")).text
    members = (await directory.project.client.get(f"/b2b/organizations/{acme['id']}/members")).json()
    assert [member["email"] for member in members] == [inviter["email"]]
    assert (await invite(directory, acme, email)).status_code == 201, "the address can be invited again"


async def test_an_accepted_or_foreign_invitation_cannot_be_declined(auth, directory, stranger):
    acme = await directory.organization("Acme")
    email = new_address()
    await invite(directory, acme, email)
    path, token = f"/projects/{directory.project.id}/auth/pages/invitation", await token_for(auth, email)
    foreign = await stranger.request("POST", path, data={"token": token[:-3] + "AAA", "answer": "decline"})
    assert foreign.status_code == 404
    assert (await stranger.request("POST", path, data={"token": token})).status_code == 200
    declined = await stranger.request("POST", path, data={"token": token, "answer": "decline"})
    assert declined.status_code == 409


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (None, ""),
        ("", ""),
        ("J. R. Petersen", "J. R. Petersen "),
        ("Win at casino.example", ""),
        ("Acme: log in at acme-support-1.com", ""),
        ("x.com", ""),
        ("evil\u3002com", ""),
        ("Call 0800 123456", ""),
        ("Jan\u202enasreteP", ""),
        ("Petersen " * 9, ""),
    ],
)
async def test_the_name_of_the_inviter_is_no_link(auth, directory, name, shown):
    acme = await directory.organization("Acme")
    inviter = await directory.member(acme, "OWNER", **({"name": name} if name else {}))
    email = new_address()
    await invite(directory, acme, email, invitedByEndUserId=inviter["id"])
    expected = f"{shown}({inviter['email']})" if shown else inviter["email"]
    assert f"{expected} invites you to join Acme" in (await auth.mails(email))[-1]["text"]


@pytest.mark.parametrize("method", ["password", "code"])
async def test_an_invited_address_can_sign_up_when_sign_up_is_closed(auth, directory, method):
    """Regression test of I8 (tests/defects.md)."""
    await auth.settings(signUp=False)
    acme = await directory.organization("Acme")
    invited, stranger = new_address(), new_address()
    path = f"/b2b/organizations/{acme['id']}/invitations"
    invitation = (await directory.project.client.post(path, {"email": invited})).json()
    if method == "password":
        refused = await auth.post("/sign-up", {"email": stranger, "password": GOOD})
        assert (refused.status_code, refused.json()["code"]) == (403, "sign_up_closed")
        assert (await auth.signed_up(invited))["customer"]["email"] == invited
    else:
        await auth.post("/sign-in/code", {"email": stranger})
        assert await auth.mails(stranger) == []
        challenge = (await auth.post("/sign-in/code", {"email": invited})).json()
        body = {"challengeId": challenge["challengeId"], "code": await auth.code(invited)}
        assert (await auth.post("/sign-in/code/verify", body)).json()["customer"]["email"] == invited
    other = new_address()
    revoked = (await directory.project.client.post(path, {"email": other})).json()
    await directory.project.client.delete(f"{path}/{revoked['id']}")
    assert (await auth.post("/sign-up", {"email": other, "password": GOOD})).status_code == 403
    assert invitation["status"] == "PENDING"
