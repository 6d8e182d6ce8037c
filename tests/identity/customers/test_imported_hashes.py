"""Password hashes of other systems: known answers of the systems that made them, limits, and how they are stored."""

import base64
import hashlib
import re

import argon2
import bcrypt
import pytest

from postern.identity.customers import imported_hashes
from postern.identity.customers.imported_hashes import check_hash, check_imported, import_hash, refusal_seconds
from postern.identity.customers.model import HashRefused
from postern.security.passwords import check_password
from tests.identity.customers.conftest import new_address

FIREBASE_KEY = "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
FIREBASE_HASH = "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="


def salted_of(algorithm: str, salt: bytes, position: str, password: str) -> str:
    data = salt + password.encode() if position == "prefix" else password.encode() + salt
    digest = hashlib.new(algorithm, data, usedforsecurity=False).digest()
    return f"$salted-{algorithm}${position}${base64.b64encode(salt).decode()}${base64.b64encode(digest).decode()}"


def ldap_of(scheme: str, algorithm: str, salt: bytes, password: str) -> str:
    digest = hashlib.new(algorithm, password.encode() + salt, usedforsecurity=False).digest()
    return f"{{{scheme}}}{base64.b64encode(digest + salt).decode()}"


KNOWN_ANSWERS = {
    # tests/auth_tests/test_hashers.py of Django
    "Django, PBKDF2": (
        "lètmein",
        "pbkdf2_sha256$320000$seasalt$Toj2II2rBvFiGQcPmUml1Nlni2UtvyRWwz/jz4q6q/4=",
    ),
    "Django, scrypt": (
        "lètmein",
        "scrypt$16384$seasalt$8$1$Qj3+9PPyRjSJIebHnG81TMjsqtaIGxNQG/aEB/NYafTJ7tibgfYz71m0ldQESkXFRkdVCBhhY8mx7rQwite/Pw==",
    ),
    "Django, SHA-1": ("lètmein", "sha1$seasalt$cff36ea83f5706ce9aa7454e63e431fc726b2dc8"),
    "Django, MD5": ("lètmein", "md5$seasalt$3f86d0d3d465b7b458c231bf3555c0e3"),
    # test_handlers_django.py of passlib
    "Django, PBKDF2 with SHA-1": ("not a password", "pbkdf2_sha1$10000$wz5B6WkasRoF$atJmJ1o+XfJxKq1+Nu1f1i57Z5I="),
    "Django, bcrypt": ("secret", "bcrypt$" + bcrypt.hashpw(b"secret", bcrypt.gensalt(4)).decode()),
    "Django, bcrypt of SHA-256": (
        "x" * 100,
        "bcrypt_sha256$" + bcrypt.hashpw(hashlib.sha256(b"x" * 100).hexdigest().encode(), bcrypt.gensalt(4)).decode(),
    ),
    # PasswordHasherTest.cs of ASP.NET Core Identity
    "ASP.NET Identity, version 2": (
        "my password",
        "AAABAgMEBQYHCAkKCwwNDg+ukCEMDf0yyQ29NYubggHIVY0sdEUfdyeM+E1LtH1uJg==",
    ),
    "ASP.NET Identity, version 3": (
        "my password",
        "AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==",
    ),
    "ASP.NET Identity, SHA-512": (
        "my password",
        "AQAAAAIAAAAyAAAAEOMwvh3+FZxqkdMBz2ekgGhwQ4B6pZWND6zgESBuWiHw",
    ),
    # README.md of github.com/firebase/scrypt
    "Firebase": (
        "user1password",
        f"$firebase-scrypt$ln=14,r=8,p=1$42xEC+ixf3L2lw==$Bw==${FIREBASE_KEY}${FIREBASE_HASH}",
    ),
    # akkadia.org/drepper/SHA-crypt.txt
    "SHA-256 crypt": ("Hello world!", "$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"),
    "SHA-256 crypt with rounds": (
        "Hello world!",
        "$5$rounds=10000$saltstringsaltst$3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA",
    ),
    "SHA-512 crypt": (
        "Hello world!",
        "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1",
    ),
    "SHA-512 crypt with rounds": (
        "Hello world!",
        "$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.",
    ),
    # test.php of phpass
    "phpass": ("test12345", "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"),
    "phpBB": ("test12345", "$H$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"),
    "salted MD5": ("secret", salted_of("md5", b"pepper", "prefix", "secret")),
    "salted SHA-1": ("secret", salted_of("sha1", b"pepper", "suffix", "secret")),
    "salted SHA-256": ("sécret", salted_of("sha256", b"pepper", "suffix", "sécret")),
    "salted SHA-512": ("secret", salted_of("sha512", b"pepper", "prefix", "secret")),
    "SHA-256 without a salt": ("secret", salted_of("sha256", b"", "prefix", "secret")),
    "{SSHA}": ("secret", ldap_of("SSHA", "sha1", b"pepper", "secret")),
    "{SSHA512}": ("secret", ldap_of("SSHA512", "sha512", b"pepper", "secret")),
    "{SMD5}": ("secret", ldap_of("SMD5", "md5", b"pepper", "secret")),
    "{SHA}": ("secret", ldap_of("SHA", "sha1", b"", "secret")),
    "{CRYPT}": ("Hello world!", "{CRYPT}$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"),
    "PBKDF2 with SHA-512": (
        "secret",
        "$pbkdf2-sha512$1000$c2FsdHNhbHQ$"
        + base64.b64encode(hashlib.pbkdf2_hmac("sha512", b"secret", b"saltsalt", 1000)).decode(),
    ),
}


