"""A client of ACME (RFC 8555): accounts, orders with the challenge http-01, revocation and renewal information.

The library `acme` makes and parses the messages and signs them. Requests are sent by a function that the caller gives:
the library's own client blocks a thread per request and reads responses without a limit.
"""

import base64
import json
import re
from typing import Any, Final, Literal, TypeVar

from acme import challenges, jws, messages
from cryptography import x509
from josepy.errors import DeserializationError
from josepy.json_util import JSONObjectWithFields, decode_b64jose
from josepy.jwa import ES256
from josepy.jwk import JWK

from postern.protocols.acme.model import (
    TOKEN,
    AcmeFailed,
    AcmeOrder,
    AcmeResponse,
    ExternalAccount,
    HttpChallenge,
    RenewalWindow,
    Send,
    printable,
)

NONCE_ATTEMPTS: Final = 10
"""How often a request is sent if the authority refuses its nonce (RFC 8555 §6.5)."""
NONCES_KEPT: Final = 10
CHAIN_OCTETS: Final = 32_768
"""The longest chain that is accepted; usual ones have 4,000 octets."""
JOSE_TYPE: Final = "application/jose+json"

Parsed = TypeVar("Parsed", bound=JSONObjectWithFields)


class AcmeClient:
    """The client of one account. All methods raise AcmeFailed."""

    def __init__(self, send: Send, directory_url: str, private_key: bytes, account_url: str | None = None) -> None:
        """`private_key` is the account's key in PEM; `account_url` is None until `register`."""
        self._send = send
        self._directory_url = directory_url
        self._directory: messages.Directory | None = None
        self._key = JWK.load(private_key)
        self._nonces: list[bytes] = []
        self.account_url = account_url

    async def register(self, email: str | None, external: ExternalAccount | None) -> str:
        """Register the key, agreeing to the terms of service; returns the account's URL.

        A key that is registered already gets the same account (RFC 8555 §7.3.1).
        """
        directory = await self._load_directory()
        binding = None
        if external is not None:
            binding = messages.ExternalAccountBinding.from_data(
                self._key.public_key(), external.key_id, external.hmac_key, directory
            )
        account = messages.NewRegistration.from_data(
            email=email, terms_of_service_agreed=True, external_account_binding=binding
        )
        response = await self._post(await self._url("newAccount"), account.json_dumps().encode(), with_key=True)
        self.account_url = _location(response)
        return self.account_url

    async def place_order(self, name: str) -> AcmeOrder:
        """Order a certificate for a name."""
        order = messages.NewOrder(identifiers=[messages.Identifier(typ=messages.IDENTIFIER_FQDN, value=name)])
        response = await self._post(await self._url("newOrder"), order.json_dumps().encode())
        return _read_order(_location(response), response)

    async def order(self, url: str) -> AcmeOrder:
        """The present state of an order."""
        return _read_order(url, await self._post(url, b""))

    async def http_challenge(self, order: AcmeOrder) -> HttpChallenge:
        """The challenge http-01 of an order."""
        authorization = _parsed(messages.Authorization, await self._post(order.authorization_url, b""))
        offered: Any = authorization.challenges or ()
        for challenge in offered:
            if isinstance(challenge.chall, challenges.HTTP01):
                return self._read_challenge(authorization, challenge)
        raise AcmeFailed("The certificate authority does not offer the challenge http-01 for this name.")

    def _read_challenge(
        self, authorization: messages.Authorization, challenge: messages.ChallengeBody
    ) -> HttpChallenge:
        token = challenge.chall.encode("token")
        if not TOKEN.fullmatch(token):
            raise AcmeFailed("The certificate authority sent a challenge with an invalid token.")
        status: Literal["pending", "valid", "failed"] = "failed"
        if authorization.status in (messages.STATUS_PENDING, messages.STATUS_PROCESSING):
            status = "pending"
        elif authorization.status == messages.STATUS_VALID:
            status = "valid"
        return HttpChallenge(
            status,
            challenge.uri,
            token,
            challenge.chall.key_authorization(self._key),
            challenge.status != messages.STATUS_PENDING,
            _text_of(challenge.error) if challenge.error is not None else None,
        )

    async def answer(self, challenge: HttpChallenge) -> None:
        """Ask the authority to validate a challenge whose key authorization is published already."""
        await self._post(challenge.url, b"{}")

    async def finalize(self, order: AcmeOrder, csr: x509.CertificateSigningRequest) -> None:
        """Request the certificate of an order that is `ready`."""
        request = messages.CertificateRequest(csr=csr)
        await self._post(order.finalize_url, request.json_dumps().encode())

    async def certificate(self, url: str) -> str:
        """The certificate and its chain in PEM."""
        response = await self._post(url, b"")
        if len(response.body) > CHAIN_OCTETS:
            raise AcmeFailed("The certificate authority sent a chain that is too long.")
        try:
            return response.body.decode("ascii")
        except UnicodeDecodeError:
            raise AcmeFailed("The certificate authority sent a certificate that is not PEM.") from None

    async def revoke(self, certificate: x509.Certificate) -> None:
        """Revoke a certificate of this account. A certificate that is revoked already causes no error."""
        request = messages.Revocation(certificate=certificate, reason=0)
        try:
            await self._post(await self._url("revokeCert"), request.json_dumps().encode())
        except AcmeFailed as error:
            if error.code != "alreadyRevoked":
                raise

    async def renewal_window(self, certificate: x509.Certificate) -> RenewalWindow | None:
        """When the authority suggests to renew a certificate; None if it makes no suggestions (ARI, RFC 9773)."""
        url = await self._find_url("renewalInfo")
        if url is None:
            return None
        response = await self._send("GET", f"{url}/{_certificate_id(certificate)}", b"", None)
        if response.status != 200:
            raise _failure_of(response)
        window = _parsed(messages.RenewalInfo, response).suggested_window
        return RenewalWindow(window.start, max(window.start, window.end))

    async def _load_directory(self) -> messages.Directory:
        if self._directory is None:
            response = await self._send("GET", self._directory_url, b"", None)
            if response.status != 200:
                raise _failure_of(response)
            try:
                self._directory = messages.Directory.from_json(_json(response))
            except (DeserializationError, AttributeError, TypeError):
                raise AcmeFailed(f"{self._directory_url} is not the directory of an ACME server.") from None
        return self._directory

    async def _url(self, resource: str) -> str:
        """The URL of a resource in the directory."""
        url = await self._find_url(resource)
        if url is None:
            raise AcmeFailed(f"The certificate authority does not offer {resource}.")
        return url

    async def _find_url(self, resource: str) -> str | None:
        url = (await self._load_directory()).to_partial_json().get(resource)
        return url if isinstance(url, str) else None

    async def _post(self, url: str, payload: bytes, *, with_key: bool = False) -> AcmeResponse:
        """Send a signed request; an empty payload makes it a POST-as-GET (RFC 8555 §6.3).

        The request names the account or, if `with_key` is set, has the account's public key (RFC 8555 §6.2).
        """
        account_url = None if with_key else self.account_url
        for _ in range(NONCE_ATTEMPTS):
            nonce = self._nonces.pop() if self._nonces else await self._new_nonce()
            signed = jws.JWS.sign(payload, self._key, ES256, nonce, url, account_url)
            response = await self._send("POST", url, signed.json_dumps().encode(), JOSE_TYPE)
            self._keep_nonce(response)
            if response.status < 300:
                return response
            failure = _failure_of(response)
            if failure.code != "badNonce":
                raise failure
        raise AcmeFailed("The certificate authority refused all nonces.", code="badNonce")

    async def _new_nonce(self) -> bytes:
        response = await self._send("GET", await self._url("newNonce"), b"", None)
        self._keep_nonce(response)
        if not self._nonces:
            raise AcmeFailed("The certificate authority sent no nonce.")
        return self._nonces.pop()

    def _keep_nonce(self, response: AcmeResponse) -> None:
        text = response.headers.get("replay-nonce", "")
        if text and len(self._nonces) < NONCES_KEPT:
            try:
                self._nonces.append(decode_b64jose(text))
            except DeserializationError:
                raise AcmeFailed("The certificate authority sent an invalid nonce.") from None


