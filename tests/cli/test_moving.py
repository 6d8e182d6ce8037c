"""`postern import auth0|clerk|firebase|keycloak|supabase`: small exports in the documented forms, then sign-ins."""

import asyncio
import base64
import csv
import gzip
import hashlib
import io
import json
import os
from datetime import timedelta
from pathlib import Path

import bcrypt
import httpx
import pytest
from soft_webauthn import SoftWebauthnDevice

from postern.cli import CannotRun, moving, requests
from postern.cli import exports as export_files
from postern.cli.export_formats import FORMATS, ExportOptions, User, from_clerk, read_hash_config
from postern.cli.export_organizations import read_organizations
from postern.cli.moving import (
    ImportState,
    convert_rows,
    open_report,
    read_auth0_passwords,
    read_supabase_factors,
    read_supabase_identities,
    send_organizations,
    send_rows,
    summary,
)
from postern.identity.customers.imported_hashes import check_imported, import_hash
from postern.identity.customers.social import ISSUERS
from tests.commands import run_command
from tests.identity.customers.conftest import GOOD, auth, new_address
from tests.identity.customers.test_second_factor import App, sign_in_with_passkey
from tests.identity.imports.test_rows import passkey_of
from tests.peers import keycloak_realm
from tests.peers.whole_server import whole_server

__all__ = ["auth"]

KEYCLOAK_REALM = Path(__file__).parent / "keycloak-realm.json"
HASH = bcrypt.hashpw(GOOD.encode(), bcrypt.gensalt(4)).decode()
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
PBKDF2_SHA256 = hashlib.pbkdf2_hmac("sha256", GOOD.encode(), b"saltsalt", 1_000)
PBKDF2_SHA1 = hashlib.pbkdf2_hmac("sha1", GOOD.encode(), b"saltsalt", 1_000)
BCRYPT_SHA256 = bcrypt.hashpw(hashlib.sha256(GOOD.encode()).hexdigest().encode(), bcrypt.gensalt(4)).decode()
HASH_CONFIG = """hash_config {
  algorithm: SCRYPT,
  base64_signer_key: jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==,
  base64_salt_separator: Bw==,
  rounds: 8,
  mem_cost: 14,
}"""
CLERK_HEADER = [
    *("id", "first_name", "last_name", "username", "primary_email_address", "primary_phone_number"),
    *("verified_email_addresses", "unverified_email_addresses", "verified_phone_numbers", "unverified_phone_numbers"),
    *("totp_secret", "password_digest", "password_hasher", "created_at"),
]


class Server:
    """The part of httpx.AsyncClient that `send_rows` uses, with the client of a test."""

    def __init__(self, client):
        self.client = client

    async def request(self, method, path, **content):
        return await self.client.request(method, path, **content)


@pytest.fixture
def import_file(project, tmp_path):
    async def run(source, content, options=None, *, name="export.json", **fields):
        file = tmp_path / name
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        state, report = ImportState(), io.StringIO()
        options = options or ExportOptions()
        if source == "keycloak" and (organizations := list(read_organizations(file))):
            path, dry_run = f"/projects/{project.id}", fields.get("dry_run", False)
            sending = (Server(project.client), path, organizations, options, state, report)
            options = await send_organizations(*sending, dry_run=dry_run)
        rows = convert_rows(source, file, options, fields.pop("skip", 0))
        path = f"/projects/{project.id}/customers/import/rows"
        await send_rows(Server(project.client), path, rows, state, report, **fields)
        return state, [json.loads(line) for line in report.getvalue().splitlines()]

    return run


async def sign_in_with_totp(auth, clock, address, password=GOOD, secret=SECRET):
    pending = (await auth.sign_in(address, password)).json()
    assert pending["mfaRequired"] is True
    code = App(secret, clock).code()
    response = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "code": code})
    clock.move(timedelta(seconds=60))
    return response


def csv_of(header, *rows):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([header, *rows])
    return text.getvalue()


