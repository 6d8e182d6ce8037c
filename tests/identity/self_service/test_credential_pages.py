"""The account pages of addresses and ways to sign in, and the operations that they brought."""

import html
import json
import re
from datetime import timedelta

import httpx
import segno
from soft_webauthn import SoftWebauthnDevice

from tests.identity.customers.test_providers import ProviderBrowser, provider, provider_browser, put, settings
from tests.identity.customers.test_second_factor import ORIGIN, App, answer_of, decoded, with_passkey
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

__all__ = ["provider", "provider_browser", "put", "settings"]
NEW = "another password nobody has"


def links_of(page, part):
    return [html.unescape(link) for link in page.links if part in link]


def connected_accounts(page):
    """The rows of the connected accounts: what is below the name of each provider, and whether it has an icon."""
    section = page.text.partition('<section aria-labelledby="connected">')[2].partition("</section>")[0]
    accounts = {}
    for row in section.split("<li")[1:]:
        name, detail = (re.sub(r"<[^>]+>", "", part) for part in re.findall(r"<p[^>]*>(.*?)</p>", row))
        accounts[name] = (html.unescape(detail), "<svg" in row)
    return accounts


async def test_addresses_are_added_made_primary_and_removed(auth, visitor, address, clock):
    await visitor.sign_in(address)
    second = new_address()
    page = await visitor.open("account/emails/add")
    assert problem_of(await visitor.submit(page, "emails/add", email="nonsense")) != ""
    code_page = await visitor.submit(page, "emails/add", email=second)
    assert heading(code_page) == "Enter the code"
    code = await auth.code(second)
    wrong = await visitor.submit(code_page, "emails/code", code="000000" if code != "000000" else "111111")
    assert (wrong.response.status_code, bool(problem_of(wrong))) == (401, True)
    added = await visitor.submit(wrong, "emails/code", code=f"{code[:3]} {code[3:]}")
    assert done_of(added) == "The address was added."
    assert (await visitor.submit(wrong, "emails/code", code=code)).response.status_code == 401, "a code works once"
    assert f"The address {second} was added" in (await auth.mails(address))[-1]["text"]
    asked = Visitor.page(await visitor.send("GET", links_of(added, "emails/primary")[0]))
    changed = await visitor.submit(asked, "emails/primary")
    assert done_of(changed) == "Your main address was changed."
    ada = auth.as_((await auth.sign_in(second)).json()["accessToken"])
    emails = (await ada.get("/emails")).json()
    assert [(email["email"], email["primary"]) for email in emails] == [(second, True), (address, False)]
    foreign = await visitor.open("account/emails/remove", email="somebody@example.com")
    assert foreign.response.status_code == 404
    removed = await visitor.submit(await visitor.open("account/emails/remove", email=address), "emails/remove")
    assert done_of(removed) == "The address was removed."
    assert (await auth.sign_in(address)).status_code == 401
    assert (await ada.post("/emails/remove", {"email": second})).status_code == 404, "the primary one stays"
    clock.move(timedelta(minutes=61))
    assert heading(await visitor.open("account/emails/add")) == "Confirm that it is you"


async def test_an_unverified_account_cannot_keep_a_second_way_in(auth):
    """Somebody who signs up with the address of another person must not add an own one."""
    mallory = auth.as_((await auth.unverified())["accessToken"])
    refused = await mallory.post("/emails", {"email": new_address()})
    assert (refused.status_code, refused.json()["code"]) == (409, "primary_address_unverified")


async def test_an_address_of_somebody_else_is_not_added(auth, address):
    ada = auth.as_((await auth.sign_in(address)).json()["accessToken"])
    taken = (await auth.signed_up())["customer"]["email"]
    sent = (await ada.post("/emails", {"email": taken})).json()
    refused = await ada.post("/verify-email", {"challengeId": sent["challengeId"], "code": await auth.code(taken)})
    assert (refused.status_code, refused.json()["code"]) == (409, "email_taken")


