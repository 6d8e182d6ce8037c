"""Sign-up and sign-in of customers: sessions and tokens, lockout, codes and links, passwords, imported hashes."""

import asyncio
import time
from contextvars import ContextVar
from datetime import timedelta
from uuid import UUID, uuid4

import argon2
import bcrypt
import jwt
import psycopg
import pytest

from postern.identity.customers import imported_hashes
from postern.identity.customers.imported_hashes import refusal_seconds
from postern.identity.customers.signing_keys import signing_key
from tests.conftest import Client
from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_second_factor import with_totp
from tests.lock_waits import until_lock_waits
from tests.workers import in_another_process


async def test_sign_up_sign_in_refresh_and_sign_out(auth):
    address = new_address()
    sign_up = await auth.signed_up(address)
    assert sign_up["customer"]["email"] == address
    assert sign_up["customer"]["emailVerifiedAt"] is not None
    assert sign_up["customer"]["identities"] == ["PASSWORD"]
    signed_in = (await auth.sign_in(address.upper())).json()
    ada = auth.as_(signed_in["accessToken"])
    assert (await ada.get("/me")).json()["id"] == sign_up["customer"]["id"]
    sessions = (await ada.get("/sessions")).json()
    assert [session["current"] for session in sessions] == [True, False]
    assert (await ada.post("/sign-out")).status_code == 204
    assert (await ada.get("/me")).status_code == 401
    assert (await auth.post("/token/refresh", {"refreshToken": signed_in["refreshToken"]})).status_code == 401
    assert (await auth.as_(sign_up["accessToken"]).get("/me")).status_code == 200


async def test_access_tokens_verify_with_the_jwks(auth, project, world):
    sign_up = await auth.signed_up()
    keys = (await Client(auth.app).get(f"/projects/{project.id}/.well-known/jwks.json")).json()
    kid = jwt.get_unverified_header(sign_up["accessToken"])["kid"]
    key = jwt.PyJWKSet.from_dict(keys)[kid]
    issuer = f"{world.settings.public_url}/projects/{project.id}"
    claims = jwt.decode(sign_up["accessToken"], key, algorithms=["ES256"], audience=project.id, issuer=issuer)
    assert (claims["sub"], claims["sid"]) == (sign_up["customer"]["id"], sign_up["sessionId"])
    assert claims["exp"] - claims["iat"] == 300
    assert "d" not in keys["keys"][0]


async def test_tokens_of_another_type_or_key_are_rejected(auth, project, world):
    sign_up = await auth.signed_up()
    claims = jwt.decode(sign_up["accessToken"], options={"verify_signature": False})
    kid = jwt.get_unverified_header(sign_up["accessToken"])["kid"]
    keys = (await Client(auth.app).get(f"/projects/{project.id}/.well-known/jwks.json")).json()
    public_jwk = str(keys["keys"][0])
    from cryptography.hazmat.primitives.asymmetric import ec

    _, key = await signing_key(world.db, world, UUID(project.id), world.clock())
    other_key = ec.generate_private_key(ec.SECP256R1())
    forged = [
        jwt.encode(claims, key, algorithm="ES256", headers={"kid": kid, "typ": "JWT"}),
        jwt.encode({**claims, "aud": str(uuid4())}, key, algorithm="ES256", headers={"kid": kid, "typ": "at+jwt"}),
        jwt.encode({**claims, "iss": "x"}, key, algorithm="ES256", headers={"kid": kid, "typ": "at+jwt"}),
        jwt.encode({**claims, "exp": 1}, key, algorithm="ES256", headers={"kid": kid, "typ": "at+jwt"}),
        jwt.encode(claims, None, algorithm="none", headers={"kid": kid, "typ": "at+jwt"}),
        jwt.encode(claims, public_jwk.ljust(32), algorithm="HS256", headers={"kid": kid, "typ": "at+jwt"}),
        jwt.encode(claims, other_key, algorithm="ES256", headers={"kid": kid, "typ": "at+jwt"}),
        jwt.encode(
            claims,
            other_key,
            algorithm="ES256",
            headers={"kid": str(uuid4()), "typ": "at+jwt"},
        ),
        sign_up["accessToken"][:-4] + "AAAA",
        "ey.ey.ey",
    ]
    valid = jwt.encode(claims, key, algorithm="ES256", headers={"kid": kid, "typ": "at+jwt"})
    assert (await auth.as_(valid).get("/me")).status_code == 200, "a token made like the forged ones, but valid"
    for token in forged:
        assert (await auth.as_(token).get("/me")).status_code == 401


async def test_tokens_stay_valid_during_key_rotation(auth, project, clock):
    sign_up = await auth.signed_up()
    jwks = Client(auth.app)
    before = (await jwks.get(f"/projects/{project.id}/.well-known/jwks.json")).json()["keys"]
    assert (await project.developer.post(f"/projects/{project.id}/auth/signing-keys/rotate")).status_code == 204
    during = (await jwks.get(f"/projects/{project.id}/.well-known/jwks.json")).json()["keys"]
    assert (len(before), len(during)) == (1, 2)
    clock.move(timedelta(minutes=11))
    renewed = (await auth.post("/token/refresh", {"refreshToken": sign_up["refreshToken"]})).json()
    kid = jwt.get_unverified_header(renewed["accessToken"])["kid"]
    assert kid in {key["kid"] for key in during} - {key["kid"] for key in before}
    assert (await auth.as_(renewed["accessToken"]).get("/me")).status_code == 200
    clock.move(timedelta(hours=2))
    after = (await jwks.get(f"/projects/{project.id}/.well-known/jwks.json")).json()["keys"]
    assert [key["kid"] for key in after] == [kid]


