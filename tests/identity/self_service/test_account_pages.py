"""The account pages: their session and how it is protected, the profile, devices, organizations, and the data."""

import json
from datetime import timedelta
from urllib.parse import urlencode

from tests.identity.oauth.conftest import Provider, parameters_of
from tests.identity.self_service.conftest import (
    APP_URL,
    GOOD,
    Visitor,
    asks_to_sign_in,
    done_of,
    heading,
    new_address,
    problem_of,
)

FORM = {"content-type": "application/x-www-form-urlencoded"}


async def test_a_visitor_signs_in_and_comes_back_with_a_way_to_the_app(auth, visitor, address):
    page = await visitor.sign_in(address, returnUrl=APP_URL, lang="de")
    assert page.response.status_code == 200
    assert page.response.request.url.path.endswith("/auth/pages/account")
    assert (heading(page), address in page.text) == ("Ihr Konto", True)
    assert APP_URL in page.links
    own = [action for action in page.actions if "/account" in action]
    assert all("lang=de" in action and "returnUrl=" in action for action in own)
    again = await visitor.open("account", lang="en")
    assert heading(again) == "Your account", "the session lasts"
    cookies = [cookie for cookie in visitor.client.http.cookies.jar if cookie.name.startswith("postern-oauth-")]
    assert [(cookie.path, cookie.has_nonstandard_attr("HttpOnly")) for cookie in cookies] == [
        (f"/projects/{auth.project.id}", True)
    ]


async def test_only_urls_of_the_project_are_linked(auth, visitor, address):
    await visitor.sign_in(address)
    for url in ("https://evil.example/", "javascript:alert(1)", f"{APP_URL}/x", "//evil.example"):
        for path in ("account", "account/name", "account/signed-out", "account/deleted"):
            page = await visitor.open(path, returnUrl=url)
            assert page.response.status_code == 400, (path, url)
            assert "evil" not in page.text
            assert url not in page.links
        stranger = await Visitor(auth).open("account", returnUrl=url)
        assert stranger.response.status_code == 400, "and none goes through the sign-in"


async def test_the_name_changes_and_a_wrong_one_is_refused(auth, visitor, address):
    page = await visitor.sign_in(address, path="account/name")
    assert heading(page) == "Change your name"
    wrong = await visitor.submit(page, "account/name", name="x" * 400)
    assert (wrong.response.status_code, bool(problem_of(wrong))) == (400, True)
    changed = await visitor.submit(wrong, "account/name", name="Ada <b>Lovelace</b>")
    assert done_of(changed) == "Your name was changed."
    assert "Ada &lt;b&gt;Lovelace" in changed.text
    assert (await auth.project.client.get(f"/customers?q={address}")).json()["data"][0]["name"] == "Ada <b>Lovelace</b>"
    twice = await visitor.submit(await visitor.open("account/name"), "account/name", name="")
    assert "Not set" in twice.text