async def test_the_password_changes_and_ends_other_sessions(auth, visitor, address):
    phone = Visitor(auth)
    await phone.sign_in(address)
    page = await visitor.sign_in(address, path="account/password")
    wrong = await visitor.submit(page, "account/password", currentPassword="wrong", newPassword=NEW)
    assert (wrong.response.status_code, "Wrong" in problem_of(wrong)) == (401, True)
    assert NEW not in wrong.text
    short = await visitor.submit(page, "account/password", currentPassword=GOOD, newPassword="x")
    assert short.response.status_code == 400
    changed = await visitor.submit(page, "account/password", currentPassword=GOOD, newPassword=NEW)
    assert done_of(changed).startswith("Your password was changed.")
    assert re.search(r"Changed \d+ \w+ \d{4}", changed.text)
    assert asks_to_sign_in(await phone.open("account"))
    twice = await visitor.submit(page, "account/password", currentPassword=GOOD, newPassword=NEW)
    assert twice.response.status_code == 401
    assert (await auth.sign_in(address, NEW)).status_code == 200


def modules_of(path):
    """The dark modules of a QR code that is an SVG path, as positions (x, y)."""
    lines = re.fullmatch(r"(?:M\d+ \d+h\d+v1h-\d+z)+", path)
    assert lines, path
    return {
        (int(x) + number, int(y))
        for x, y, length in re.findall(r"M(\d+) (\d+)h(\d+)", path)
        for number in range(int(length))
    }


async def test_the_qr_code_is_that_of_the_link(visitor, address):
    account = await visitor.sign_in(address)
    page = await visitor.submit(account, "account/totp")
    (link,) = (html.unescape(link) for link in re.findall(r'href="(otpauth[^"]+)"', page.text))
    assert link.startswith("otpauth://totp/Northwind%3A")
    size, path = re.search(r'viewBox="0 0 (\d+) \1" role="img"[^>]*\s*><path d="([^"]*)"', page.text).groups()
    # With the margin of four modules that a reader needs (ISO/IEC 18004 §6.3.8).
    expected = segno.make(link, error="m", micro=False).matrix_iter(border=4)
    assert modules_of(path) == {(x, y) for y, row in enumerate(expected) for x, dark in enumerate(row) if dark}
    assert int(size) == max(x for x, _ in modules_of(path)) + 5


async def test_the_authenticator_app_and_its_codes(auth, visitor, address, clock):
    account = await visitor.sign_in(address)
    page = await visitor.submit(account, "account/totp")
    key = re.search(r'class="key">([A-Z2-7 ]+)<', page.text)[1].replace(" ", "")
    app = App(key, clock)
    wrong = await visitor.submit(page, "account/totp", code="12345")
    assert problem_of(wrong).startswith("This code is wrong.")
    assert key in wrong.text.replace(" ", ""), "the same key, which the app has already"
    codes_page = await visitor.submit(wrong, "account/totp", code=app.code())
    codes = re.findall(r"<code>([\w-]+)</code>", codes_page.text)
    assert (heading(codes_page), len(codes)) == ("Save your recovery codes", 10)
    repeated = await visitor.submit(account, "account/totp")
    assert repeated.response.status_code == 409
    assert "10 of 10 left" in (await visitor.open("account")).text
    clock.move(timedelta(seconds=60))
    renewed = await visitor.submit(await visitor.open("account/recovery-codes"), "recovery-codes", code=app.code())
    new_codes = re.findall(r"<code>([\w-]+)</code>", renewed.text)
    assert len(set(new_codes) - set(codes)) == 10
    off = await visitor.open("account/totp/off")
    assert (await visitor.submit(off, "totp/off", code=codes[0])).response.status_code == 401, "an old code"
    await auth.settings(requireMfa=True)
    kept = await visitor.submit(off, "totp/off", code=new_codes[0])
    assert (kept.response.status_code, "second factor" in problem_of(kept)) == (409, True)
    await auth.settings(requireMfa=False)
    assert done_of(await visitor.submit(off, "totp/off", code=new_codes[0])) == "The authenticator app was turned off."