async def test_access_tokens_expire_after_five_minutes_and_idle_sessions_after_seven_days(auth, clock):
    sign_up = await auth.signed_up()
    clock.move(timedelta(minutes=5, seconds=1))
    assert (await auth.as_(sign_up["accessToken"]).get("/me")).status_code == 401
    for _ in range(4):
        clock.move(timedelta(days=6))
        sign_up = (await auth.post("/token/refresh", {"refreshToken": sign_up["refreshToken"]})).json()
    clock.move(timedelta(days=6, minutes=1))
    late = await auth.post("/token/refresh", {"refreshToken": sign_up["refreshToken"]})
    assert late.status_code == 401, "sessions end after 30 days, even if they are used"
    idle = await auth.signed_up()
    clock.move(timedelta(days=7, minutes=1))
    assert (await auth.post("/token/refresh", {"refreshToken": idle["refreshToken"]})).status_code == 401


async def test_refresh_token_theft_ends_the_session(auth, project, clock):
    sign_up = await auth.signed_up()
    stolen = sign_up["refreshToken"]
    newer = (await auth.post("/token/refresh", {"refreshToken": stolen})).json()
    repeated = (await auth.post("/token/refresh", {"refreshToken": stolen})).json()
    assert repeated["refreshToken"] == newer["refreshToken"], (
        "a client that lost the response gets the same tokens again"
    )
    clock.move(timedelta(seconds=31))
    assert (await auth.post("/token/refresh", {"refreshToken": stolen})).status_code == 401
    assert (await auth.post("/token/refresh", {"refreshToken": newer["refreshToken"]})).status_code == 401
    assert (await auth.as_(newer["accessToken"]).get("/me")).status_code == 401
    events = (await project.client.get(f"/customers/{sign_up['customer']['id']}/events")).json()["data"]
    assert events[0]["type"] == "customer.session_revoked"
    assert events[0]["metadata"]["reason"] == "REFRESH_TOKEN_REUSED"


async def test_refresh_tokens_are_bound_to_their_project_and_cannot_be_forged(auth, new_project):
    sign_up = await auth.signed_up()
    other_project = await new_project()
    other_client = Client(auth.app, None, f"/projects/{other_project.id}/auth")
    for token in (sign_up["refreshToken"], "cr_", "cr_AAAA.AAAA", "x" * 60, sign_up["refreshToken"][:-1] + "~"):
        assert (await other_client.post("/token/refresh", {"refreshToken": token})).status_code == 401
    assert (
        await other_client.request("GET", "/me", headers={"authorization": f"Bearer {sign_up['accessToken']}"})
    ).status_code == 404


async def test_concurrent_refreshes_of_one_token_return_the_same_tokens(auth):
    sign_up = await auth.signed_up()
    body = {"refreshToken": sign_up["refreshToken"]}
    responses = await asyncio.gather(*(auth.post("/token/refresh", body) for _ in range(6)))
    assert {response.status_code for response in responses} == {200}
    assert len({response.json()["refreshToken"] for response in responses}) == 1


async def test_user_enumeration_status_and_body_are_the_same(auth):
    await auth.settings(redirectUrls=["https://app.example.com/in"])
    known = new_address()
    await auth.signed_up(known)

    def assert_same(*responses):
        bodies = []
        for response in responses:
            body = response.json() if response.content else {}
            for name in ("requestId", "challengeId", "challengeExpiresAt", "expiresAt"):
                body[name] = name in body
            bodies.append((response.status_code, body))
        assert bodies[0] == bodies[1]

    for path, body in (
        ("/sign-up", {"password": GOOD}),
        ("/sign-in", {"password": "wrong password"}),
        ("/sign-in/code", {}),
        ("/sign-in/link", {}),
        ("/password/forgot", {}),
    ):
        assert_same(
            await auth.post(path, {"email": known, **body}),
            await auth.post(path, {"email": new_address(), **body}),
        )


@pytest.mark.usefixtures("computed_hashes")
async def test_user_enumeration_known_and_unknown_addresses_run_the_same_statements(auth, monkeypatch):
    """Response times are equal because the same statements run in the same order, and argon2 equally often.

    The test counts them and does not measure time, which depends on the load of the machine.
    """
    await auth.settings(redirectUrls=["https://app.example.com/in"])
    known = new_address()
    await auth.signed_up(known)
    statements: list[str] = []
    execute = psycopg.AsyncCursor.execute
    # Only statements of the requests count: delivery of the sign-up mails may still run in the background.
    in_request = ContextVar("in_request", default=False)

    async def recorded_execute(self, query, *args, **kwargs):
        if in_request.get() and "pg_notify" not in str(query):
            statements.append(" ".join(str(query).split()[:3]))
        return await execute(self, query, *args, **kwargs)

    def counted(function):
        def count(*args, **kwargs):
            statements.append("argon2")
            return function(*args, **kwargs)

        return count

    monkeypatch.setattr(psycopg.AsyncCursor, "execute", recorded_execute)
    for name in ("verify_secret", "hash_secret"):
        function = getattr(argon2.low_level, name)
        monkeypatch.setattr(f"argon2._password_hasher.{name}", counted(function))
    in_request.set(True)
    for path, body in (
        ("/sign-in", {"password": "wrong password"}),
        ("/sign-in/code", {}),
        ("/sign-in/link", {}),
        ("/password/forgot", {}),
        ("/sign-up", {"password": GOOD}),
    ):
        statements.clear()
        await auth.post(path, {"email": known, **body})
        for_known = list(statements)
        statements.clear()
        await auth.post(path, {"email": new_address(), **body})
        assert statements == for_known, path
        assert len(statements) > 2
        assert statements.count("argon2") == ("password" in body), path


async def test_signing_up_with_a_taken_address_mails_its_owner(auth):
    known = new_address()
    await auth.signed_up(known)
    again = await auth.post("/sign-up", {"email": known, "password": "another password here"})
    subjects = [mail["subject"] for mail in await auth.mails(known)]
    assert "already have an account" in subjects[-1]
    code = await auth.code(known)
    refused = await auth.post("/sign-up/verify", {"challengeId": again.json()["challengeId"], "code": code})
    assert refused.status_code == 401
    assert (await auth.sign_in(known, "another password here")).status_code == 401
    assert (await auth.sign_in(known)).status_code == 200