async def test_auth0(auth, project, import_file, tmp_path):
    address = new_address()
    users = [
        {
            "user_id": "auth0|60425dc43519d90068f82973",
            "email": address,
            "email_verified": True,
            "name": "Ada",
            "created_at": "2021-03-05T16:33:40.978Z",
            "locale": "de_DE",
            "user_metadata": {"plan": "pro"},
            "identities": [
                {"provider": "auth0", "user_id": "60425dc43519d90068f82973", "isSocial": False},
                {"provider": "google-oauth2", "user_id": "1098", "isSocial": True},
                {"provider": "twitter", "user_id": 2244994945, "isSocial": True},
                {"provider": "windowslive", "user_id": "77", "isSocial": True},
            ],
        },
        {"user_id": "auth0|2", "email": new_address(), "blocked": True},
    ]
    passwords = tmp_path / "passwords.json"
    row = {"_id": {"$oid": "60425dc43519d90068f82973"}, "email": address, "passwordHash": HASH, "tenant": "acme"}
    passwords.write_text(json.dumps(row) + "\n")
    content = "\n".join(json.dumps(user) for user in users)
    state, report = await import_file("auth0", content, ExportOptions(passwords=read_auth0_passwords(passwords)))
    assert state.outcomes == {"CREATED": 2}, report
    assert report[0]["notCarriedOver"] == ["The account at windowslive."]
    assert HASH not in json.dumps(report)
    signed_in = (await auth.sign_in(address)).json()
    customer = (await project.client.get(f"/customers/{signed_in['customer']['id']}")).json()
    assert customer["metadata"] == {"user_metadata": {"plan": "pro"}}
    assert (customer["createdAt"], customer["language"]) == ("2021-03-05T16:33:40.978Z", "de-DE")
    assert {identity["provider"] for identity in customer["identities"]} == {"GOOGLE", "X", "PASSWORD"}


ACCOUNTS = {
    "auth0": (
        lambda provider, subject: {"user_id": "1", "identities": [{"provider": provider, "user_id": subject}]},
        {"google-oauth2": "GOOGLE", "apple": "APPLE", "github": "GITHUB", "twitter": "X", "facebook": "FACEBOOK"}
        | {"linkedin": "LINKEDIN", "windowslive": None, "waad": None, "oauth2": None},
    ),
    "firebase": (
        lambda provider, subject: {"localId": "1", "providerUserInfo": [{"providerId": provider, "rawId": subject}]},
        {"google.com": "GOOGLE", "apple.com": "APPLE", "github.com": "GITHUB", "twitter.com": "X"}
        | {"facebook.com": "FACEBOOK", "microsoft.com": None, "yahoo.com": None, "gc.apple.com": None},
    ),
    "keycloak": (
        lambda provider, subject: {
            "id": "1",
            "federatedIdentities": [{"identityProvider": provider, "userId": subject, "userName": "ada"}],
        },
        {"google": "GOOGLE", "apple": "APPLE", "github": "GITHUB", "gitlab": "GITLAB", "discord": "DISCORD"}
        | {"twitter": "X", "facebook": "FACEBOOK", "linkedin-openid-connect": "LINKEDIN", "microsoft": None},
    ),
    "supabase": (
        lambda provider, subject: {"id": "1"},
        {"google": "GOOGLE", "apple": "APPLE", "github": "GITHUB", "gitlab": "GITLAB", "discord": "DISCORD"}
        | {"twitter": "X", "x": "X", "facebook": "FACEBOOK", "linkedin": "LINKEDIN", "linkedin_oidc": "LINKEDIN"}
        | {"azure": None, "slack": None, "slack_oidc": None},
    ),
}
"""For each export, a user with an account at a provider, and the presets by the providers' names there."""


@pytest.mark.parametrize("source", ACCOUNTS)
def test_accounts_at_providers_by_their_names_in_exports(source):
    user_of, presets = ACCOUNTS[source]
    for provider, preset in presets.items():
        options = ExportOptions(identities={"1": [(provider, "42")]})
        conversion = FORMATS[source](User(user_of(provider, "42")), options)
        if preset is None:
            assert "identities" not in conversion.body, provider
            assert conversion.notes == [f"The account at {provider.removesuffix('.com')}."]
        else:
            assert conversion.body["identities"] == [{"provider": preset, "subject": "42"}], provider
            assert preset in ISSUERS
            assert conversion.notes == []


@pytest.mark.parametrize(
    ("source", "user", "language"),
    [
        ("auth0", {"user_id": "1", "locale": {"language": "de"}, "user_metadata": {"locale": "pt-BR"}}, "pt-BR"),
        ("clerk", {"id": "1", "locale": "fr"}, "fr"),
        ("keycloak", {"id": "1", "attributes": {"locale": ["x" * 90, "ja"]}}, "ja"),
        ("supabase", {"id": "1", "raw_user_meta_data": {"locale": "en_GB.UTF-8"}}, "en-GB"),
        ("supabase", {"id": "1", "raw_user_meta_data": {"locale": "<script>"}}, None),
    ],
)
def test_languages_in_exports(source, user, language):
    """A value that is no language is left out, and does not fail the row."""
    assert FORMATS[source](User(user), ExportOptions()).body.get("language") == language


