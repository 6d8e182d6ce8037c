"""Which passwords are refused: the most common ones, of those long enough to be chosen at all (ASVS 5.0 6.2.4).

The list is the union of the frequency lists of zxcvbn (MIT) and Django (BSD-3-Clause), in lower case.
"""

import gzip
from functools import cache
from importlib.resources import files

from postern.customers.model import PasswordCommon

SHORTEST_WORD = 4


@cache
def common_passwords() -> frozenset[str]:
    """Some 16,000 passwords that everybody tries first."""
    packed = files("postern.customers").joinpath("common_passwords.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode().splitlines())


def require_uncommon(password: str, *words: str | None) -> None:
    """Raises PasswordCommon; also for what is just one of `words` (an address, the app's name) with digits around."""
    if password.casefold() in common_passwords():
        raise PasswordCommon
    bare = _letters(password)
    if len(bare) >= SHORTEST_WORD and bare in {_letters(part) for word in words if word for part in _parts(word)}:
        raise PasswordCommon("This password is the address or the name of this app; choose another.")


def _parts(word: str) -> list[str]:
    """What people make passwords of: an address, the part before its `@`, the domain, a name."""
    local, _, domain = word.partition("@")
    return [word, local, domain, domain.partition(".")[0]]


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalpha())
