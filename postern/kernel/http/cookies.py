"""Cookies of the server's pages; with TLS they are bound to this host by the `__Host-` prefix."""

from postern.kernel.config import Settings


def cookie_name(settings: Settings, name: str) -> str:
    """The name of a cookie. With TLS it has the prefix `__Host-`: only this host can set it (RFC 6265bis §4.1.3)."""
    return f"__Host-{name}" if settings.has_tls else name


def cookie(settings: Settings, name: str, value: str, *, path: str, seconds: int, same_site: str | None = "Lax") -> str:
    """The value of a `Set-Cookie` header for an HttpOnly cookie that expires after `seconds`.

    With TLS, `path` is ignored: the prefix `__Host-` requires the path `/`.
    """
    secure = "; Secure" if settings.has_tls else ""
    site = f"; SameSite={same_site}" if same_site else ""
    cookie_path = "/" if settings.has_tls else path
    return f"{cookie_name(settings, name)}={value}; Path={cookie_path}; Max-Age={seconds}; HttpOnly{site}{secure}"
