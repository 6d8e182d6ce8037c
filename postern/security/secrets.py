"""Secrets: keyed hashes of tokens, signatures of links, and encryption at rest under one master key."""

import base64
import hashlib
import hmac
import os
import secrets
import string
import tempfile
import zlib
from contextlib import suppress
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from postern.kernel.database.connections import connect

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
BASE62_PAIRS = tuple(first + second for first in BASE62 for second in BASE62)
MASTER_KEY_BYTES = 32
SEAL_VERSION = b"\x01"
KEY_FILE = "master.key"
KEY_PREFIX = "base64:"
"""What a text begins with if the rest is the content of a `master.key`."""


class SealBroken(Exception):
    """Encrypted data cannot be decrypted: the master key or the context differs, or the data was altered."""


class WrongMasterKey(Exception):
    """This database belongs to an instance with another master key, or the key cannot be read."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(
            message
            or "This database was created with another master key. Set POSTERN_SECRET to that key (for the content of "
            "a master.key, write base64: before it), or restore master.key in the data folder: without it, DKIM keys "
            "and tokens in the database cannot be decrypted."
        )


class Secrets:
    """Keyed hashes, signatures and encryption with keys derived from the master key, one per purpose."""

    def __init__(self, master: bytes) -> None:
        if len(master) < MASTER_KEY_BYTES:
            raise ValueError(f"The master key must have at least {MASTER_KEY_BYTES} bytes.")
        self._master = master
        self._keys: dict[str, bytes] = {}

    def key(self, purpose: str) -> bytes:
        """The 32-byte key for one purpose (HKDF-SHA-256, RFC 5869)."""
        derived = self._keys.get(purpose)
        if derived is None:
            derived = HKDF(SHA256(), 32, salt=None, info=b"postern:" + purpose.encode()).derive(self._master)
            self._keys[purpose] = derived
        return derived

    def digest(self, purpose: str, text: str) -> bytes:
        """A keyed hash (HMAC-SHA-256) of a token or code, to store it or look it up in the database."""
        return hmac.digest(self.key(purpose), text.encode(), "sha256")

    def key_check(self) -> bytes:
        """A hash of the master key that the database stores, to detect another master key."""
        return self.digest("instance", "key-check")

    def sign(self, purpose: str, data: bytes) -> str:
        """A signature (truncated HMAC-SHA-256, 160 bits) as 27 URL-safe characters."""
        return _base64url(hmac.digest(self.key(purpose), data, "sha256")[:20])

    def verify(self, purpose: str, data: bytes, signature: str) -> bool:
        """Whether `sign` returned `signature` for the same purpose and data; compared in constant time."""
        return hmac.compare_digest(self.sign(purpose, data).encode(), signature.encode())

    def seal(self, plain: bytes, context: str) -> bytes:
        """Encrypt with AES-256-GCM and a new data key, which is encrypted with a key derived from the master key.

        `context` is authenticated: `open` needs the same one.
        """
        data_key, nonce, wrap_nonce = AESGCM.generate_key(256), os.urandom(12), os.urandom(12)
        wrapped_key = AESGCM(self.key("seal")).encrypt(wrap_nonce, data_key, context.encode())
        return (
            SEAL_VERSION + wrap_nonce + wrapped_key + nonce + AESGCM(data_key).encrypt(nonce, plain, context.encode())
        )

    def open(self, sealed: bytes, context: str) -> bytes:
        """Decrypt a result of `seal`. Raises SealBroken if the master key or `context` differs, the data was
        altered, or a newer version of Postern has sealed it."""
        wrap_nonce, wrapped_key, nonce, ciphertext = sealed[1:13], sealed[13:61], sealed[61:73], sealed[73:]
        try:
            if sealed[:1] != SEAL_VERSION:
                raise SealBroken("The data was encrypted by a newer version of Postern.")
            data_key = AESGCM(self.key("seal")).decrypt(wrap_nonce, wrapped_key, context.encode())
            return AESGCM(data_key).decrypt(nonce, ciphertext, context.encode())
        except InvalidTag:
            raise SealBroken(f"{context} cannot be decrypted with this master key.") from None


def load_master_key(text: str | None, folder: Path) -> bytes:
    """Return the master key: from `text` (POSTERN_SECRET), or from `master.key` in `folder`.

    A text of 32 characters or more is hashed; `base64:` and the content of a `master.key` is the key of that file.
    Creates the file if it does not exist. Raises WrongMasterKey if the text is too short or there is no valid key.
    """
    if text and text.startswith(KEY_PREFIX):
        return _decode_key(text.removeprefix(KEY_PREFIX), "POSTERN_SECRET")
    if text:
        if len(text) < MASTER_KEY_BYTES:
            raise WrongMasterKey(f"POSTERN_SECRET is too short: it must have {MASTER_KEY_BYTES} characters or more.")
        return hashlib.sha256(text.encode()).digest()
    file = folder / KEY_FILE
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        # Write to a temporary file and link it: API and worker start together, and must not read a partial key.
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix="master.")
        with os.fdopen(descriptor, "w") as target:
            target.write(base64.b64encode(os.urandom(MASTER_KEY_BYTES)).decode())
            target.flush()
            os.fsync(target.fileno())
        with suppress(FileExistsError):
            os.link(temporary, file)
        Path(temporary).unlink()
    try:
        content = file.read_text()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not base64"
        raise WrongMasterKey(f"The master key in {file} cannot be read: {reason}.") from None
    return _decode_key(content, str(file))


def _decode_key(content: str, place: str) -> bytes:
    """The key in the content of a `master.key`. Raises WrongMasterKey, which names the `place`."""
    try:
        key = base64.b64decode(content, validate=False)
    except ValueError:
        raise WrongMasterKey(
            f"{place} does not hold a master key: it is not base64, of which 44 characters encode the "
            f"{MASTER_KEY_BYTES} bytes of a key."
        ) from None
    if len(key) < MASTER_KEY_BYTES:
        raise WrongMasterKey(
            f"{place} does not hold a master key: it has {len(key)} bytes instead of {MASTER_KEY_BYTES}."
        )
    return key


def check_master_key_of(url: str, secrets: Secrets) -> None:
    """Raise WrongMasterKey if the migrated database at `url` was created with another master key than that of
    `secrets`."""
    with connect(url) as connection:
        row = connection.execute("select key_check from instance").fetchone()
    if row is not None and not hmac.compare_digest(row[0], secrets.key_check()):
        raise WrongMasterKey


def new_token(length: int = 40) -> str:
    """Return `length` random base62 characters; 40 have 238 bits of entropy."""
    return "".join(secrets.choice(BASE62) for _ in range(length))


def new_key(prefix: str) -> str:
    """Return a new API key or access token, not a cryptographic key: the prefix, 40 random base62
    characters, and a checksum of 6 characters (CRC32)."""
    body = prefix + new_token(40)
    return body + _checksum(body)


def derive_key(prefix: str, seed: bytes) -> str:
    """Like `new_key`, but made from a secret seed of 32 bytes: the same seed gives the same API key or token."""
    number, text = int.from_bytes(seed), ""
    for _ in range(40):
        number, digit = divmod(number, 62)
        text += BASE62[digit]
    return prefix + text + _checksum(prefix + text)


def looks_like_key(key: str) -> bool:
    """Whether the checksum of an API key or token is correct (see `new_key`). This rejects typing errors and
    most guesses without a database query."""
    return len(key) > 46 and key[-6:] == _checksum(key[:-6])


def _checksum(body: str) -> str:
    high, low = divmod(zlib.crc32(body.encode("utf-8", "replace")), len(BASE62_PAIRS))
    high, middle = divmod(high, len(BASE62_PAIRS))
    return BASE62_PAIRS[high] + BASE62_PAIRS[middle] + BASE62_PAIRS[low]


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
