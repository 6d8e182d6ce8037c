"""Cookies of our pages: bound to this very host where the server has TLS."""

from postern.kernel.config import Settings


def cookie_name(settings: Settings, name: str) -> str:
    """The name of a cookie; with `__Host-` browsers refuse it from other hosts and without TLS (RFC 6265bis §4.1.3)."""
    return f"__Host-{name}" if settings.has_tls else name


def cookie(settings: Settings, name: str, value: str, *, path: str, seconds: int, same_site: str | None = "Lax") -> str:
    """The `Set-Cookie` header. With TLS the path is `/`, as the prefix demands; the name then tells uses apart."""
    secure = "; Secure" if settings.has_tls else ""
    site = f"; SameSite={same_site}" if same_site else ""
    where = "/" if settings.has_tls else path
    return f"{cookie_name(settings, name)}={value}; Path={where}; Max-Age={seconds}; HttpOnly{site}{secure}"
