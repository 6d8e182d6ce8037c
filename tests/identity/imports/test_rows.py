"""Imports of customers from another system: `POST …/customers/import/rows`."""

import asyncio
import base64
from datetime import timedelta
from uuid import uuid4

import bcrypt
import pytest
import webauthn
from fido2 import cbor
from fido2.cose import ES256
from soft_webauthn import SoftWebauthnDevice

from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_second_factor import App, sign_in_with_passkey

HASH = bcrypt.hashpw(GOOD.encode(), bcrypt.gensalt(4)).decode()
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def new_row(**fields):
    return {"externalUserId": f"old|{uuid4()}", "email": new_address(), "emailVerified": True, **fields}


async def import_rows(client, *rows, **fields):
    response = await client.post("/customers/import/rows", {"rows": list(rows), **fields})
    assert response.status_code == 200, response.text
    return response.json()


def passkey_of(device, **fields):
    key = cbor.encode(dict(ES256.from_cryptography_key(device.private_key.public_key())))
    return {
        "rpId": device.rp_id,
        "credentialId": webauthn.helpers.bytes_to_base64url(device.credential_id),
        "publicKey": webauthn.helpers.bytes_to_base64url(key),
        "userHandle": webauthn.helpers.bytes_to_base64url(device.user_handle),
        "signCount": device.sign_count,
        "name": "Laptop",
        **fields,
    }


async def test_a_person_signs_in_with_the_old_password_and_authenticator_app(auth, project, clock):
    row = new_row(passwordHash=HASH, totpSecret=SECRET.lower(), name="Ada", metadata={"plan": "pro"})
    report = await import_rows(project.client, row)
    assert (report["created"], report["failed"]) == (1, 0), report
    pending = (await auth.sign_in(row["email"])).json()
    assert pending["mfaRequired"] is True
    code = App(SECRET, clock).code()
    wrong = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "code": f"{(int(code) + 1) % 10**6:06}"})
    assert wrong.status_code == 401
    signed_in = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "code": code})
    assert signed_in.status_code == 200, signed_in.text
    clock.move(timedelta(seconds=60))
    replayed = (await auth.sign_in(row["email"])).json()
    assert (await auth.post("/mfa/verify", {"mfaToken": replayed["mfaToken"], "code": code})).status_code == 401


async def test_a_person_signs_in_with_the_old_passkey(auth, project):
    device = SoftWebauthnDevice()
    device.cred_init("127.0.0.1", b"old user handle")
    device.sign_count = 7
    report = await import_rows(project.client, new_row(passkeys=[passkey_of(device)]))
    assert report["created"] == 1, report
    signed_in = await sign_in_with_passkey(auth, device)
    assert signed_in.status_code == 200, signed_in.text
    assert signed_in.json()["customer"]["id"] == report["rows"][0]["customerId"]
    again = await import_rows(project.client, new_row(passkeys=[passkey_of(device)]))
    assert again["rows"][0]["faults"][0]["path"] == "/passkeys/0/credentialId"


async def test_organizations_are_created_once_and_joined_with_roles(project):
    acme = {"externalId": f"org_{uuid4()}", "name": "Acme Ltd", "roles": ["ADMIN"]}
    report = await import_rows(project.client, *(new_row(organizations=[acme]) for _ in range(2)))
    assert report["created"] == 2, report
    created = (await project.client.get(f"/b2b/organizations?externalId={acme['externalId']}")).json()
    assert [(row["name"], row["memberCount"]) for row in created] == [("Acme Ltd", 2)]
    members = (await project.client.get(f"/b2b/organizations/{created[0]['id']}/members")).json()
    assert [member["roles"] for member in members] == [["ADMIN"], ["ADMIN"]]


async def test_what_a_customer_brings_is_stored(auth, project):
    other = new_address()
    row = new_row(
        phone="+4915112345678",
        phoneVerified=True,
        language="de-CH",
        createdAt="2019-05-06T07:08:09Z",
        ban={"reason": "Card fraud"},
        identities=[{"provider": "GOOGLE", "subject": "1098"}],
        otherEmails=[{"email": other, "verified": True}],
        passwordHash=HASH,
    )
    report = await import_rows(project.client, row)
    assert report["created"] == 1, report
    customer = (await project.client.get(f"/customers/{report['rows'][0]['customerId']}")).json()
    assert (customer["createdAt"], customer["language"]) == ("2019-05-06T07:08:09.000Z", "de-CH")
    assert customer["banReason"] == "Card fraud"
    assert customer["phoneVerifiedAt"] is not None
    assert sorted(identity["provider"] for identity in customer["identities"]) == ["GOOGLE", "PASSWORD"]
    assert [entry["email"] for entry in customer["otherEmails"]] == [other]
    assert (await auth.sign_in(other)).json()["code"] == "sign_in_blocked"
    events = (await project.client.get(f"/customers/{customer['id']}/events")).json()["data"]
    assert [event["type"] for event in events] == ["customer.banned", "customer.signed_up"]
    assert events[1]["metadata"]["method"] == "IMPORT"
    again = await import_rows(
        project.client,
        new_row(identities=[{"provider": "GOOGLE", "subject": "1098"}]),
        new_row(otherEmails=[{"email": other}]),
        new_row(otherEmails=[{"email": row["email"]}]),
        new_row(email=other),
    )
    assert [entry["faults"][0]["path"] for entry in again["rows"]] == [
        "/identities/0",
        "/otherEmails/0/email",
        "/otherEmails/0/email",
        "/email",
    ]


