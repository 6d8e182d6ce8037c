"""Password hashes of other systems that no library of this project computes: SHA-crypt, phpass, Firebase's scrypt, and
digests of a password and a salt.

Pure functions without limits: `imported_hashes` limits the costs and runs them in threads.
"""

import hashlib

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CTR

ITOA64 = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""The alphabet of crypt(3) and phpass: each character stands for six bits."""
DIGESTS = {"md5": 16, "sha1": 20, "sha256": 32, "sha512": 64}
"""The algorithms of `salted_digest`, and the sizes of their digests in bytes."""
SHA_CRYPT_ROUNDS_MIN = 1_000
"""The fewest rounds of SHA-crypt; its specification replaces smaller numbers by this one."""

_SHA256_ORDER = (
    *(0, 10, 20, 21, 1, 11, 12, 22, 2, 3, 13, 23, 24, 4, 14, 15),
    *(25, 5, 6, 16, 26, 27, 7, 17, 18, 28, 8, 9, 19, 29, 31, 30),
)
_SHA512_ORDER = (
    *(0, 21, 42, 22, 43, 1, 44, 2, 23, 3, 24, 45, 25, 46, 4, 47, 5, 26, 6, 27, 48, 28, 49, 7, 50, 8, 29, 9, 30, 51),
    *(31, 52, 10, 53, 11, 32, 12, 33, 54, 34, 55, 13, 56, 14, 35, 15, 36, 57, 37, 58, 16, 59, 17, 38, 18, 39, 60, 40),
    *(61, 19, 62, 20, 41, 63),
)
"""The order in which SHA-crypt writes the bytes of the digest, three at a time (step 22 of its specification)."""


def sha_crypt(secret: bytes, salt: bytes, rounds: int, algorithm: str) -> str:
    """The hash of a password by SHA-crypt, without scheme and salt (U. Drepper, "Unix crypt using SHA-256 and
    SHA-512", <https://www.akkadia.org/drepper/SHA-crypt.txt>).

    `algorithm` is `sha256` ($5$) or `sha512` ($6$), `salt` has at most 16 bytes. The steps are those of the
    specification.
    """
    new, size = (hashlib.sha256, 32) if algorithm == "sha256" else (hashlib.sha512, 64)
    alternate = new(secret + salt + secret).digest()
    initial = new(secret + salt + _repeated(alternate, len(secret)))
    length = len(secret)
    while length:
        initial.update(alternate if length & 1 else secret)
        length >>= 1
    digest = initial.digest()
    p = _repeated(new(secret * len(secret)).digest(), len(secret))
    s = _repeated(new(salt * (16 + digest[0])).digest(), len(salt))
    # Whether a round hashes salt and password depends on its number modulo 42 only, so what surrounds the digest of the
    # previous round is computed once.
    middles = [(s if number % 3 else b"") + (p if number % 7 else b"") for number in range(42)]
    parts = [(p + middles[number], b"") if number & 1 else (b"", middles[number] + p) for number in range(42)]
    for number in range(rounds):
        before, after = parts[number % 42]
        digest = new(before + digest + after).digest()
    order = _SHA256_ORDER if size == 32 else _SHA512_ORDER
    return _encode_groups(digest, order)


def _repeated(data: bytes, length: int) -> bytes:
    return (data * (length // len(data) + 1))[:length] if length else b""


def _encode_groups(digest: bytes, order: tuple[int, ...]) -> str:
    text = ""
    for start in range(0, len(order), 3):
        group = [digest[index] for index in order[start : start + 3]]
        if len(group) == 3:
            value, characters = group[0] << 16 | group[1] << 8 | group[2], 4
        elif len(group) == 2:
            value, characters = group[0] << 8 | group[1], 3
        else:
            value, characters = group[0], 2
        for _ in range(characters):
            text += ITOA64[value & 0x3F]
            value >>= 6
    return text


def phpass(secret: bytes, salt: bytes, log_rounds: int) -> str:
    """The hash of a password by phpass ("portable hashes", $P$ and $H$), without scheme, rounds and salt.

    Source: <https://www.openwall.com/phpass/>.
    """
    digest = hashlib.md5(salt + secret, usedforsecurity=False).digest()
    for _ in range(1 << log_rounds):
        digest = hashlib.md5(digest + secret, usedforsecurity=False).digest()
    text = ""
    for start in range(0, len(digest), 3):
        group = digest[start : start + 3]
        value = int.from_bytes(group, "little")
        for _ in range(len(group) + 1):
            text += ITOA64[value & 0x3F]
            value >>= 6
    return text


def firebase_scrypt(
    secret: bytes, salt: bytes, separator: bytes, signer_key: bytes, *, log_n: int, r: int, p: int
) -> bytes:
    """The hash of a password in Firebase's modified scrypt (<https://github.com/firebase/scrypt>): the signer key of
    the project, encrypted by AES-256-CTR with a key that scrypt derives from the password.

    `log_n` is Firebase's `memCost`, `r` its `rounds`.
    """
    n = 1 << log_n
    key = hashlib.scrypt(secret, salt=salt + separator, n=n, r=r, p=p, dklen=32, maxmem=129 * r * (n + p + 2))
    encryptor = Cipher(AES256(key), CTR(bytes(16))).encryptor()
    return encryptor.update(signer_key) + encryptor.finalize()


def salted_digest(secret: bytes, salt: bytes, position: str, algorithm: str) -> bytes:
    """The digest of a salt and a password (`position` is `prefix`) or of a password and a salt (`suffix`)."""
    data = salt + secret if position == "prefix" else secret + salt
    return hashlib.new(algorithm, data, usedforsecurity=False).digest()