async def test_every_ten_failures_lock_for_longer(auth, project, clock):
    address = new_address()
    sign_up = await auth.signed_up(address)

    async def fail(times):
        for _ in range(times):
            await asyncio.sleep(0)
            response = await auth.sign_in(address, "wrong password")
            if response.status_code == 429 and response.json()["code"] == "too_many_requests":
                raise AssertionError("the rate limit was reached before the lockout")
        return response

    assert (await fail(9)).status_code == 401
    record = (await project.client.get(f"/customers/{sign_up['customer']['id']}")).json()
    assert record["failedSignInAttempts"] == 9
    assert (await fail(1)).status_code == 401
    locked = await auth.sign_in(address)
    assert (locked.status_code, locked.json()["code"], locked.headers["retry-after"]) == (429, "sign_in_locked", "900")
    (locked_customer,) = (await project.client.get("/customers?status=locked")).json()["data"]
    assert locked_customer["id"] == sign_up["customer"]["id"]
    assert locked_customer["signInLockedUntil"] is not None
    assert locked_customer["failedSignInAttempts"] == 10
    other_network = auth.at(ip="198.51.100.9")
    assert (await other_network.sign_in(address)).status_code == 200, "another IP address is not locked"
    clock.move(timedelta(minutes=16))
    assert (await fail(10)).status_code == 401
    assert (await auth.sign_in(address)).headers["retry-after"] == "1800"
    events = (await project.client.get(f"/customers/{sign_up['customer']['id']}/events")).json()["data"]
    assert sum(event["type"] == "customer.locked" for event in events) == 2


@pytest.mark.parametrize("action", ["reset", "unban", "unlock"])
async def test_a_lockout_ends_by_password_reset_or_by_the_project(auth, project, action):
    """Regression test of I5 (tests/defects.md)."""
    address = new_address()
    sign_up = await auth.signed_up(address)
    customer = f"/customers/{sign_up['customer']['id']}"
    for number in range(11):
        for _ in range(10 if number < 10 else 0):
            await auth.at(ip=f"198.51.100.{number}").sign_in(address, "wrong password")
    for ip in (auth.ip, "198.51.100.1"):
        assert (await auth.at(ip=ip).sign_in(address)).status_code == 429
    if action == "reset":
        await auth.post("/password/forgot", {"email": address})
        body = {"token": await auth.link_token(address), "password": GOOD}
        assert (await auth.post("/password/reset", body)).status_code == 204
    else:
        response = await project.client.post(f"{customer}/{action}")
        assert response.status_code == 200, response.text
    record = (await project.client.get(customer)).json()
    assert (record["failedSignInAttempts"], record["signInLockedUntil"]) == (0, None)
    for ip in (auth.ip, "198.51.100.1"):
        assert (await auth.at(ip=ip).sign_in(address)).status_code == 200
    types = [event["type"] for event in (await project.client.get(f"{customer}/events")).json()["data"]]
    assert types.count("customer.unlocked") == (action == "unlock")


async def test_a_second_factor_lockout_survives_a_reset_and_ends_by_unlock(auth, project, clock):
    """Regression test of I5 (tests/defects.md)."""
    address = new_address()
    sign_up, _, app, _ = await with_totp(auth, clock, address)
    wrong = "000000" if app.code() != "000000" else "111111"
    for _ in range(2):
        token = (await auth.sign_in(address)).json()["mfaToken"]
        for _ in range(5):
            await auth.post("/mfa/verify", {"mfaToken": token, "code": wrong})
    locked = (await project.client.get("/customers?status=locked")).json()["data"]
    assert [customer["id"] for customer in locked] == [sign_up["customer"]["id"]]
    await auth.post("/password/forgot", {"email": address})
    body = {"token": await auth.link_token(address), "password": GOOD}
    assert (await auth.post("/password/reset", body)).status_code == 204
    token = (await auth.sign_in(address)).json()["mfaToken"]
    assert (await auth.post("/mfa/verify", {"mfaToken": token, "code": app.code()})).status_code == 429
    await project.client.post(f"/customers/{sign_up['customer']['id']}/unlock")
    token = (await auth.sign_in(address)).json()["mfaToken"]
    assert (await auth.post("/mfa/verify", {"mfaToken": token, "code": app.code()})).status_code == 200


async def test_unknown_addresses_are_locked_like_known_ones(auth):
    address = new_address()
    for _ in range(10):
        assert (await auth.sign_in(address)).status_code == 401
    assert (await auth.sign_in(address)).status_code == 429


async def test_lockout_bypass_by_case_or_subaddress(auth):
    local, _, domain = new_address().partition("@")
    await auth.signed_up(f"{local}@{domain}")
    variants = [f"{local.upper()}@{domain}", f"{local}@{domain.upper()}", f"{local}+1@{domain}", f"{local}+x@{domain}"]
    for number in range(10):
        assert (await auth.sign_in(variants[number % 4], "wrong password")).status_code == 401
    for variant in (f"{local}@{domain}", *variants, f"{local}+another@{domain}"):
        assert (await auth.sign_in(variant)).status_code == 429


async def test_lockout_bypass_by_signing_in_to_an_own_subaddress(auth):
    local, _, domain = new_address().partition("@")
    await auth.signed_up(f"{local}@{domain}")
    await auth.unverified(f"{local}+mine@{domain}")
    statuses = []
    for _ in range(2):
        statuses += [(await auth.sign_in(f"{local}@{domain}", "wrong password")).status_code for _ in range(5)]
        statuses.append((await auth.sign_in(f"{local}+mine@{domain}")).status_code)
    assert statuses == [401] * 5 + [200] + [401] * 5 + [429]


async def test_signing_in_to_an_unverified_account_is_not_counted_as_a_failure(auth):
    address = new_address()
    await auth.unverified(address)
    for _ in range(12):
        assert (await auth.sign_in(address)).status_code == 200