async def test_a_passkey_is_added_renamed_and_removed(auth, visitor, address, clock):
    page = await visitor.sign_in(address, path="account/passkeys/add")
    assert page.scripts == ["/assets/passkey.js"]
    form = {"content-type": "application/x-www-form-urlencoded"}
    options = html.unescape(page.options)
    refused = await visitor.send("POST", options, content="formToken=x", headers={**form, "accept": "*/*"})
    assert refused.status_code == 403
    token = page.hidden()["formToken"]
    challenge = json.loads((await visitor.send("POST", options, content=f"formToken={token}", headers=form)).text)
    device = SoftWebauthnDevice()
    credential = device.create(decoded({**challenge["options"], "attestation": "none"}), ORIGIN)
    fields = {
        "challengeId": challenge["challengeId"],
        "credential": json.dumps(answer_of(credential)),
        "name": "Laptop",
    }
    added = await visitor.submit(page, "passkeys/add", **fields)
    assert done_of(added) == "The passkey was added."
    assert (await visitor.submit(page, "passkeys/add", **fields)).response.status_code == 401, "sent twice"
    rename, remove = links_of(added, "/rename")[0], links_of(added, "/remove")[0]
    renamed = await visitor.submit(Visitor.page(await visitor.send("GET", rename)), "/rename", name="Work")
    assert (done_of(renamed), "Work" in renamed.text) == ("The passkey has a new name.", True)
    stranger = Visitor(auth)
    await stranger.sign_in((await auth.signed_up())["customer"]["email"])
    assert (await stranger.send("GET", rename)).status_code == 404, "of another customer"
    clock.move(timedelta(minutes=61))
    assert (await visitor.send("GET", remove)).status_code == 403
    again = Visitor(auth)
    await again.sign_in(address)
    assert done_of(await again.submit(Visitor.page(await again.send("GET", remove)), "/remove")) == (
        "The passkey was removed."
    )


async def test_the_only_way_to_sign_in_stays(auth, visitor, directory, address):
    await auth.settings(methods=["PASSKEY", "PASSWORD"])
    page = await visitor.sign_in(address, path="account/passkeys/add")
    form = {"content-type": "application/x-www-form-urlencoded"}
    token = page.hidden()["formToken"]
    options = html.unescape(page.options)
    challenge = json.loads((await visitor.send("POST", options, content=f"formToken={token}", headers=form)).text)
    credential = SoftWebauthnDevice().create(decoded({**challenge["options"], "attestation": "none"}), ORIGIN)
    fields = {"challengeId": challenge["challengeId"], "credential": json.dumps(answer_of(credential))}
    added = await visitor.submit(page, "passkeys/add", **fields)
    await auth.settings(methods=["PASSKEY"])
    remove = Visitor.page(await visitor.send("GET", links_of(added, "/remove")[0]))
    kept = await visitor.submit(remove, "/remove")
    assert (kept.response.status_code, problem_of(kept)) == (409, "This is your only way to sign in.")


async def test_an_account_at_a_provider_is_connected_and_disconnected(auth, visitor, address, provider_browser):
    await auth.settings(redirectUrls=[APP_URL])
    await put(auth, "ACME", provider_browser.provider.issuer, name="ACME Directory")
    account = await visitor.sign_in(address)
    onwards = await visitor.submit(account, "identities/ACME/connect")
    assert heading(onwards) == "Going to ACME Directory"
    start = html.unescape(next(link for link in onwards.links if "/providers/ACME/start" in link))
    to_provider = await visitor.send("GET", start.partition("://")[2].partition("/")[2].join(["/", ""]), follow=False)
    account_address = new_address()
    provider_browser.provider.claims = {"sub": "42", "email": account_address, "email_verified": True}
    provider_browser.client = visitor.client
    returned = await provider_browser.come_back(to_provider)
    url = httpx.URL(returned.headers["location"])
    back = f"{url.path}?{url.query.decode()}"
    stranger = Visitor(auth)
    await stranger.sign_in((await auth.signed_up())["customer"]["email"])
    assert (await stranger.send("GET", back)).status_code == 401, "another session cannot finish it"
    connected = Visitor.page(await visitor.send("GET", back))
    assert done_of(connected) == "The account was connected."
    assert connected_accounts(connected) == {"ACME Directory": (account_address, False)}
    assert (await visitor.send("GET", back)).status_code == 401, "the code works once"
    export = await visitor.submit(await visitor.open("account/export"), "account/export")
    exported = {row["provider"]: row["accountName"] for row in export.response.json()["identities"]}
    assert exported == {"ACME": account_address, "PASSWORD": None}
    asked = Visitor.page(await visitor.send("GET", links_of(connected, "ACME/disconnect")[0]))
    assert heading(asked) == "Disconnect ACME Directory?"
    assert done_of(await visitor.submit(asked, "ACME/disconnect")) == "The account was disconnected."
    assert (await visitor.submit(asked, "ACME/disconnect")).response.status_code == 404