async def test_clerk(auth, clock, import_file):
    address, other, weak = new_address(), new_address(), new_address()
    md5 = hashlib.md5(GOOD.encode(), usedforsecurity=False).hexdigest()
    rows = [
        ["user_1", "=1+1", "Doe", "", address, "", f"{address},{other}", "", "", "", SECRET, HASH, "bcrypt", ""],
        ["user_2", "Bob", "", "", weak, "", weak, "", "", "", "", md5, "md5", "2026-02-18T12:39:14Z"],
        ["user_3", "Eve", "", "", new_address(), "", "", "", "", "", "", "hash", "awscognito", ""],
    ]
    state, report = await import_file("clerk", csv_of(CLERK_HEADER, *rows), name="export.csv")
    assert state.outcomes == {"CREATED": 3}, report
    assert report[2]["notCarriedOver"] == ["The password: hashes of awscognito cannot be imported."]
    assert (await sign_in_with_totp(auth, clock, address)).json()["customer"]["name"] == "=1+1 Doe"
    assert (await sign_in_with_totp(auth, clock, other)).status_code == 200
    assert (await auth.sign_in(weak)).status_code == 200


async def test_firebase(auth, import_file):
    address = new_address()
    user = {
        "localId": "Xy1",
        "email": address,
        "emailVerified": True,
        "passwordHash": "lSrfV15cpx95_sZS2W9c9Kp6i_LVgQNDNC_qzrCnh1SAyZvqmZqAjTdn3aoItz-VHjoZilo78198JAdRuid5lQ==",
        "salt": "42xEC-ixf3L2lw==",
        "displayName": "Ada",
        "createdAt": "1486324476000",
        "customAttributes": '{"admin": true}',
        "phoneNumber": "+4915112345678",
        "providerUserInfo": [{"providerId": "google.com", "rawId": "1098"}, {"providerId": "password", "rawId": "x"}],
    }
    content = json.dumps(
        {"users": [user, {"localId": "Xy2", "email": 5}, {"localId": "Xy3", "disabled": True}]}, indent=1
    )
    state, report = await import_file("firebase", content, ExportOptions(hash_config=read_hash_config(HASH_CONFIG)))
    assert state.outcomes == {"CREATED": 2, "FAILED": 1}, report
    assert report[1]["faults"][0]["message"] == "`email` is not text."
    signed_in = await auth.sign_in(address, "user1password")
    assert signed_in.status_code == 200, signed_in.text


async def test_keycloak(auth, project, clock, import_file):
    address, second = new_address(), new_address()
    value = base64.b64encode(hashlib.pbkdf2_hmac("sha256", GOOD.encode(), b"0123456789abcdef", 2000, 64)).decode()
    password = {
        "type": "password",
        "secretData": json.dumps({"value": value, "salt": base64.b64encode(b"0123456789abcdef").decode()}),
        "credentialData": json.dumps(
            {"hashIterations": 2000, "algorithm": "pbkdf2-sha256", "additionalParameters": {}}
        ),
    }
    totp = {"subType": "totp", "digits": 6, "counter": 0, "period": 30, "algorithm": "HmacSHA1"}
    raw = "kH7hvVXMrXBVzhQXTaMb"
    otp = {"type": "otp", "secretData": json.dumps({"value": raw}), "credentialData": json.dumps(totp)}
    users = [
        {
            "id": "9c1f8f42-31c7-4b1c-8d0c-2f1b2b0c6c0e",
            "username": "ada",
            "email": address,
            "emailVerified": True,
            "enabled": True,
            "createdTimestamp": 1486324476000,
            "attributes": {"locale": ["de"]},
            "credentials": [password, otp],
            "groups": ["/acme/admins"],
            "realmRoles": ["default-roles-acme", "boss"],
            "requiredActions": ["UPDATE_PROFILE"],
        },
        {"id": "2", "username": "bob", "email": second, "enabled": False, "credentials": [password]},
    ]
    realm = {"realm": "acme", "roles": {"realm": [{"name": "boss"}]}, "groups": [], "users": users, "clients": [{}]}
    options = ExportOptions(roles={"boss": "ADMIN"}, groups_are_organizations=True)
    state, report = await import_file("keycloak", json.dumps(realm, indent=2), options)
    assert state.outcomes == {"CREATED": 2}, report
    assert report[0]["notCarriedOver"] == [
        "Realm roles, see --role: default-roles-acme.",
        "Required actions: UPDATE_PROFILE.",
    ]
    secret = base64.b32encode(raw.encode()).decode()
    assert (await sign_in_with_totp(auth, clock, address, secret=secret)).status_code == 200
    customer = (await project.client.get(f"/customers?q={address}")).json()["data"][0]
    assert (customer["roles"], customer["language"]) == (["ADMIN"], "de")
    memberships = (await project.client.get(f"/customers/{customer['id']}/organizations")).json()
    assert [entry["organization"]["name"] for entry in memberships] == ["acme"]
    assert (await auth.sign_in(second)).json()["code"] == "sign_in_blocked"


