"""TOTP codes (RFC 6238) and recovery codes."""

from datetime import UTC, datetime, timedelta

import pytest

from postern.security.totp import (
    RECOVERY_CODES,
    code_at,
    looks_like_recovery_code,
    matching_step,
    new_recovery_codes,
    new_totp_secret,
    plain_recovery_code,
    step_of,
    totp_key,
    totp_uri,
)

SECRET = b"12345678901234567890"


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "94287082"),
        (1_111_111_109, "07081804"),
        (1_111_111_111, "14050471"),
        (1_234_567_890, "89005924"),
        (2_000_000_000, "69279037"),
        (20_000_000_000, "65353130"),
    ],
)
def test_the_test_vectors_of_rfc_6238(seconds, code):
    now = datetime.fromtimestamp(seconds, UTC)
    assert code_at(SECRET, step_of(now)) == code[-6:]
    assert matching_step(SECRET, f"{code[-6:-3]} {code[-3:]}", now) == step_of(now)


def test_one_step_of_clock_difference_is_accepted_and_a_code_works_once():
    now = datetime(2026, 1, 31, tzinfo=UTC)
    step, secret = step_of(now), new_totp_secret()
    code = code_at(secret, step)
    for difference in (-30, 0, 30):
        assert matching_step(secret, code, now + timedelta(seconds=difference)) == step
    for difference in (-60, 60):
        assert matching_step(secret, code, now + timedelta(seconds=difference)) is None
    assert matching_step(secret, code, now, used=step) is None
    assert matching_step(secret, code_at(secret, step + 1), now, used=step) == step + 1
    assert matching_step(secret, "", now) is None
    assert matching_step(secret, "１２３４５６", now) is None


def test_the_otpauth_uri_has_the_format_that_apps_read():
    assert totp_key(SECRET) == "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    uri = totp_uri(SECRET, issuer="Acme & Co", account="ada@example.com")
    assert uri == (
        "otpauth://totp/Acme%20%26%20Co%3Aada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
        "&issuer=Acme%20%26%20Co&algorithm=SHA1&digits=6&period=30"
    )


def test_recovery_codes_are_accepted_in_any_case_and_spacing():
    codes = new_recovery_codes()
    assert len(set(codes)) == RECOVERY_CODES
    for code in codes:
        assert looks_like_recovery_code(code)
        assert plain_recovery_code(f" {code.lower().replace('-', ' ')} ") == plain_recovery_code(code)
    assert not looks_like_recovery_code("123456")