async def test_a_provider_has_its_own_name_and_icon(auth, visitor, address, provider):
    await auth.settings(redirectUrls=[APP_URL])
    await put(auth, "GITHUB", provider.issuer, kind="GITHUB")
    account = await visitor.sign_in(address)
    assert connected_accounts(account) == {"GitHub": ("Not connected", True)}
    provider.account = {"id": 583231, "name": "Octo"}
    provider.addresses = [{"email": address, "primary": True, "verified": True}]
    await ProviderBrowser(auth, provider, "GITHUB").sign_in()
    account = await visitor.open("account")
    assert connected_accounts(account) == {"GitHub": (address, True)}
    asked = Visitor.page(await visitor.send("GET", links_of(account, "GITHUB/disconnect")[0]))
    assert heading(asked) == "Disconnect GitHub?"
    assert (await visitor.open("account/identities/PASSWORD/disconnect")).response.status_code == 404


async def test_an_unverified_address_is_confirmed(auth, visitor):
    await auth.settings(redirectUrls=[APP_URL])
    address = (await auth.unverified())["customer"]["email"]
    account = await visitor.sign_in(address)
    assert "Not confirmed" in account.text
    code_page = await visitor.submit(account, "emails/verify")
    confirmed = await visitor.submit(code_page, "emails/code", code=await auth.code(address))
    assert done_of(confirmed) == "Your address was confirmed."
    assert "Not confirmed" not in confirmed.text


async def test_what_does_not_exist_is_not_found(auth, visitor, address):
    account = await visitor.sign_in(address)
    ada = auth.as_((await auth.sign_in(address)).json()["accessToken"])
    assert (await ada.post("/emails/primary", {"email": "somebody@example.com"})).json()["code"] == "address_missing"
    renamed = await ada.client.patch(f"/passkeys/{auth.project.id}", {"name": "x"})
    assert renamed.json()["code"] == "passkey_missing"
    body = f"formToken={account.hidden()['formToken']}"
    form = {"content-type": "application/x-www-form-urlencoded"}
    withdrawn = await visitor.send("POST", f"/account/apps/{auth.project.id}/withdraw", content=body, headers=form)
    assert (withdrawn.status_code, "This app cannot use your account any more." in withdrawn.text) == (404, True)


async def test_the_operations_on_addresses_and_names_of_passkeys(auth, address):
    ada = auth.as_((await auth.sign_in(address)).json()["accessToken"])
    second = new_address()
    sent = (await ada.post("/emails", {"email": second})).json()
    verified = await ada.post("/verify-email", {"challengeId": sent["challengeId"], "code": await auth.code(second)})
    assert verified.json()["email"] == address, "the primary address stays"
    assert (await ada.post("/emails/primary", {"email": second})).json()["email"] == second
    assert (await ada.post("/emails/remove", {"email": address})).status_code == 204
    _, bob, _, passkey, _ = await with_passkey(auth, new_address())
    assert (await bob.client.patch(f"/passkeys/{passkey['id']}", {"name": "Work"})).json()["name"] == "Work"
