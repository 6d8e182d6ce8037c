"""The certificate authority: the account of this instance there, and the client that sends requests to it."""

import asyncio
import ssl
from ipaddress import ip_network
from typing import TYPE_CHECKING, Final, Literal
from uuid import UUID

from cryptography import x509

from postern.kernel.outbound.client import Outbound, OutboundResponse, default_tls
from postern.kernel.outbound.ssrf import CachedLookup
from postern.kernel.values import new_id
from postern.messaging.certificates import store
from postern.messaging.certificates.model import AcmeAccount, StoredCertificate
from postern.protocols.acme.model import AcmeFailed, AcmeResponse, ExternalAccount, new_private_key

if TYPE_CHECKING:
    from postern.protocols.acme.client import AcmeClient
    from postern.world import World

RESPONSE_BYTES: Final = 262_144
"""Maximum bytes of a response of the authority; certificate chains have less than a tenth of it."""
ANY_NETWORK: Final = (ip_network("0.0.0.0/0"), ip_network("::/0"))
"""The networks to which connections are allowed: the authority that the operator chose may be in a private one."""


class CertificateAuthority:
    """The authority of POSTERN_ACME_DIRECTORY. A process has one object, with its connections and ACME clients."""

    def __init__(self, world: "World") -> None:
        """Open no connection. Raises OSError or ValueError if POSTERN_ACME_CA_FILE cannot be read."""
        self._world = world
        lookup = CachedLookup(world.resolver.addresses)
        self._outbound = Outbound(lookup, allowed=ANY_NETWORK, tls=authority_tls(world.settings.acme_ca_file))
        self._clients: dict[UUID, AcmeClient] = {}
        self._registering = asyncio.Lock()

    async def aclose(self) -> None:
        await self._outbound.close()

    async def account(self) -> AcmeAccount:
        """The account of this instance at the authority. The row is created if there is none; `client` registers the
        account at the authority."""
        world = self._world
        directory = world.settings.acme_directory
        account = await store.find_account(world.db, directory=directory)
        if account is not None:
            return account
        key = world.secrets.seal(new_private_key(), account_context(directory))
        return await store.ensure_account(
            world.db, id=new_id(), directory=directory, private_key=key, created_at=world.clock()
        )

    async def revoke(self, certificate: StoredCertificate) -> None:
        """Revoke a certificate; it is no longer served, and a new one is ordered. Raises AcmeFailed.

        `certificate` must have a chain. It may be from an authority that is no longer in the settings.
        """
        world = self._world
        assert certificate.chain is not None
        client = await self.client(await store.get_account(world.db, id=certificate.account_id))
        await client.revoke(x509.load_pem_x509_certificates(certificate.chain.encode())[0])
        async with world.db.transaction() as tx:
            await store.drop_chain(tx, account_id=certificate.account_id, id=certificate.id, now=world.clock())
            tx.mark_due("certificates")

    async def renew(self, name: str) -> bool:
        """Make a new order for the certificate of a name due now. Returns False if the present authority has issued no
        certificate for the name, and none is planned."""
        world = self._world
        account = await self.account()
        async with world.db.transaction() as tx:
            exists = await store.renew_now(tx, account_id=account.id, name=name, now=world.clock())
            tx.mark_due("certificates")
        return exists

    async def client(self, account: AcmeAccount) -> "AcmeClient":
        """The client of the account, which is registered if it is not yet. Raises AcmeFailed."""
        from postern.protocols.acme.client import AcmeClient

        world, settings = self._world, self._world.settings
        client = self._clients.get(account.id)
        if client is None:
            key = world.secrets.open(account.private_key, account_context(account.directory))
            client = self._clients[account.id] = AcmeClient(self._send, account.directory, key, account.url)
        async with self._registering:
            if client.account_url is None:
                external = None
                if settings.acme_eab_key_id and settings.acme_eab_hmac_key:
                    external = ExternalAccount(settings.acme_eab_key_id, settings.acme_eab_hmac_key)
                url = await client.register(settings.acme_email, external)
                await store.save_account_url(world.db, id=account.id, url=url)
        return client

    async def forget_registration(self, account: AcmeAccount) -> None:
        """Forget the URL of an account that the authority does not have any more, so that the next use registers it."""
        self._clients.pop(account.id, None)
        await store.save_account_url(self._world.db, id=account.id, url=None)

    async def _send(
        self, method: Literal["GET", "POST"], url: str, body: bytes, content_type: str | None
    ) -> AcmeResponse:
        headers = {"Content-Type": content_type} if content_type else {}
        outcome = await self._outbound.send(method, url, body=body, headers=headers, keep=RESPONSE_BYTES)
        if not isinstance(outcome, OutboundResponse):
            raise AcmeFailed(f"The certificate authority cannot be reached: {outcome.reason}", code=UNREACHABLE)
        if not outcome.complete:
            raise AcmeFailed("The response of the certificate authority is too long.")
        return AcmeResponse(outcome.status, outcome.headers, outcome.body)


UNREACHABLE: Final = "unreachable"
"""The code of an AcmeFailed if the authority did not respond."""


def authority_of(world: "World") -> CertificateAuthority:
    """The authority of this process."""
    return world.resources[CertificateAuthority]


def authority_tls(file: object) -> ssl.SSLContext:
    """The TLS context for connections to the authority. It trusts the usual root certificates and those in `file`, a
    path or None. Raises OSError or ValueError if the file cannot be read."""
    context = default_tls()
    if file is not None:
        context.load_verify_locations(str(file))
    return context


def account_context(directory: str) -> str:
    """The associated data of the encryption of an account's key."""
    return f"acme_account:{directory}"


def key_context(certificate_id: UUID) -> str:
    """The associated data of the encryption of a certificate's key."""
    return f"certificate:{certificate_id}"