async def check_the_realm_of_keycloak(auth, project, clock, import_file, content):
    """Import an export of `keycloak_realm.REALM`, repeat it, and sign in. Returns the report."""
    options = ExportOptions(roles={"boss": "ADMIN"})
    path = "/b2b/organizations"
    state, dry = await import_file("keycloak", content, options, dry_run=True)
    assert (await project.client.get(path)).json() == []
    assert (await project.client.get("/customers")).json()["total"] == 0
    assert "Dry run: Organizations: 2 created, 0 unchanged, 0 failed." in summary(state, dry_run=True)
    state, report = await import_file("keycloak", content, options)
    assert [line["outcome"] for line in report] == [line["outcome"] for line in dry]
    assert state.organizations == {"CREATED": 2}, report
    # The service account of a client is not a person.
    assert state.outcomes == {"CREATED": 4, "SKIPPED": 1}, report
    (robot,) = [line for line in report if line["outcome"] == "SKIPPED"]
    assert (robot["faults"], robot["notCarriedOver"]) == ([], ["The user is the service account of a client."])
    assert summary(state, dry_run=False).startswith("4 created, 0 unchanged, 0 failed, 1 skipped;")
    by_name = {line.get("organization"): line for line in report}
    acme, old = [
        (await project.client.get(f"{path}/{by_name[name]['organizationId']}")).json() for name in ("Acme Ltd", "Old")
    ]
    assert (acme["slug"], acme["status"], acme["memberCount"]) == ("acme", "ACTIVE", 2)
    assert acme["metadata"] == {"description": "The first", "tier": ["gold"]}
    assert (old["slug"], old["status"], old["memberCount"]) == ("old", "SUSPENDED", 1)
    domains = (await project.client.get(f"{path}/{acme['id']}/domains")).json()
    # Keycloak's flag is set by an administrator, and proves nothing.
    assert [(domain["domain"], domain["status"]) for domain in domains] == [("acme.example", "PENDING")]
    members = (await project.client.get(f"{path}/{acme['id']}/members")).json()
    assert {member["email"] for member in members} == {"ada@acme.example", "bob@acme.example"}
    assert all(member["roles"] == ["MEMBER"] for member in members)

    secret = base64.b32encode(keycloak_realm.SECRET.encode()).decode()
    signed_in = await sign_in_with_totp(auth, clock, "ada@acme.example", keycloak_realm.PASSWORD, secret)
    assert signed_in.status_code == 200, signed_in.text
    customer = (await project.client.get(f"/customers/{signed_in.json()['customer']['id']}")).json()
    assert (customer["name"], customer["roles"], customer["metadata"]) == ("Ada Byron", ["ADMIN"], {"plan": ["pro"]})
    assert {identity["provider"] for identity in customer["identities"]} == {"GOOGLE", "GITHUB", "PASSWORD"}
    # Hashed by the algorithm of older versions.
    assert (await auth.sign_in("grace@acme.example", keycloak_realm.OLDER_PASSWORD)).status_code == 200
    again, _ = await import_file("keycloak", content, options)
    assert again.organizations == {"UNCHANGED": 2}
    assert again.outcomes == {"UNCHANGED": 4, "SKIPPED": 1}
    assert (await project.client.get(f"{path}/{acme['id']}/domains")).json() == domains
    return report


async def test_a_real_export_of_keycloak_with_organizations(auth, project, clock, import_file):
    report = await check_the_realm_of_keycloak(auth, project, clock, import_file, KEYCLOAK_REALM.read_text("utf-8"))
    notes = {line.get("organization") or line["externalUserId"]: line["notCarriedOver"] for line in report}
    public = "Anyone can get an address at gmail.com, so no organization can claim it. Use a domain of the company."
    assert notes["Acme Ltd"] == [
        "The redirect URL.",
        "Identity providers: acme.",
        "Groups: admins.",
        "The verification of acme.example: publish its TXT record.",
        f"The domain gmail.com: {public}",
    ]
    users = {user["id"]: user["username"] for user in json.loads(KEYCLOAK_REALM.read_text("utf-8"))["users"]}
    assert {name: notes[user_id] for user_id, name in users.items() if notes.get(user_id)} == {
        "ada": [
            "Groups, see --groups-are-organizations: staff.",
            "A security key as second factor: here it would sign in without the password.",
        ],
        "bob": ["The account at acme."],
        "grace": ["Realm roles, see --role: default-roles-moving."],
    }