@pytest.mark.parametrize("name", KNOWN_ANSWERS)
async def test_hashes_of_other_systems_verify(name):
    password, text = KNOWN_ANSWERS[name]
    stored = await import_hash(text)
    assert await check_imported(password, stored)
    assert not await check_imported(password + "x", stored)
    assert not await check_imported("", stored)


async def test_the_form_of_argon2_in_django_verifies():
    text = argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1, type=argon2.Type.I).hash("secret")
    stored = await import_hash(f"argon2{text}")
    assert stored == text
    assert await check_password("secret", stored)
    assert not await check_password("other", stored)


async def test_weak_digests_are_wrapped_before_they_are_stored():
    """Neither the digest nor its hexadecimal or base64 form is part of what the database stores."""
    digest = hashlib.md5(b"pepper" + b"secret", usedforsecurity=False).digest()
    text = f"$salted-md5$prefix$cGVwcGVy${base64.b64encode(digest).decode()}"
    first, second = await import_hash(text), await import_hash(text)
    assert first.startswith("$wrapped-md5$m=19456,t=2,p=1$prefix$cGVwcGVy$")
    assert first != second
    assert base64.b64encode(digest).decode().rstrip("=") not in first
    assert await check_imported("secret", first)
    assert await check_imported("secret", second)


@pytest.mark.parametrize(
    "text",
    [
        "$wrapped-md5$m=4194304,t=2,p=1$prefix$cGVwcGVy$cGVwcGVycGVwcGVy$cGVwcGVycGVwcGVycGVwcGVy",
        "$firebase-scrypt$ln=20,r=8,p=1$c2FsdA==$Bw==$" + FIREBASE_KEY + "$" + FIREBASE_HASH,
        "$firebase-scrypt$ln=14,r=8,p=1$c2FsdA==$Bw==$Bw==$" + FIREBASE_HASH,
        "$6$rounds=999999999$saltstring$" + "a" * 86,
        "$6$rounds=50001$saltstring$" + "a" * 86,
        "$P$FIQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0",
        # The libraries raise ValueError for these when a password is checked.
        "$2b$04$" + "z" * 53,
        "bcrypt_sha256$$2b$04$" + "z" * 53,
        "$scrypt$ln=16,r=1,p=1$c2FsdA==$" + "QUFB" * 8,
        "$firebase-scrypt$ln=17,r=1,p=1$c2FsdA==$Bw==$" + FIREBASE_KEY + "$" + FIREBASE_HASH,
        "$5$rounds=1$saltstring$" + "a" * 43,
        "$P$zIQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0",
        "$P$.IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0",
        "$salted-md5$prefix$c2FsdA==$" + base64.b64encode(b"x" * 20).decode(),
        "$salted-md5$middle$c2FsdA==$" + base64.b64encode(b"x" * 16).decode(),
        "$salted-sha256$prefix$" + "c2Fs" * 100 + "$" + base64.b64encode(b"x" * 32).decode(),
        "{SSHA}" + base64.b64encode(b"x" * 20).decode(),
        "{SSHA}not base64, but long enough",
        "pbkdf2_sha256$99999999$seasalt$Toj2II2rBvFiGQcPmUml1Nlni2UtvyRWwz/jz4q6q/4=",
        "scrypt$16383$seasalt$8$1$Qj3+9PPyRjSJIebHnG81TMjsqtaI",
        "bcrypt_sha256$$2b$31$" + "a" * 21 + "." + "a" * 31,
        base64.b64encode(b"\x01" + (0).to_bytes(4, "big") + b"\xff" * 8 + b"x" * 40).decode(),
        base64.b64encode(b"\x01" + (9).to_bytes(4, "big") + b"\0\0\0\x01\0\0\0\x10" + b"x" * 40).decode(),
        "$5$" + "ü" * 16 + "$" + "a" * 43 + "\n",
        "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0\n",
    ],
)
def test_hashes_that_cost_too_much_or_are_malformed_are_rejected(text):
    with pytest.raises(HashRefused):
        check_hash(text)


