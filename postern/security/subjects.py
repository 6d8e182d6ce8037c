"""Subjects: the developers and customers to whom credentials, sessions and attempts belong."""

from typing import Literal
from uuid import UUID

from postern.kernel.values import NO_ID, Record


class Subject(Record):
    """A developer or customer who signs in. Rows of both are stored in the same tables."""

    project_id: UUID
    """The project of a customer; NO_ID for developers, who belong to the server."""
    id: UUID

    @property
    def kind(self) -> Literal["CUSTOMER", "DEVELOPER"]:
        return "DEVELOPER" if self.project_id == NO_ID else "CUSTOMER"

    @property
    def second_factor_identifier(self) -> bytes:
        """The key under which failed attempts at the second factor are counted. It differs from that of the password.

        With one key for both, anybody could lock the second factor by guessing passwords, and an attacker who knows the
        password could clear the count of wrong second factors by entering the password again.
        """
        return self.id.bytes


def developer(id: UUID) -> Subject:
    """The subject of a developer."""
    return Subject(project_id=NO_ID, id=id)