async def test_organizations_of_keycloak_that_are_refused_in_part_or_whole(project, import_file):
    organizations = [
        {"id": "1", "name": "Taken", "alias": "taken"},
        {"id": "2", "name": "Large", "alias": "large", "attributes": {"text": ["x" * 20_000]}},
        {
            "id": "3",
            "alias": "no-name",
            "domains": [{"name": "not a domain"}],
            "members": [{"username": "eve", "membershipType": "MANAGED"}],
        },
        {"id": {}, "name": "No id", "members": [{"username": "bob"}, {"username": []}, "carol"]},
        {"id": "4", "name": "x", "attributes": {"a": ["\ud800"]}},
        "Acme",
        {"id": "i" * 300, "name": "Long id", "members": [{"username": "ada"}]},
    ]
    await project.client.post("/b2b/organizations", {"name": "Taken", "slug": "taken"})
    users = [{"id": name, "username": name, "email": new_address()} for name in ("ada", "bob", "carol")]
    content = json.dumps({"realm": "acme", "users": users, "organizations": organizations}, indent=1)
    state, report = await import_file("keycloak", content)
    assert state.organizations == {"CREATED": 3, "FAILED": 4}, report
    assert [line["notCarriedOver"] for line in report[:3]] == [
        ["The alias: Another organization of the project has this slug."],
        ["The attributes: Metadata may have at most 16 KiB as JSON."],
        [
            "Managed members: 1; they become ordinary members.",
            "The domain not a domain: 'not a domain' is not a domain name.",
        ],
    ]
    assert report[1]["organization"] == "Large"
    assert [line["faults"][0]["path"] for line in report[3:7]] == ["", "", "", "/externalId"]
    # Users are not imported without the membership.
    assert (report[7]["outcome"], report[7]["faults"][0]["path"]) == ("FAILED", "/organizations/0/externalId")
    assert report[8]["faults"][0]["message"] == "The organization No id of the user cannot be imported."
    assert [line["outcome"] for line in report[8:]] == ["FAILED", "CREATED"], "of carol, nothing can be read"
    assert len(summary(state, dry_run=False).splitlines()) == 8, "the numbers twice, and the faults"


async def test_organizations_need_their_permission(project, import_file):
    project.client = await project.key("customers:write")
    realm = {"users": [], "organizations": [{"id": "1", "name": "Acme"}]}
    with pytest.raises(CannotRun, match="organizations:read"):
        await import_file("keycloak", json.dumps(realm))


async def test_a_passkey_of_keycloak_signs_in_and_a_second_factor_does_not_become_one(auth, import_file):
    device = SoftWebauthnDevice()
    device.cred_init("127.0.0.1", b"")
    passkey = passkey_of(device)
    data = {"credentialId": passkey["credentialId"], "credentialPublicKey": passkey["publicKey"], "counter": 0}
    credentials = [
        {"type": kind, "userLabel": "Key", "credentialData": json.dumps(data), "secretData": "{}"}
        for kind in ("webauthn-passwordless", "webauthn")
    ]
    realm = {"users": [{"id": "1", "email": new_address(), "credentials": credentials}]}
    _, report = await import_file("keycloak", json.dumps(realm), ExportOptions(passkey_domain="127.0.0.1"))
    assert report[0]["outcome"] == "CREATED", report
    assert report[0]["notCarriedOver"] == [
        "A security key as second factor: here it would sign in without the password."
    ]
    assert (await sign_in_with_passkey(auth, device)).json()["customer"]["id"] == report[0]["customerId"]


async def test_supabase(auth, clock, import_file, tmp_path):
    address = new_address()
    header = [
        *("id", "email", "encrypted_password", "email_confirmed_at", "raw_user_meta_data", "raw_app_meta_data"),
        *("created_at", "banned_until", "phone", "phone_confirmed_at", "deleted_at", "is_sso_user", "is_anonymous"),
    ]
    time = "2023-01-02 03:04:05.678+00"
    profile, app = '{"full_name": "Ada"}', '{"provider": "email"}'
    rows = [
        ["u1", address, HASH, time, profile, app, time, "", "4915112345678", "", "", "f", "f"],
        ["u2", "", "", "", "", "", time, "", "", "", "", "f", "t"],
    ]
    factors, identities = tmp_path / "factors.csv", tmp_path / "identities.csv"
    factors.write_text(csv_of(["user_id", "factor_type", "status", "secret"], ["u1", "totp", "verified", SECRET]))
    identities.write_text(csv_of(["user_id", "provider", "provider_id"], ["u1", "gitlab", "42"], ["u1", "email", "u1"]))
    options = ExportOptions(factors=read_supabase_factors(factors), identities=read_supabase_identities(identities))
    state, report = await import_file("supabase", csv_of(header, *rows), options, name="users.csv")
    assert state.outcomes == {"CREATED": 1, "FAILED": 1}, report
    signed_in = (await sign_in_with_totp(auth, clock, address)).json()
    assert signed_in["customer"]["name"] == "Ada"
    assert set(signed_in["customer"]["identities"]) == {"GITLAB", "PASSWORD"}


