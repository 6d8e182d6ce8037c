"""Which passwords are refused: the most common ones, of those long enough to be chosen at all (ASVS 5.0 6.2.4).

The list is the union of the frequency lists of zxcvbn (MIT) and Django (BSD-3-Clause), in lower case.
"""

import gzip
from functools import cache
from importlib.resources import files

from postern.customers.model import PasswordCommon


@cache
def common_passwords() -> frozenset[str]:
    """Some 16,000 passwords that everybody tries first."""
    packed = files("postern.customers").joinpath("common_passwords.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode().splitlines())


def require_uncommon(password: str) -> None:
    """Raises PasswordCommon."""
    if password.casefold() in common_passwords():
        raise PasswordCommon
