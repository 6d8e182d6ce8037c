"""The list of checks that a SAML message passed or failed, shown to administrators."""

from enum import StrEnum

from postern.kernel.http.problems import BadRequest
from postern.kernel.values import Record

MAX_DETAIL_CHARS = 400


class SamlRejectionReason(StrEnum):
    """Why a message was rejected. Shown to administrators as part of the API; later versions may add values."""

    TOO_LARGE = "TOO_LARGE"
    NOT_BASE64 = "NOT_BASE64"
    NOT_DEFLATED = "NOT_DEFLATED"
    NOT_UTF8 = "NOT_UTF8"
    DOCTYPE = "DOCTYPE"
    FORBIDDEN_MARKUP = "FORBIDDEN_MARKUP"
    """A comment, a CDATA section or a processing instruction."""
    MALFORMED = "MALFORMED"
    TOO_COMPLEX = "TOO_COMPLEX"
    DUPLICATE_ID = "DUPLICATE_ID"
    WRONG_MESSAGE = "WRONG_MESSAGE"
    """The root element is not the expected one: Response, Assertion, LogoutRequest or LogoutResponse."""
    WRONG_VERSION = "WRONG_VERSION"
    STATUS_NOT_SUCCESS = "STATUS_NOT_SUCCESS"
    NO_ASSERTION = "NO_ASSERTION"
    SEVERAL_ASSERTIONS = "SEVERAL_ASSERTIONS"
    MISPLACED_SIGNATURE = "MISPLACED_SIGNATURE"
    UNSIGNED = "UNSIGNED"
    SIGNATURE_FORM = "SIGNATURE_FORM"
    """The signature has a structure or an algorithm that is not accepted, such as another transform or reference."""
    WEAK_ALGORITHM = "WEAK_ALGORITHM"
    """The signature or its digest uses SHA-1 or MD5."""
    UNKNOWN_CERTIFICATE = "UNKNOWN_CERTIFICATE"
    CERTIFICATE_EXPIRED = "CERTIFICATE_EXPIRED"
    SIGNATURE_INVALID = "SIGNATURE_INVALID"
    CONTENT_CHANGED = "CONTENT_CHANGED"
    """The signature value is valid, but the digest does not match the content."""
    ENCRYPTION_REFUSED = "ENCRYPTION_REFUSED"
    """The encryption has an algorithm, a parameter or a structure that is not accepted."""
    NOT_ENCRYPTED = "NOT_ENCRYPTED"
    """The connection requires encryption."""
    DECRYPTION_FAILED = "DECRYPTION_FAILED"
    WRONG_ISSUER = "WRONG_ISSUER"
    WRONG_DESTINATION = "WRONG_DESTINATION"
    WRONG_IN_RESPONSE_TO = "WRONG_IN_RESPONSE_TO"
    UNSOLICITED = "UNSOLICITED"
    NO_SUBJECT = "NO_SUBJECT"
    NOT_CONFIRMED = "NOT_CONFIRMED"
    WRONG_RECIPIENT = "WRONG_RECIPIENT"
    EXPIRED = "EXPIRED"
    NOT_YET_VALID = "NOT_YET_VALID"
    UNKNOWN_CONDITION = "UNKNOWN_CONDITION"
    WRONG_AUDIENCE = "WRONG_AUDIENCE"
    NO_AUTHN_STATEMENT = "NO_AUTHN_STATEMENT"
    UNSUPPORTED = "UNSUPPORTED"
    """The assertion uses a feature of SAML that Postern does not support, such as EncryptedID."""


class SsoTraceStep(Record, kw_only=True):
    """One check: its name, whether it passed, and as `detail` what was found, or why the check failed."""

    step: str
    ok: bool
    detail: str = ""


class SamlRejected(BadRequest):
    """The identity provider's message was rejected; `reason` and the trace explain why."""

    def __init__(self, reason: SamlRejectionReason, detail: str, trace: list[SsoTraceStep]) -> None:
        super().__init__(detail)
        self.reason = reason
        self.trace = trace


class SamlTrace:
    """Records the checks of one message, in order, and remembers the first that failed."""

    def __init__(self) -> None:
        self.steps: list[SsoTraceStep] = []
        self._first_failure: tuple[SamlRejectionReason, str] | None = None

    def passed(self, step: str, detail: str = "") -> None:
        """Record a check that passed."""
        self.steps.append(SsoTraceStep(step=step, ok=True, detail=detail[:MAX_DETAIL_CHARS]))

    def rejection(self, step: str, reason: SamlRejectionReason, detail: str) -> SamlRejected:
        """Record a failed check that ends processing, and return the exception to raise.

        The exception has the reason and detail of the first check that failed, which may be an earlier one.
        """
        self.check(step, ok=False, reason=reason, detail=detail)
        first_reason, first_detail = self._first_failure or (reason, detail)
        return SamlRejected(first_reason, first_detail, self.steps)

    def check(self, step: str, *, ok: bool, reason: SamlRejectionReason, detail: str) -> bool:
        """Record a check and return `ok`. Does not raise, so that a test sign-in shows every wrong setting at once.

        `reason` is kept only if this is the first check that failed.
        """
        detail = detail[:MAX_DETAIL_CHARS]
        self.steps.append(SsoTraceStep(step=step, ok=ok, detail=detail))
        if not ok and self._first_failure is None:
            self._first_failure = (reason, detail)
        return ok

    def raise_if_failed(self) -> None:
        """Raise SamlRejected if any check failed; the first failure gives the reason."""
        if self._first_failure is not None:
            reason, detail = self._first_failure
            raise SamlRejected(reason, detail, self.steps)