async def test_a_repeated_or_continued_import_creates_nobody_twice(project, import_file):
    users = [json.dumps({"user_id": f"auth0|{n}", "email": new_address()}) for n in range(5)]
    content = "\n".join(users)
    state, _ = await import_file("auth0", content, dry_run=True)
    assert state.outcomes == {"CREATED": 5}
    assert (await project.client.get("/customers")).json()["total"] == 0
    await import_file("auth0", content, skip=3)
    state, report = await import_file("auth0", content)
    assert state.outcomes == {"CREATED": 3, "UNCHANGED": 2}
    assert all(line["customerId"] for line in report)


async def test_a_person_whose_hash_is_refused_is_imported_without_it(import_file):
    row = ["user_1", "Ada", "", "", new_address(), "", "", "", "", "", "", "$2b$31$" + "." * 53, "bcrypt", ""]
    state, report = await import_file("clerk", csv_of(CLERK_HEADER, row), name="export.csv")
    assert state.outcomes == {"CREATED": 1}
    assert report[0]["notCarriedOver"] == ["The password: The cost of a bcrypt hash must be 4 to 14."]


async def test_hostile_lines_fail_alone(import_file, monkeypatch):
    monkeypatch.setattr(export_files, "ROW_LIMIT", 20_000)
    good = json.dumps({"user_id": "auth0|1", "email": new_address()}).encode()
    lines = [
        b'{"user_id": "auth0|long", "name": "' + b"x" * 50_000 + b'"}',
        b'{"user_id": "auth0|\xff\xfe"}',
        b'{"user_id": ',
        b"[" * 5_000,
        b"7",
        b'{"user_id": {"a": 1}}',
        b'{"user_id": "auth0|2", "email": ["a"]}',
        b'{"user_id": "auth0|3", "identities": [1]}',
        b'{"user_id": "auth0|4", "created_at": "yesterday"}',
        b'{"user_id": "auth0|5", "created_at": 99999999999999999999}',
        b'{"user_id": "auth0|6", "user_metadata": ' + b'{"a":' * 600 + b"1" + b"}" * 600 + b"}",
        b'{"user_id": "auth0|7", "email": "\\ud800@example.com"}',
        b'{"user_id": "auth0|8", "user_metadata": {"a": "\\u0000"}}',
        b'{"user_id": "auth0|9", "user_metadata": {"a": NaN}}',
        b'{"user_id": "auth0|10", "user_metadata": {"a": [' + b"1," * 9_000 + b"1]}}",
        good,
    ]
    state, report = await import_file("auth0", b"\n".join(lines))
    assert [line["outcome"] for line in report] == ["FAILED"] * (len(lines) - 1) + ["CREATED"], report
    assert all(line["faults"] for line in report[:-1])
    assert state.rows == len(lines)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("users.json", '{"users": [{"localId": "1"}, {"localId": '),
        ("users.json", '{"users": [{"localId": "1"} {"localId": "2"}]}'),
        ("users.json", '{"users": [' + "[" * 100_000),
        ("users.json", '{\n"people": []}'),
        ("users.json", b'[{"localId": "\xff"}]'),
        ("users.csv", "localId\n" + "x" * 5_000_000),
        ("users.json.gz", gzip.compress(b'{"localId": "1"}', mtime=0)),
        ("users.csv", "localId\n1\n".encode("utf-16")),
    ],
)
async def test_a_damaged_document_ends_with_a_message(import_file, name, content):
    with pytest.raises(CannotRun):
        await import_file("firebase", content, name=name)


def test_what_is_not_a_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "users.json")
    with pytest.raises(CannotRun, match="regular file"):
        export_files.read_rows(tmp_path / "users.json", "users")


@pytest.mark.parametrize("name", ["users.json", "users.csv", "users.ndjson"])
def test_progress_ends_at_the_size_of_the_file(tmp_path, name):
    file = tmp_path / name
    content = {"users.json": '[{"id": "1"}]', "users.csv": "id\n1\n", "users.ndjson": '{"id": "1"}\n'}
    file.write_text(content[name])
    positions = []
    assert [row.fields for row in export_files.read_rows(file, "users", positions.append)] == [{"id": "1"}]
    assert positions[-1] == file.stat().st_size


def test_the_report_is_private_and_overwrites_neither_the_export_nor_what_a_link_names(tmp_path):
    export, other = tmp_path / "users.json", tmp_path / "other"
    export.write_text("[]")
    with open_report(export, None, append=False) as output:
        output.write("1\n")
    report = tmp_path / "users.json.report"
    assert report.stat().st_mode & 0o077 == 0
    with open_report(export, None, append=True) as output:
        output.write("2\n")
    assert report.read_text() == "1\n2\n"
    with pytest.raises(CannotRun):
        open_report(export, export, append=False)
    report.unlink()
    other.write_text("important")
    report.symlink_to(other)
    with pytest.raises(OSError, match="symbolic links"):
        open_report(export, None, append=False)
    assert (export.read_text(), other.read_text()) == ("[]", "important")


