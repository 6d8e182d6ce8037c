"""A page that posts a form to another site without a click, such as a message to an identity provider."""

from urllib.parse import urlsplit

from postern.identity.customers.pages import hosted_page
from postern.kernel.http.call import Call
from postern.kernel.http.responses import HttpResponse
from postern.web.languages import Text
from postern.web.pages import SCRIPT_SOURCES


async def form_post_page(
    call: Call, heading: Text, action: str, fields: dict[str, str], *, cookies: str | None = None
) -> HttpResponse:
    """A page that posts `fields` to the URL `action`: by a script, or else by its button.

    Its Content-Security-Policy allows the target and, because the target may redirect the post, any https URL.
    """
    parts = urlsplit(action)
    source = f"{parts.scheme}://{parts.netloc}" if parts.netloc else f"{parts.scheme}:"
    return await hosted_page(
        call,
        "form-post.html",
        None,
        policy={**SCRIPT_SOURCES, "form-action": f"https: {source}"},
        headers={} if cookies is None else {"Set-Cookie": cookies},
        heading=heading,
        action=action,
        posted=fields,
    )