async def test_a_repeated_batch_changes_nothing(project):
    row = new_row(name="Ada")
    first = await import_rows(project.client, row)
    second = await import_rows(project.client, {**row, "name": "Eve", "email": new_address()})
    assert (second["created"], second["unchanged"]) == (0, 1)
    assert second["rows"][0]["customerId"] == first["rows"][0]["customerId"]
    customer = (await project.client.get(f"/customers/{first['rows'][0]['customerId']}")).json()
    assert customer["name"] == "Ada"


async def test_a_batch_that_is_sent_twice_at_once_creates_each_customer_once(project):
    rows = [new_row() for _ in range(10)]
    reports = await asyncio.gather(*(import_rows(project.client, *rows) for _ in range(2)))
    outcomes = [sorted(report["rows"][index]["outcome"] for report in reports) for index in range(10)]
    assert outcomes == [["CREATED", "UNCHANGED"]] * 10


@pytest.mark.parametrize(
    ("identity", "path"),
    [
        ({"provider": "SAML", "issuer": "https://idp.example", "subject": "ceo"}, "/identities/0/provider"),
        ({"provider": "PASSWORD", "issuer": "https://idp.example", "subject": "x"}, "/identities/0/provider"),
        ({"provider": "GOOGLE", "issuer": "https://idp.example", "subject": "ceo"}, "/identities/0/issuer"),
        (
            {"provider": "MICROSOFT", "issuer": "https://login.microsoftonline.com/organizations/v2.0", "subject": "x"},
            "/identities/0/issuer",
        ),
    ],
)
async def test_an_account_of_another_sign_in_method_cannot_be_planted(project, identity, path):
    """Otherwise the person who later signs in with single sign-on would be in an account that somebody prepared."""
    report = await import_rows(project.client, new_row(identities=[identity]))
    assert report["rows"][0]["faults"][0]["path"] == path


async def test_an_account_at_a_tenant_of_microsoft_is_imported(project):
    issuer = f"https://login.microsoftonline.com/{uuid4()}/v2.0"
    identity = {"provider": "MICROSOFT", "issuer": issuer, "subject": "1"}
    assert (await import_rows(project.client, new_row(identities=[identity])))["created"] == 1


async def test_a_bad_row_does_not_stop_the_others_and_leaves_nothing(project):
    acme = {"externalId": f"org_{uuid4()}", "roles": ["WIZARD"]}
    device = SoftWebauthnDevice()
    device.cred_init("login.other.example", b"handle")
    bad_key = passkey_of(device, rpId="127.0.0.1", publicKey=base64.urlsafe_b64encode(b"\x81" * 900).decode())
    bad = {
        "/email": new_row(email="nonsense"),
        "/emailVerified": new_row(emailVerified="yes"),
        "/externalUserId": {"email": new_address()},
        "/passwordHash": new_row(passwordHash="md5:5f4dcc3b5aa765d61d8327deb882cf99"),
        "/totpSecret": new_row(totpSecret="not base32!"),
        "/organizations/0/roles/0": new_row(organizations=[acme]),
        "/identities/0/provider": new_row(identities=[{"provider": "ACME", "subject": "1"}]),
        "/identities/0/issuer": new_row(identities=[{"provider": "MICROSOFT", "subject": "1"}]),
        "/passkeys/0/rpId": new_row(passkeys=[passkey_of(device)]),
        "/passkeys/0/publicKey": new_row(passkeys=[bad_key]),
        "/createdAt": new_row(createdAt="2999-01-01T00:00:00Z"),
        "/name": new_row(name="a\0b"),
        "/roles/0": new_row(roles=["WIZARD"]),
        "/metadata": new_row(metadata={"text": "x" * 20_000}),
        "/surname": new_row(surname="Lovelace"),
        "/phoneVerified": new_row(phoneVerified=True),
    }
    good = new_row(passwordHash=HASH)
    rows = [*bad.values(), good]
    for dry_run in (True, False):
        report = await import_rows(project.client, *rows, dryRun=dry_run)
        assert (report["created"], report["failed"]) == (1, len(bad)), report
        faults = {entry["faults"][0]["path"] for entry in report["rows"] if entry["outcome"] == "FAILED"}
        assert faults == set(bad)
        assert all(fault["message"] for entry in report["rows"] for fault in entry["faults"])
        total = (await project.client.get("/customers")).json()["total"]
        assert total == (0 if dry_run else 1)
    assert (await project.client.get(f"/b2b/organizations?externalId={acme['externalId']}")).json() == []


async def test_a_dry_run_sees_rows_before_and_stores_nothing(project):
    first, second = new_row(), new_row()
    report = await import_rows(project.client, first, {**second, "email": first["email"]}, first, dryRun=True)
    assert [entry["outcome"] for entry in report["rows"]] == ["CREATED", "FAILED", "UNCHANGED"]
    assert [entry["customerId"] for entry in report["rows"]] == [None] * 3
    assert (await project.client.get("/customers")).json()["total"] == 0


async def test_memberships_need_the_permission_to_add_members(project):
    narrow = await project.key("customers:write")
    membership = {"externalId": f"org_{uuid4()}"}
    report = await import_rows(narrow, new_row(organizations=[membership]), new_row())
    assert [entry["outcome"] for entry in report["rows"]] == ["FAILED", "CREATED"]
    assert report["rows"][0]["faults"][0]["path"] == "/organizations/0"


@pytest.mark.parametrize("rows", [[], [{}] * 201, None, "x", {}])
async def test_a_batch_without_rows_or_with_too_many_is_rejected(project, rows):
    response = await project.client.post("/customers/import/rows", {"rows": rows})
    assert response.status_code == 400


async def test_rows_that_are_no_objects_fail_alone(project):
    report = await import_rows(project.client, 1, "x", None, [{}], {"externalUserId": 7}, new_row())
    assert [entry["outcome"] for entry in report["rows"]] == ["FAILED"] * 5 + ["CREATED"]