async def test_forms_need_the_token_of_the_session(auth, visitor, address):
    page = await visitor.sign_in(address, path="account/name")
    path = next(action for action in page.actions if "account/name" in action)
    other_address = (await auth.signed_up())["customer"]["email"]
    other = await Visitor(auth).sign_in(other_address, path="account/name")
    for token in (None, "", "x", other.hidden()["formToken"]):
        body = urlencode({"name": "Mallory", **({} if token is None else {"formToken": token})})
        response = await visitor.send("POST", path, content=body, headers=FORM)
        assert response.status_code == 403
        assert "belongs to an earlier sign-in" in response.text
    for headers in (
        {"origin": "https://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        body = urlencode({"name": "Mallory", **page.hidden()})
        response = await visitor.send("POST", path, content=body, headers={**FORM, **headers})
        assert response.status_code == 403, headers
    assert "Mallory" not in (await visitor.open("account")).text


async def test_a_session_that_has_ended_does_nothing_any_more(auth, visitor, address):
    page = await visitor.sign_in(address, path="account/name")
    customer = (await auth.project.client.get(f"/customers?q={address}")).json()["data"][0]
    assert (await auth.project.client.post(f"/customers/{customer['id']}/sessions/revoke-all")).status_code == 204
    sign_in = await visitor.submit(page, "account/name", name="Mallory")
    assert heading(sign_in) == "Sign in"
    assert (await auth.project.client.get(f"/customers/{customer['id']}")).json()["name"] is None
    back = await visitor.submit(sign_in, "/sign-in", email=address, password=GOOD)
    assert heading(back) == "Change your name", "and then goes on where it was"


async def test_a_cookie_works_only_in_its_project_and_only_live(auth, visitor, address, project):
    await visitor.sign_in(address)
    jar = visitor.client.http.cookies.jar
    value = next(cookie.value for cookie in jar if cookie.name.startswith("postern-oauth-"))
    stranger = Visitor(auth)
    for name in (f"postern-oauth-{project.id}-test", "postern-oauth-019b1f3a-5f0e-7cc0-a2f4-0c2f6a1f9d11"):
        page = Visitor(auth)
        response = await page.send("GET", "/account", headers={"cookie": f"{name}={value}"})
        assert "Your account" not in response.text
    forged = f"{value.partition('.')[0]}.{'A' * 27}"
    response = await stranger.send("GET", "/account", headers={"cookie": f"postern-oauth-{project.id}={forged}"})
    assert "Your account" not in response.text


async def test_another_browser_cannot_finish_a_sign_in(auth, visitor, address):
    victim = Visitor(auth)
    sign_in = await visitor.open("account")
    redirected = await visitor.submit(sign_in, "/sign-in", follow=False, email=address, password=GOOD)
    location = redirected.response.headers["location"].partition("/auth/pages")[2]
    await victim.open("account")
    page = await victim.send("GET", location)
    assert (page.status_code, "did not begin this sign-in" in page.text) == (403, True)
    assert asks_to_sign_in(await victim.open("account")), "the victim is not signed in as somebody else"
    assert (await visitor.send("GET", location)).status_code == 200
    assert (await visitor.send("GET", location)).status_code == 401, "the code works once"


async def test_signing_out_ends_the_session(auth, visitor, address):
    page = await visitor.sign_in(address, returnUrl=APP_URL)
    out = await visitor.submit(page, "account/sign-out")
    assert heading(out) == "You are signed out."
    assert APP_URL in out.links
    assert asks_to_sign_in(await visitor.open("account"))
    customer = (await auth.project.client.get(f"/customers?q={address}")).json()["data"][0]
    events = (await auth.project.client.get(f"/customers/{customer['id']}/events")).json()["data"]
    assert "customer.signed_out" in [event["type"] for event in events]


async def test_other_devices_are_shown_and_signed_out(auth, visitor, address):
    phone = Visitor(auth, agent="Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1")
    tablet = Visitor(auth, agent="curl/8")
    await phone.sign_in(address)
    await tablet.sign_in(address)
    page = await visitor.sign_in(address)
    assert all(
        text in page.text for text in ("Firefox on Windows", "Safari on iPhone", "Unknown device", "This device")
    )
    ends = [action for action in page.actions if action.endswith("/end") and "/sessions/" in action]
    ended = await visitor.submit(page, ends[-1])
    assert done_of(ended) == "That device is signed out."
    repeated = await visitor.submit(page, ends[-1])
    assert repeated.response.status_code in (200, 404), "sending a form twice does no harm"
    rest = await visitor.submit(await visitor.open("account"), "sessions/end-others")
    assert done_of(rest) == "You are signed out everywhere else."
    assert asks_to_sign_in(await phone.open("account"))
    assert heading(await visitor.open("account")) == "Your account"


async def test_a_required_second_factor_is_required_here_too(auth, visitor, address):
    await visitor.sign_in(address)
    await auth.settings(requireMfa=True)
    page = await visitor.open("account")
    assert asks_to_sign_in(page), "a session without a second factor no longer counts"
    page = await visitor.submit(page, "/sign-in", email=address, password=GOOD)
    assert heading(page) == "Set up two-step sign-in"


async def test_a_customer_leaves_an_organization(auth, visitor, directory):
    await auth.settings(redirectUrls=[APP_URL])
    organization = await directory.organization("Kaffeehaus <Linden>")
    member = await directory.member(organization, "ADMIN")
    page = await visitor.sign_in(member["email"])
    assert "Kaffeehaus &lt;Linden&gt;" in page.text
    leave = f"account/organizations/{organization['id']}/leave"
    asked = await visitor.open(leave)
    assert heading(asked) == "Leave Kaffeehaus <Linden>?"
    left = await visitor.submit(asked, "/leave")
    assert done_of(left) == "You have left the organization."
    assert (await visitor.open(leave)).response.status_code == 404
    owner = await directory.member(organization, "OWNER")
    last = Visitor(auth)
    await last.sign_in(owner["email"])
    refused = await last.submit(await last.open(leave), "/leave")
    assert refused.response.status_code == 409
    assert "last owner" in problem_of(refused)
    assert (await last.open(f"account/organizations/{project_id_of(auth)}/leave")).response.status_code == 404


def project_id_of(auth):
    return auth.project.id


async def test_a_connected_app_is_listed_and_loses_its_access(auth, visitor, address):
    provider = Provider(auth)
    await provider.register()
    browser = provider.browser()
    await browser.submit(await browser.sign_in(await browser.authorize(), address), decision="allow")
    tokens = await provider.tokens(browser)
    account = await visitor.sign_in(address)
    assert "Northwind Reports" in account.text
    assert "<bdi>See your e-mail address</bdi>" in account.text
    withdrawn = await visitor.submit(account, f"/apps/{provider.oauth_client['id']}/withdraw")
    assert done_of(withdrawn) == "The app can no longer use your account."
    assert "Northwind Reports" not in withdrawn.text
    assert (await provider.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await provider.userinfo(tokens["access_token"])).status_code == 401
    assert parameters_of(await browser.authorize(prompt="none"))["error"] == "consent_required"
    again = await visitor.submit(account, "/withdraw")
    assert (again.response.status_code, problem_of(again)) == (404, "This app cannot use your account any more.")


async def test_a_copy_of_the_data_needs_a_recent_sign_in(auth, visitor, address, clock):
    await visitor.sign_in(address)
    page = await visitor.open("account/export")
    response = await visitor.send(
        "POST", page.actions[-1], content=urlencode(page.hidden()), headers={**FORM, "accept": "*/*"}
    )
    assert response.headers["content-disposition"] == 'attachment; filename="account.json"'
    copy = json.loads(response.text)
    assert copy["account"]["email"] == address
    assert [address_["email"] for address_ in copy["emails"]] == [address]
    assert {"customer.signed_up", "customer.signed_in"} <= {event["type"] for event in copy["events"]}
    assert "argon2" not in response.text
    clock.move(timedelta(minutes=61))
    old = await visitor.submit(page, "account/export")
    assert (heading(old), old.response.status_code) == ("Confirm that it is you", 403)
    asked = await visitor.open("account/export")
    assert heading(asked) == "Confirm that it is you"
    sign_in = await visitor.send("GET", next(link for link in asked.links if "/sign-in?" in link).replace("&amp;", "&"))
    assert f'value="{address}"' in sign_in.text


async def test_an_account_is_deleted_after_typing_its_address(auth, visitor, address):
    await visitor.sign_in(address, returnUrl=APP_URL)
    page = await visitor.open("account/delete", returnUrl=APP_URL)
    wrong = await visitor.submit(page, "account/delete", confirmation="yes")
    assert (wrong.response.status_code, "address exactly" in problem_of(wrong)) == (400, True)
    await auth.settings(accountDeletion=False)
    refused = await visitor.submit(page, "account/delete", confirmation=address)
    assert refused.response.status_code == 403
    assert "Delete the account" not in (await visitor.open("account")).text
    await auth.settings(accountDeletion=True)
    gone = await visitor.submit(page, "account/delete", confirmation=f" {address.upper()} ")
    assert heading(gone) == "Your account was deleted."
    assert APP_URL in gone.links
    assert (await auth.project.client.get(f"/customers?q={address}")).json()["total"] == 0
    assert asks_to_sign_in(await visitor.open("account"))
    assert (await auth.sign_in(address)).status_code == 401


async def test_the_last_owner_cannot_delete_the_account(auth, visitor, directory):
    await auth.settings(redirectUrls=[APP_URL])
    owner = await directory.member(await directory.organization(), "OWNER")
    await visitor.sign_in(owner["email"])
    page = await visitor.open("account/delete")
    refused = await visitor.submit(page, "account/delete", confirmation=owner["email"])
    assert refused.response.status_code == 409
    assert "only owner" in problem_of(refused)
    assert (await auth.project.client.get(f"/customers/{owner['id']}")).status_code == 200


async def test_the_operations_of_the_api_have_the_same_rules(auth, clock):
    address = new_address()
    ada = auth.as_((await auth.signed_up(address))["accessToken"])
    assert (await ada.get("/export")).json()["account"]["email"] == address
    await auth.settings(accountDeletion=False)
    assert (await ada.client.delete("/me")).json()["code"] == "account_deletion_off"
    await auth.settings(accountDeletion=True)
    assert (await ada.client.delete("/me")).status_code == 204
    assert (await ada.get("/me")).status_code == 401
