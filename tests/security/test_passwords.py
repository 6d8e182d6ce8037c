"""Checks of passwords where there is no account."""

import argon2
import pytest

from postern.security import passwords

pytestmark = pytest.mark.usefixtures("computed_hashes")


async def test_without_an_account_a_hash_of_the_same_parameters_is_computed(monkeypatch):
    checked = []
    verify = argon2._password_hasher.verify_secret

    def recorded_verify(hash, *arguments):
        checked.append(hash.decode())
        return verify(hash, *arguments)

    monkeypatch.setattr("argon2._password_hasher.verify_secret", recorded_verify)
    stored = await passwords.hash_password("a long password")
    assert await passwords.check_password("a long password", stored)
    assert not await passwords.check_password("a long password", None)
    assert argon2.extract_parameters(checked[1]) == argon2.extract_parameters(checked[0])
    # A mismatch, and not a hash that argon2 cannot read.
    with pytest.raises(argon2.exceptions.VerifyMismatchError):
        passwords._hasher.verify(checked[1], "a long password")