def _certificate_id(certificate: x509.Certificate) -> str:
    """The identifier of a certificate for renewal information (RFC 9773 §4.1)."""
    try:
        extension = certificate.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier)
    except x509.ExtensionNotFound:
        raise AcmeFailed("The certificate does not name the key of its issuer.") from None
    serial = certificate.serial_number
    octets = serial.to_bytes(serial.bit_length() // 8 + 1)  # DER: one more bit than the number, for its sign.
    return ".".join(
        base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (extension.value.key_identifier or b"", octets)
    )


def _read_order(url: str, response: AcmeResponse) -> AcmeOrder:
    order = _parsed(messages.Order, response)
    status = order.status.name if order.status is not None else ""
    urls = list(order.authorizations or ())
    if status not in ("pending", "ready", "processing", "valid", "invalid") or len(urls) != 1 or not order.finalize:
        raise AcmeFailed("The certificate authority sent an order that cannot be read.")
    problem = _text_of(order.error) if order.error is not None else None
    return AcmeOrder(url, status, urls[0], order.finalize, order.certificate, problem)


def _parsed(kind: type[Parsed], response: AcmeResponse) -> Parsed:
    try:
        return kind.from_json(_json(response))
    except (DeserializationError, AttributeError, TypeError, ValueError):
        raise AcmeFailed("The certificate authority sent an answer that cannot be read.") from None


def _json(response: AcmeResponse) -> dict[str, Any]:
    try:
        document = json.loads(response.body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise AcmeFailed("The certificate authority sent an answer that is not a JSON object.")
    return document


def _location(response: AcmeResponse) -> str:
    url = response.headers.get("location", "")
    if not url.startswith("https://"):
        raise AcmeFailed("The certificate authority sent no URL for what it created.")
    return url


def _failure_of(response: AcmeResponse) -> AcmeFailed:
    """The problem document (RFC 7807) of a response, or its status."""
    text, code = f"The certificate authority answered with the status {response.status}.", ""
    try:
        error = messages.Error.from_json(_json(response))
        text, code = _text_of(error) or text, error.code or ""
    except (AcmeFailed, DeserializationError, AttributeError, TypeError, ValueError):
        pass
    wait = response.headers.get("retry-after", "")
    return AcmeFailed(text, code=code, retry_after=int(wait) if re.fullmatch(r"\d{1,9}", wait) else None)


def _text_of(error: messages.Error) -> str:
    """The texts of an error and its subproblems, and the type of the error."""
    subproblems: Any = error.subproblems or ()
    parts = [error, *subproblems]
    texts = [str(part.detail) for part in parts if isinstance(part, messages.Error) and part.detail]
    return printable(" ".join([*texts, f"({error.code})" if error.code else ""]).strip())