async def test_old_failures_do_not_count_toward_a_lockout(auth, clock):
    address = new_address()
    await auth.unverified(address)
    for _ in range(2):
        for _ in range(9):
            assert (await auth.sign_in(address, "wrong password")).status_code == 401
        clock.move(timedelta(minutes=61))
    assert (await auth.sign_in(address)).status_code == 200


async def test_a_project_server_passes_the_visitor_address(auth, project):
    address = new_address()
    await auth.signed_up(address)

    async def sign_in(client, password, **visitor):
        body = {"email": address, "password": password}
        headers = {f"postern-visitor-{name}": value for name, value in visitor.items()}
        return await client.post(f"/projects/{project.id}/auth/sign-in", body, headers=headers)

    for _ in range(10):
        assert (await sign_in(project.client, "wrong password", address="2001:DB8::1")).status_code == 401
    assert (await sign_in(project.client, GOOD, address="2001:db8::1")).status_code == 429
    signed_in = await sign_in(project.client, GOOD, address="198.51.100.9", agent="A Browser/1.0")
    assert signed_in.status_code == 200
    session = (await auth.as_(signed_in.json()["accessToken"]).get("/sessions")).json()[0]
    assert (session["ipAddress"], session["userAgent"]) == ("198.51.100.9", "A Browser/1.0")
    invalid = await sign_in(project.client, GOOD, address="not an address")
    assert (invalid.status_code, invalid.json()["errors"][0]["path"]) == (400, "header/Postern-Visitor-Address")
    without_key = await sign_in(auth.client, GOOD, address="198.51.100.10")
    session = (await auth.as_(without_key.json()["accessToken"]).get("/sessions")).json()[0]
    assert session["ipAddress"] == auth.ip, "the headers count only with a secret key"


async def test_lockout_bypass_by_concurrent_guesses(auth):
    address = new_address()
    await auth.signed_up(address)
    responses = await asyncio.gather(*(auth.sign_in(address, f"guess number {number}") for number in range(24)))
    assert sum(response.status_code == 401 for response in responses) == 10
    assert sum(response.status_code == 429 for response in responses) == 14