@pytest.mark.parametrize(
    ("hasher", "digest"),
    [
        # Salt and hash in base64, unlike Django's.
        ("pbkdf2_sha256", f"pbkdf2_sha256$1000$c2FsdHNhbHQ=${base64.b64encode(PBKDF2_SHA256).decode()}"),
        ("pbkdf2_sha256_django", f"pbkdf2_sha256$1000$saltsalt${base64.b64encode(PBKDF2_SHA256).decode()}"),
        # The hash in hexadecimal.
        ("pbkdf2_sha1", f"pbkdf2_sha1$1000$saltsalt${PBKDF2_SHA1.hex()}"),
        ("sha256", hashlib.sha256(GOOD.encode()).hexdigest()),
        ("bcrypt_sha256_django", f"bcrypt_sha256${BCRYPT_SHA256}"),
    ],
    ids=["pbkdf2_sha256", "pbkdf2_sha256_django", "pbkdf2_sha1", "sha256", "bcrypt_sha256_django"],
)
async def test_hashes_of_clerk_verify(hasher, digest):
    fields = {"id": "user_1", "primary_email_address": "a@b.example", "password_digest": digest}
    conversion = from_clerk(User({**fields, "password_hasher": hasher}), ExportOptions())
    stored = await import_hash(conversion.body["passwordHash"])
    assert await check_imported(GOOD, stored)
    assert not await check_imported("wrong", stored)


async def test_csv_rows_that_are_cut_or_not_utf8_fail_alone(import_file):
    content = f"localId,email\n1\n2,\xe9\n3,{new_address()}\n".encode("latin-1")
    _, report = await import_file("firebase", content, name="users.csv")
    assert [line["outcome"] for line in report] == ["FAILED", "FAILED", "CREATED"]


def test_a_large_list_is_read_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(export_files, "CHUNK_BYTES", 7)
    file = tmp_path / "users.json"
    users = [{"localId": str(number), "name": 'é\\"]}' * number} for number in range(60)]
    file.write_text(json.dumps({"a": {"users": [1]}, "b": 12, "users": users}, ensure_ascii=False), encoding="utf-8")
    assert [row.fields for row in export_files._json_items(file, "users")] == users
    assert [row.fields for row in export_files.read_second_list(file, "none")] == []