@pytest.mark.parametrize("position", range(0, 200, 7))
def test_cut_hashes_are_rejected_or_accepted_but_do_not_fail(position):
    for _, text in KNOWN_ANSWERS.values():
        try:
            check_hash(text[:position] + text[position + 1 :])
        except HashRefused:
            pass


@pytest.mark.parametrize(
    ("scheme", "cheaper_scheme"),
    [
        ("$6$rounds=10000", "$6$rounds=5000"),
        ("$5$rounds=10000", "$5$rounds=5000"),
        ("$phpass$ln=14", "$phpass$ln=13"),
        ("$firebase-scrypt$ln=15,r=8,p=1", "$firebase-scrypt$ln=14,r=8,p=1"),
        ("$bcrypt-sha256$13", "$bcrypt-sha256$12"),
        ("$wrapped-md5$m=65536,t=4,p=1", "$wrapped-md5$m=65536,t=2,p=1"),
    ],
)
async def test_the_duration_of_a_failed_sign_in_follows_from_the_costs(scheme, cheaper_scheme, monkeypatch):
    monkeypatch.setattr(imported_hashes, "_seconds_per_unit", lambda kind: 0.001 if kind == "argon2" else 1.0)
    if scheme.startswith("$wrapped"):
        monkeypatch.setattr(imported_hashes, "_seconds_per_unit", lambda kind: 1.0)
    assert await refusal_seconds([scheme]) == pytest.approx(2 * await refusal_seconds([cheaper_scheme]))


@pytest.mark.parametrize("name", KNOWN_ANSWERS)
async def test_the_scheme_of_every_stored_form_has_a_duration(name, monkeypatch):
    """The database takes the scheme from a stored hash by the pattern below (index `customers_imported_hashes`). Two
    customers with the same costs have the same scheme, whatever their salts."""
    monkeypatch.setattr(imported_hashes, "_seconds_per_unit", lambda kind: 1.0)
    stored = await import_hash(KNOWN_ANSWERS[name][1])
    scheme = re.match(r"^\$[^$]+\$(?:v=\d+\$)?[^$]+", stored)
    assert scheme is not None
    assert imported_hashes._check_seconds(scheme[0]) > 0, scheme[0]
    assert re.fullmatch(r"\$[a-z0-9-]+\$[a-z0-9=,]+", scheme[0]), scheme[0]


@pytest.mark.usefixtures("computed_hashes")
@pytest.mark.parametrize("name", KNOWN_ANSWERS)
async def test_an_old_password_signs_in_and_is_hashed_again(name, auth, project, world):
    password, text = KNOWN_ANSWERS[name]
    address = new_address()
    body = {"email": address, "emailVerified": True, "passwordHash": text}
    created = await project.client.post("/customers", body)
    assert created.status_code == 201, created.text
    assert (await auth.sign_in(address, "wrong password")).status_code == 401
    assert (await auth.sign_in(address, password)).status_code == 200
    async with world.db.connection() as connection:
        row = await (
            await connection.execute("select password_hash from customers where id = %s", [created.json()["id"]])
        ).fetchone()
    assert row[0].startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert (await auth.sign_in(address, password)).status_code == 200