async def test_concurrent_uses_of_one_code_succeed_once(auth):
    address = new_address()
    await auth.signed_up(address)
    challenge = (await auth.post("/sign-in/code", {"email": address})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
    responses = await asyncio.gather(*(auth.post("/sign-in/code/verify", body) for _ in range(5)))
    assert sorted(response.status_code for response in responses) == [200, 401, 401, 401, 401]
    again = await auth.post("/sign-in/code/verify", body)
    assert again.status_code == 401


async def test_a_code_allows_five_attempts_within_ten_minutes(auth, clock):
    address = new_address()
    await auth.signed_up(address)
    challenge = (await auth.post("/sign-in/code", {"email": address})).json()
    code = await auth.code(address)
    wrong = f"{(int(code) + 1) % 1_000_000:06d}"
    for _ in range(5):
        tried = await auth.post("/sign-in/code/verify", {"challengeId": challenge["challengeId"], "code": wrong})
        assert tried.status_code == 401
    right = {"challengeId": challenge["challengeId"], "code": code}
    assert (await auth.post("/sign-in/code/verify", right)).status_code == 401
    challenge = (await auth.post("/sign-in/code", {"email": address})).json()
    late = {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
    clock.move(timedelta(minutes=10, seconds=1))
    assert (await auth.post("/sign-in/code/verify", late)).status_code == 401


@pytest.mark.parametrize("operation", ["sign-in", "sign-up", "verify"])
async def test_a_code_requested_by_another_person_does_not_invalidate_earlier_codes(auth, operation):
    """Regression test of I3 (tests/defects.md)."""
    address = new_address()
    stranger = auth.at(ip="198.51.100.7")
    if operation == "sign-up":
        begin, finish, body = "/sign-up", "/sign-up/verify", {"email": address, "password": GOOD}
        owner = auth
    elif operation == "sign-in":
        await auth.signed_up(address)
        begin, finish, body = "/sign-in/code", "/sign-in/code/verify", {"email": address}
        owner = auth
    else:
        owner = stranger = auth.as_((await auth.unverified(address))["accessToken"])
        begin, finish, body = "/verify-email/send", "/verify-email", None
    challenge = (await owner.post(begin, body)).json()
    code = await auth.code(address)
    responses = await asyncio.gather(*(stranger.post(begin, body) for _ in range(3)))
    assert all(response.json()["challengeId"] != challenge["challengeId"] for response in responses)
    response = await owner.post(finish, {"challengeId": challenge["challengeId"], "code": code})
    assert response.status_code == 200, response.text


@pytest.mark.parametrize("kind", ["link", "reset"])
async def test_a_link_requested_by_another_person_does_not_invalidate_earlier_links(auth, kind):
    """Regression test of I3 (tests/defects.md)."""
    await auth.settings(redirectUrls=["https://app.example.com/in"])
    address = new_address()
    await auth.signed_up(address)
    path = "/sign-in/link" if kind == "link" else "/password/forgot"
    await auth.post(path, {"email": address})
    token = await auth.link_token(address)
    for _ in range(3):
        await auth.at(ip="198.51.100.7").post(path, {"email": address})
    if kind == "link":
        assert (await auth.post("/sign-in/link/verify", {"token": token})).status_code == 200
    else:
        response = await auth.post("/password/reset", {"token": token, "password": "another password here"})
        assert response.status_code == 204


async def test_a_flood_of_requests_blocks_the_attacker_but_not_the_owner(auth):
    """Regression test of I3 (tests/defects.md)."""
    await auth.settings(redirectUrls=["https://app.example.com/in"])
    address = new_address()
    await auth.signed_up(address)
    challenge = (await auth.post("/sign-in/code", {"email": address})).json()
    code = await auth.code(address)
    paths = ("/sign-in/code", "/sign-in/link", "/password/forgot")
    for number, path in enumerate(paths):
        stranger = auth.at(ip=f"2001:db8:0:{number}::1")
        for _ in range(10):
            assert (await stranger.post(path, {"email": address})).status_code < 300
        refused = await auth.at(ip=f"2001:db8:0:{number}:ffff::2").post(path, {"email": address})
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests"), "an IPv6 network is a /64"
    for number in range(40):
        guess = {"challengeId": challenge["challengeId"][:-4] + f"{number:04d}", "code": "123456"}
        await auth.post("/sign-in/code/verify", guess)
    right = {"challengeId": challenge["challengeId"], "code": code}
    assert (await auth.post("/sign-in/code/verify", right)).status_code == 200
    for path in paths:
        assert (await auth.post(path, {"email": address})).status_code < 300


async def test_mail_limits_do_not_apply_to_networks_the_customer_signed_in_from(auth):
    """Regression test of I3 (tests/defects.md)."""
    known, unknown = new_address(), new_address()
    await auth.signed_up(known)
    for address in (known, unknown):
        for network in range(3):
            for _ in range(10):
                response = await auth.at(ip=f"198.51.100.{network}").post("/sign-in/code", {"email": address})
                assert response.status_code == 200
        refused = await auth.at(ip="192.0.2.1").post("/sign-in/code", {"email": address})
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
    assert (await auth.post("/sign-in/code", {"email": known})).status_code == 200
    assert (await auth.post("/sign-in/code", {"email": unknown})).status_code == 429


async def test_wrong_codes_never_lock_an_account_but_are_limited_in_total(auth, clock):
    """Regression test of I3 (tests/defects.md)."""
    address = new_address()
    await auth.signed_up(address)
    challenge = (await auth.post("/sign-in/code", {"email": address})).json()
    code = await auth.code(address)
    wrong = f"{(int(code) + 1) % 1_000_000:06d}"
    wrong_codes = 0
    for number in range(40):
        stranger = auth.at(ip=f"198.51.100.{number}")
        requested = await stranger.post("/sign-in/code", {"email": address})
        if requested.status_code == 429:
            clock.move(timedelta(hours=1, seconds=1))
            continue
        for _ in range(5):
            body = {"challengeId": requested.json()["challengeId"], "code": wrong}
            response = await stranger.post("/sign-in/code/verify", body)
            assert (response.status_code, response.json()["code"]) == (401, "code_invalid")
        wrong_codes += 5
    assert wrong_codes == 100, "five tries of each of 20 codes; then unknown networks get no more codes"
    challenge = (await auth.post("/sign-in/code", {"email": address})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
    assert (await auth.post("/sign-in/code/verify", body)).status_code == 200
    assert (await auth.at(ip="192.0.2.1").sign_in(address)).status_code == 200


async def test_a_sign_in_code_for_a_new_address_creates_an_account(auth, project):
    address = new_address()
    challenge = (await auth.post("/sign-in/code", {"email": address})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
    signed_in = (await auth.post("/sign-in/code/verify", body)).json()
    assert signed_in["customer"]["identities"] == ["EMAIL_CODE"]
    await auth.settings(signUp=False)
    stranger = new_address()
    challenge = await auth.post("/sign-in/code", {"email": stranger})
    assert challenge.status_code == 200
    assert await auth.mails(stranger) == []
    assert (await project.client.get("/customers/stats")).json()["total"] == 1


async def test_a_link_signs_in_once(auth):
    address = new_address()
    await auth.signed_up(address)
    without_url = await auth.post("/sign-in/link", {"email": address})
    assert without_url.json()["errors"][0]["path"] == "/redirectUrl"
    await auth.settings(redirectUrls=["https://app.example.com/in"])
    assert (await auth.post("/sign-in/link", {"email": address})).status_code == 204
    token = await auth.link_token(address)
    assert (await auth.post("/sign-in/link/verify", {"token": token})).status_code == 200
    assert (await auth.post("/sign-in/link/verify", {"token": token})).status_code == 401
    assert (await auth.post("/sign-in/link/verify", {"token": "nonsense"})).status_code == 401


async def test_mailed_links_lead_only_to_listed_redirect_urls(auth):
    body = {"email": new_address(), "redirectUrl": "https://evil.example/steal"}
    refused = await auth.post("/sign-in/link", body)
    assert refused.json()["errors"][0]["path"] == "/redirectUrl"
    await auth.settings(redirectUrls=["https://app.example.com/in?x=1"])
    body["redirectUrl"] = "https://app.example.com/in?x=1"
    assert (await auth.post("/sign-in/link", body)).status_code == 204
    mail = (await auth.mails(body["email"]))[-1]
    assert "https://app.example.com/in?x=1&token=" in mail["text"]


async def test_a_reset_sets_the_password_and_ends_all_sessions(auth):
    address = f"{uuid4().hex}@bigcorp.example"
    sign_up = await auth.signed_up(address)
    await auth.post("/password/forgot", {"email": address})
    token = await auth.link_token(address)
    new = "an entirely different one"
    for refused in ("password1", "Bigcorp-2026", *["12345678"] * 5):
        common = await auth.post("/password/reset", {"token": token, "password": refused})
        assert (common.status_code, common.json()["code"]) == (400, "password_common")
    assert (await auth.post("/password/reset", {"token": token, "password": new})).status_code == 204
    assert (await auth.post("/password/reset", {"token": token, "password": new})).status_code == 401
    assert (await auth.as_(sign_up["accessToken"]).get("/me")).status_code == 401
    assert (await auth.sign_in(address)).status_code == 401
    assert (await auth.sign_in(address, new)).status_code == 200
    assert any("password was changed" in mail["subject"] for mail in await auth.mails(address))


async def test_changing_the_password_requires_the_current_one_and_ends_other_sessions(auth):
    address = new_address()
    sign_up = await auth.signed_up(address)
    other = (await auth.sign_in(address)).json()
    ada = auth.as_(sign_up["accessToken"])
    new = "an entirely different one"
    wrong = await ada.post("/password/change", {"currentPassword": "wrong password", "newPassword": new})
    assert wrong.status_code == 401
    right = await ada.post("/password/change", {"currentPassword": GOOD, "newPassword": new})
    assert right.status_code == 204
    assert (await ada.get("/me")).status_code == 200
    assert (await auth.as_(other["accessToken"]).get("/me")).status_code == 401
    assert (await auth.sign_in(address, new)).status_code == 200


async def test_session_fixation_a_sign_in_always_creates_a_new_session(auth):
    address = new_address()
    attacker = await auth.signed_up()
    await auth.signed_up(address)
    signed_in = await auth.as_(None).post(
        "/sign-in", {"email": address, "password": GOOD}, cookie=f"session={attacker['sessionId']}"
    )
    assert signed_in.json()["sessionId"] != attacker["sessionId"]
    assert signed_in.json()["refreshToken"] != attacker["refreshToken"]
    assert (await auth.as_(attacker["accessToken"]).get("/me")).json()["id"] == attacker["customer"]["id"]
    with_session_id = await auth.post(
        "/sign-in", {"email": address, "password": GOOD, "sessionId": attacker["sessionId"]}
    )
    assert with_session_id.status_code == 400


async def test_pre_hijacking_verifying_the_address_revokes_earlier_credentials(auth, project):
    victim = new_address()
    attacker_sign_up = await auth.unverified(victim)
    assert attacker_sign_up["customer"]["emailVerifiedAt"] is None
    challenge = (await auth.post("/sign-in/code", {"email": victim})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(victim)}
    signed_in = (await auth.post("/sign-in/code/verify", body)).json()
    assert signed_in["customer"]["id"] == attacker_sign_up["customer"]["id"]
    assert signed_in["customer"]["identities"] == ["EMAIL_CODE"]
    assert (await auth.as_(attacker_sign_up["accessToken"]).get("/me")).status_code == 401
    assert (await auth.post("/token/refresh", {"refreshToken": attacker_sign_up["refreshToken"]})).status_code == 401
    assert (await auth.sign_in(victim)).status_code == 401


async def test_pre_hijacking_a_mail_for_another_account_does_not_verify_it(auth):
    victim = new_address()
    sign_up = await auth.unverified(victim)
    challenge = (await auth.as_(sign_up["accessToken"]).post("/verify-email/send")).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(victim)}
    other = await auth.signed_up()
    refused = await auth.as_(other["accessToken"]).post("/verify-email", body)
    assert refused.status_code == 401
    verified = await auth.as_(sign_up["accessToken"]).post("/verify-email", body)
    assert verified.status_code == 200, "the customer who requested the code can use it"
    assert verified.json()["emailVerifiedAt"] is not None


async def test_an_address_changes_only_after_the_new_one_is_verified(auth, clock):
    old, new = new_address(), new_address()
    sign_up = await auth.signed_up(old)
    taken = new_address()
    await auth.signed_up(taken)
    ada = auth.as_(sign_up["accessToken"])
    challenge = (await ada.post("/email/change", {"email": new})).json()
    assert (await ada.get("/me")).json()["email"] == old
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(new)}
    assert (await ada.post("/verify-email", body)).json()["email"] == new
    assert any("another e-mail" in mail["text"] for mail in await auth.mails(old))
    challenge = (await ada.post("/email/change", {"email": taken})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(taken)}
    assert (await ada.post("/verify-email", body)).status_code == 409
    assert (await auth.sign_in(new)).status_code == 200


async def test_of_concurrent_changes_to_one_address_one_succeeds(auth):
    address, requests = new_address(), []
    for _ in range(3):
        person = auth.as_((await auth.signed_up())["accessToken"])
        challenge = (await person.post("/email/change", {"email": address})).json()
        requests.append((person, {"challengeId": challenge["challengeId"], "code": await auth.code(address)}))
    responses = await asyncio.gather(*(person.post("/verify-email", body) for person, body in requests))
    assert sorted(response.status_code for response in responses) == [200, 409, 409]
    assert {response.json()["code"] for response in responses if response.status_code == 409} == {"email_taken"}


async def test_toctou_on_ban_a_ban_during_the_password_check_wins(auth, project, monkeypatch):
    from postern.security import passwords

    address = new_address()
    sign_up = await auth.signed_up(address)
    check = passwords.check_password

    async def check_and_ban(password, password_hash):
        is_right = await check(password, password_hash)
        assert (await project.client.post(f"/customers/{sign_up['customer']['id']}/ban")).status_code == 200
        return is_right

    monkeypatch.setattr(passwords, "check_password", check_and_ban)
    response = await auth.sign_in(address)
    assert (response.status_code, response.json()["code"]) == (403, "sign_in_blocked")
    record = (await project.client.get(f"/customers/{sign_up['customer']['id']}")).json()
    assert record["sessions"] == []


async def test_toctou_on_ban_a_ban_during_a_refresh_wins(auth, project, world):
    """The refresh waits for a row that the ban has locked, and reads it again afterwards."""
    sign_up = await auth.signed_up()
    customer = sign_up["customer"]["id"]
    async with world.db.connection() as connection, connection.transaction():
        await connection.execute("update sessions set revoked_at = now() where customer_id = %s", [customer])
        refreshing = asyncio.create_task(auth.post("/token/refresh", {"refreshToken": sign_up["refreshToken"]}))
        await in_another_process(until_lock_waits(world.db.url))
    assert (await refreshing).status_code == 401
    assert (await auth.as_(sign_up["accessToken"]).get("/me")).status_code == 401


async def test_batched_session_checks_do_not_mix_up_sessions(auth, project):
    """Tokens are checked and refreshed in batches; each request gets its own response."""
    customers = [await auth.signed_up() for _ in range(6)]
    banned, revoked, *active = customers
    await project.client.post(f"/customers/{banned['customer']['id']}/ban")
    await project.client.post(f"/customers/{revoked['customer']['id']}/sessions/revoke-all")
    responses = await asyncio.gather(*(auth.as_(person["accessToken"]).get("/me") for person in customers * 3))
    assert [response.status_code for response in responses] == [401, 401, 200, 200, 200, 200] * 3
    assert [response.json()["id"] for response in responses if response.status_code == 200] == [
        person["customer"]["id"] for person in active
    ] * 3
    renewed = await asyncio.gather(
        *(auth.post("/token/refresh", {"refreshToken": person["refreshToken"]}) for person in customers)
    )
    assert [response.status_code for response in renewed] == [401, 401, 200, 200, 200, 200]
    for person, response in zip(active, renewed[2:], strict=True):
        assert response.json()["sessionId"] == person["sessionId"]
        me = await auth.as_(response.json()["accessToken"]).get("/me")
        assert me.json()["id"] == person["customer"]["id"]


async def test_a_ban_takes_effect_with_the_next_request(auth, project):
    address = new_address()
    sign_up = await auth.signed_up(address)
    ada = auth.as_(sign_up["accessToken"])
    assert (await ada.get("/me")).status_code == 200
    await project.client.post(f"/customers/{sign_up['customer']['id']}/ban")
    assert (await ada.get("/me")).status_code == 401
    assert (await auth.post("/token/refresh", {"refreshToken": sign_up["refreshToken"]})).status_code == 401
    assert (await auth.sign_in(address)).status_code == 403
    wrong = await auth.sign_in(address, "wrong password")
    assert wrong.status_code == 401, "without the password, the response does not reveal the ban"
    await project.client.post(f"/customers/{sign_up['customer']['id']}/unban")
    assert (await auth.sign_in(address)).status_code == 200


@pytest.mark.parametrize("family", ["customers", "end-users"])
async def test_a_session_revoked_by_a_developer_ends_at_once(auth, project, family):
    sign_up = await auth.signed_up()
    base = f"/apps/{project.id}/end-users" if family == "end-users" else "/customers"
    customer = f"{base}/{sign_up['customer']['id']}"
    assert [session["id"] for session in (await project.client.get(customer)).json()["sessions"]] == [
        sign_up["sessionId"]
    ]
    assert (await project.client.post(f"{customer}/sessions/{sign_up['sessionId']}/revoke")).status_code == 204
    assert (await auth.as_(sign_up["accessToken"]).get("/me")).status_code == 401
    assert (await project.client.post(f"{customer}/sessions/{sign_up['sessionId']}/revoke")).status_code == 404
    assert (await project.client.get(customer)).json()["sessions"] == []


async def test_customers_can_end_their_own_sessions(auth):
    address = new_address()
    sign_up = await auth.signed_up(address)
    others = [(await auth.sign_in(address)).json() for _ in range(3)]
    ada = auth.as_(sign_up["accessToken"])
    another = await auth.signed_up()
    assert (await ada.client.delete(f"/sessions/{another['sessionId']}")).status_code == 404
    assert (await ada.client.delete(f"/sessions/{others[0]['sessionId']}")).status_code == 204
    assert (await auth.as_(others[0]["accessToken"]).get("/me")).status_code == 401
    assert (await ada.post("/sessions/revoke-others")).status_code == 204
    assert len((await ada.get("/sessions")).json()) == 1


async def test_new_device_notices_are_sent_and_can_be_switched_off(auth):
    address = new_address()
    await auth.signed_up(address)
    await auth.sign_in(address)
    assert len(await auth.mails(address)) == 1
    await auth.at(agent="curl/8").sign_in(address)
    mail = (await auth.mails(address))[-1]
    assert mail["subject"].startswith("New sign-in")
    assert "Unknown device" in mail["text"], "a program"
    await auth.settings(securityMails=["PASSWORD_CHANGED"])
    await auth.at(agent="<b>{{ another }}</b>").sign_in(address)
    assert len(await auth.mails(address)) == 2


async def test_the_notice_has_the_name_of_the_device_but_no_text_of_the_browser(auth):
    address = new_address()
    await auth.signed_up(address)
    await auth.at(agent="Mozilla/5.0 (Windows NT 10.0) Firefox/140.0 <b>{{ 7 * 7 }}</b> https://evil.example").sign_in(
        address
    )
    mail = (await auth.mails(address))[-1]
    assert "Device: Firefox on Windows" in mail["text"]
    assert not any(part in mail["text"] + mail["html"] for part in ("7 * 7", "evil.example"))


async def test_short_and_common_passwords_are_rejected_ignoring_case(auth):
    for password in ("Password1", "QWERTYUIOP", "iloveyou123"):
        response = await auth.post("/sign-up", {"email": new_address(), "password": password})
        assert (response.status_code, response.json()["code"]) == (400, "password_common"), password
    await auth.settings(appName="Lighthouse Keepers")
    for password in ("lighthouse-keepers-1!", "Ada.Lovelace99", "bigcorp2026!"):
        response = await auth.post("/sign-up", {"email": "ada.lovelace@bigcorp.example", "password": password})
        assert (response.status_code, response.json()["code"]) == (400, "password_common"), password
    short = await auth.post("/sign-up", {"email": new_address(), "password": "short"})
    assert short.json()["errors"][0]["path"] == "/password"


async def test_passwords_are_accepted_unchanged_up_to_256_characters(auth):
    address, password = new_address(), "Ä" + "x" * 254 + " "
    await auth.signed_up(address, password)
    assert (await auth.sign_in(address, password)).status_code == 200
    for other in (password.strip(), password[:72], password.lower()):
        assert (await auth.at(ip="198.51.100.7").sign_in(address, other)).status_code == 401
    too_long = await auth.post("/sign-up", {"email": new_address(), "password": "x" * 257})
    assert too_long.status_code == 400


async def test_guesses_from_many_networks_are_stopped(auth):
    address = new_address()
    await auth.signed_up(address)
    for number in range(100):
        guessed = await auth.at(ip=f"198.51.100.{number}").sign_in(address, "wrong password")
        assert guessed.status_code == 401
    assert (await auth.at(ip="192.0.2.1").sign_in(address)).status_code == 429


async def test_methods_can_be_switched_off(auth):
    await auth.settings(methods=["EMAIL_CODE"], signUp=False)
    body = {"email": new_address(), "password": GOOD}
    assert (await auth.post("/sign-in", body)).json()["code"] == "method_off"
    assert (await auth.post("/sign-up", body)).json()["code"] == "sign_up_closed"
    assert (await auth.post("/sign-in/link", {"email": body["email"]})).json()["code"] == "method_off"
    assert (await auth.post("/sign-in/code", {"email": body["email"]})).status_code == 200


@pytest.mark.parametrize(
    "make_hash",
    [
        lambda secret: __import__("bcrypt").hashpw(secret, __import__("bcrypt").gensalt(4)).decode(),
        lambda secret: (
            "$scrypt$ln=10,r=8,p=1$c2FsdHNhbHQ$"
            + __import__("base64")
            .b64encode(__import__("hashlib").scrypt(secret, salt=b"saltsalt", n=1024, r=8, p=1, dklen=32))
            .decode()
            .rstrip("=")
        ),
        lambda secret: (
            "$pbkdf2-sha256$1000$c2FsdHNhbHQ$"
            + __import__("base64")
            .b64encode(__import__("hashlib").pbkdf2_hmac("sha256", secret, b"saltsalt", 1000))
            .decode()
        ),
        lambda secret: __import__("argon2").PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(secret),
    ],
    ids=["bcrypt", "scrypt", "pbkdf2", "argon2"],
)
@pytest.mark.usefixtures("computed_hashes")
async def test_imported_hashes_sign_in_and_are_replaced_by_argon2id(auth, project, world, make_hash):
    address = new_address()
    body = {"email": address, "emailVerified": True, "passwordHash": make_hash(GOOD.encode())}
    created = await project.client.post("/customers", body)
    assert created.status_code == 201, created.text
    assert (await auth.sign_in(address, "wrong password")).status_code == 401
    assert (await auth.sign_in(address)).status_code == 200
    async with world.db.connection() as connection:
        row = await (
            await connection.execute("select password_hash from customers where id = %s", [created.json()["id"]])
        ).fetchone()
    assert row[0].startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert (await auth.sign_in(address)).status_code == 200


@pytest.mark.usefixtures("computed_hashes")
async def test_failed_sign_ins_take_equally_long_whatever_hashes_were_imported(auth, project):
    """Slow and fast imported hashes do not make the response time reveal which addresses have accounts.

    Regression test of S10 (tests/defects.md).
    """
    with_own_hash, with_slow_hash, with_fast_hash = new_address(), new_address(), new_address()
    await auth.signed_up(with_own_hash)
    # bcrypt costs 12 and 4 take about 250 ms and 1 ms; a hash that this server made takes about 30 ms.
    for address, cost in ((with_slow_hash, 12), (with_fast_hash, 4)):
        password_hash = bcrypt.hashpw(GOOD.encode(), bcrypt.gensalt(cost)).decode()
        body = {"email": address, "emailVerified": True, "passwordHash": password_hash}
        assert (await project.client.post("/customers", body)).status_code == 201

    minimum = await refusal_seconds(["$2b$12", "$2b$04"])
    for address in (with_slow_hash, with_own_hash, with_fast_hash, new_address()):
        began = time.perf_counter()
        assert (await auth.sign_in(address, "wrong password")).status_code == 401
        # Only the minimum is asserted: a busy machine makes requests longer, never shorter.
        assert time.perf_counter() - began >= 0.99 * minimum


@pytest.mark.parametrize(
    ("scheme", "cheaper_scheme"),
    [
        ("$2b$13", "$2b$12"),
        ("$2y$13", "$2a$12"),
        ("$scrypt$ln=17,r=8,p=1", "$scrypt$ln=16,r=8,p=1"),
        ("$scrypt$ln=16,r=8,p=2", "$scrypt$ln=16,r=8,p=1"),
        ("$pbkdf2-sha256$1200000", "$pbkdf2-sha256$i=600000"),
        ("$argon2id$v=19$m=65536,t=4,p=1", "$argon2id$v=19$m=65536,t=2,p=1"),
    ],
)
async def test_the_duration_of_a_failed_sign_in_follows_from_the_hash_costs(scheme, cheaper_scheme, monkeypatch):
    """Regression test of S10 (tests/defects.md).

    A busy machine measures the units of the algorithms at different speeds, and then another hash than the imported one
    could be the slowest.
    """
    monkeypatch.setattr(imported_hashes, "_seconds_per_unit", lambda kind: 0.001 if kind == "argon2" else 1.0)
    assert await refusal_seconds([scheme]) == pytest.approx(2 * await refusal_seconds([cheaper_scheme]))
    assert await refusal_seconds([cheaper_scheme, scheme]) == await refusal_seconds([scheme])
    assert await refusal_seconds([]) == 0


async def test_hashes_with_excessive_cost_are_rejected(project):
    for password_hash in (
        "$2b$15$" + "a" * 53,
        "$scrypt$ln=22,r=8,p=1$c2FsdHNhbHQ$" + "a" * 43,
        "$pbkdf2-sha256$90000000$c2FsdHNhbHQ$" + "a" * 43,
        "$argon2id$v=19$m=4194304,t=2,p=1$c2FsdHNhbHQ$" + "a" * 43,
        "md5:5f4dcc3b5aa765d61d8327deb882cf99",
    ):
        response = await project.client.post("/customers", {"email": new_address(), "passwordHash": password_hash})
        assert (response.status_code, response.json()["code"]) == (400, "hash_refused"), password_hash


async def test_expired_rows_are_deleted(auth, world, run_due_work, clock):
    address = new_address()
    await auth.signed_up(address)
    await auth.post("/sign-in/code", {"email": address})
    await auth.sign_in(address, "wrong password")
    clock.move(timedelta(days=31))
    await run_due_work()
    async with world.db.connection() as connection:
        for table in ("challenges", "sign_in_attempts", "sessions", "customer_mails"):
            row = await (
                await connection.execute(f"select count(*) from {table} where project_id = %s", [auth.project.id])
            ).fetchone()
            assert row[0] == 0, table