def test_the_command_imports_and_continues(tmp_path, monkeypatch):
    """As an operator uses it: dry run, import, a row that fails, `--skip`, and a server that goes away meanwhile."""
    export, passwords, report = (tmp_path / name for name in ("users.json", "passwords.json", "of-rows.ndjson"))
    users = [{"user_id": f"auth0|{number}", "email": new_address(), "email_verified": True} for number in range(5)]
    export.write_text("".join(json.dumps(user) + "\n" for user in users[:2]))
    passwords.write_text(json.dumps({"_id": {"$oid": "0"}, "passwordHash": HASH}) + "\n")
    with whole_server(tmp_path / "server") as server:
        access = asyncio.run(server.account())
        api = httpx.Client(base_url=f"{server.url}/projects/{access.project_id}", trust_env=False, timeout=60)
        api.headers["authorization"] = f"Bearer {access.secret_key}"
        variables = {"POSTERN_URL": server.url, "POSTERN_PROJECT": access.project_id, "POSTERN_KEY": access.secret_key}

        def run(*options, source="auth0", file=export, **more):
            environment = {**os.environ, **variables, **more}
            return run_command("import", source, str(file), *options, environment=environment, cwd=tmp_path)

        def reported(file):
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            return [(line["externalUserId"], line["outcome"]) for line in lines]

        def stored():
            return {customer["externalUserId"]: customer for customer in api.get("/customers").json()["data"]}

        beside = tmp_path / "users.json.report"
        done = run("--dry-run", "--passwords", str(passwords))
        assert (done.returncode, stored()) == (0, {}), done.stderr
        assert done.stdout.startswith("Dry run: 2 created, 0 unchanged, 0 failed; ")
        assert str(beside) in done.stdout
        assert reported(beside) == [("auth0|0", "CREATED"), ("auth0|1", "CREATED")]

        export.write_text(export.read_text() + '{"user_id": "auth0|x", "email": "nonsense"}\n[]\n')
        done = run("--passwords", str(passwords), "--report", str(report))
        assert done.returncode == 1, "rows have failed"
        assert done.stdout.startswith("2 created, 0 unchanged, 2 failed; "), done.stdout + done.stderr
        assert "row 3: /email " in done.stdout
        assert str(report) in done.stdout
        assert reported(report)[2:] == [("auth0|x", "FAILED"), (None, "FAILED")]
        assert stored().keys() == {"auth0|0", "auth0|1"}
        assert [identity["provider"] for identity in stored()["auth0|0"]["identities"]] == ["PASSWORD"]
        assert HASH not in report.read_text() + done.stdout + done.stderr

        done = run("--skip", "2", "--report", str(report))
        assert (done.returncode, len(reported(report))) == (1, 6), "the report goes on"
        assert done.stdout.startswith("0 created, 0 unchanged, 2 failed; ")
        export.write_text("".join(json.dumps(user) + "\n" for user in ({}, *users)))
        refused = run(POSTERN_KEY="sk_live_unknown")
        assert refused.returncode not in (0, 1)
        assert "To continue, repeat the command with --skip 1." in refused.stderr, "after the row that was not sent"

        for name, value in {**variables, "POSTERN_DATA": str(tmp_path)}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(requests, "FIRST_PAUSE_SECONDS", 0.001)
        monkeypatch.setattr(moving, "BATCH_ROWS", 3)
        report_row = moving._report

        def report_and_go(state, *arguments):
            report_row(state, *arguments)
            if state.rows == 4:
                server.pause()

        monkeypatch.setattr(moving, "_report", report_and_go)
        with pytest.raises(CannotRun, match=r"cannot be reached .*repeat the command with --skip 4\."):
            moving.auth0(export, access.project_id, access.secret_key, url=server.url)
        server.resume()
        done = run("--skip", "4")
        assert (done.returncode, done.stdout.split(";")[0]) == (0, "2 created, 0 unchanged, 0 failed"), done.stderr
        assert reported(beside)[1:] == [
            *((f"auth0|{number}", "UNCHANGED") for number in range(2)),
            *((f"auth0|{number}", "CREATED") for number in range(2, 5)),
        ]
        assert stored().keys() == {user["user_id"] for user in users}
        for source, (file, *options) in exports_of_others(tmp_path).items():
            done = run(*options, source=source, file=file)
            assert (done.returncode, done.stdout.split(";")[0]) == (0, "1 created, 0 unchanged, 0 failed"), done
        (organization,) = api.get("/b2b/organizations").json()
        assert (organization["name"], organization["memberCount"]) == ("Acme", 1)
        methods = {
            identity["provider"]
            for customer in stored().values()
            if customer["externalUserId"].endswith("-other")
            for identity in customer["identities"]
        }
        assert methods == {"PASSWORD", "GITLAB"}
        wrong = run("--role", "boss", source="keycloak", file=tmp_path / "users.json")
        assert (wrong.returncode, "Expected OLD=KEY" in wrong.stderr) == (2, True)


def exports_of_others(folder):
    """An export with one user by its source: the file, and the options of the command."""

    def written(name, content):
        file = folder / name
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(file)

    user = {"localId": "firebase-other", "email": new_address(), "emailVerified": True}
    password = "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="
    firebase = written("firebase.json", {"users": [{**user, "passwordHash": password, "salt": "42xEC+ixf3L2lw=="}]})
    clerk = ["clerk-other", "Ada", "", "", new_address(), "", "", "", "", "", "", HASH, "bcrypt", ""]
    member = {"id": "keycloak-other", "username": "ada", "email": new_address(), "emailVerified": True, "enabled": True}
    acme = {"id": "o1", "name": "Acme", "alias": "acme", "enabled": True, "members": [{"username": "ada"}]}
    supabase = csv_of(
        ["id", "email", "email_confirmed_at"], ["supabase-other", new_address(), "2023-01-02 03:04:05+00"]
    )
    factors = csv_of(["user_id", "factor_type", "status", "secret"], ["supabase-other", "totp", "verified", SECRET])
    identities = csv_of(["user_id", "provider", "provider_id"], ["supabase-other", "gitlab", "42"])
    return {
        "firebase": (firebase, "--hash-config", written("hash-config", HASH_CONFIG)),
        "clerk": (written("clerk.csv", csv_of(CLERK_HEADER, clerk)),),
        "keycloak": (
            written("realm-users.json", {"realm": "acme", "users": [member]}),
            *("--realm", written("realm.json", {"realm": "acme", "organizations": [acme]})),
            *("--role", "boss=ADMIN", "--groups-are-organizations", "--passkey-domain", "login.example.com"),
        ),
        "supabase": (
            written("supabase.csv", supabase),
            *("--factors", written("factors.csv", factors), "--identities", written("identities.csv", identities)),
        ),
    }


def test_the_command_lists_its_sources(tmp_path):
    done = run_command("import", "--help", environment={"PATH": "/usr/bin"}, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for source in ("auth0", "clerk", "firebase", "keycloak", "supabase", "contacts"):
        assert source in done.stdout
