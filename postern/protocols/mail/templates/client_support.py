"""Replacement of HTML and CSS that the MJML renderer writes, but that mail clients drop, by what they support.

The patterns match complete styles as the renderer writes them for the blocks of a document, so that HTML of an author
is not changed. `web/tests/mails.spec.ts` compares the result with the data of caniemail.com.
"""

import re
from typing import Final

RESET_STYLE: Final = (
    "body{margin:0;padding:0;-webkit-text-size-adjust:100%;-ms-text-size-adjust:100%}"
    "table,td{border-collapse:collapse;mso-table-lspace:0pt;mso-table-rspace:0pt}"
    "img{border:0;line-height:100%;text-decoration:none;-ms-interpolation-mode:bicubic}"
    "p{display:block;margin:13px 0}"
)
"""Replaces the renderer's reset style, which has rules that Outlook and Yahoo drop."""
SCHEMES: Final = (
    '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">'
)
"""Tells Apple Mail and Outlook that the e-mail has a dark scheme, so that they do not invert colors themselves."""

_FIRST_STYLE = re.compile(r'(<style type="text/css">)\s*#outlook a .*?(</style>)', re.DOTALL)
_FLUID_STYLE = re.compile(
    r'<style type="text/css">@media only screen and \(max-width:479px\) \{\s*table\.mj-full-width-mobile.*?</style>',
    re.DOTALL,
)
"""Rules for images with `fluid-on-mobile`, which blocks do not use. Gmail drops chained selectors."""
_ARTICLE = re.compile(r'<div (?:aria-label="[^"]*" )?aria-roledescription="email" ')
_PREHEADER: Final = (
    "display:none;font-size:1px;color:#ffffff;line-height:1px;max-height:0px;max-width:0px;opacity:0;overflow:hidden;"
)
_SPACER = re.compile(r'<div style="height:(\d+)px;line-height:\1px;">&#8202;</div>')
_IMAGE: Final = (
    'style="border:0;display:block;outline:none;text-decoration:none;height:auto;width:100%;font-size:13px;"'
)
_BUTTON_LINK: Final = ' target="_blank" style="display:inline-block;background:'


def for_mail_clients(rendered: str, font: str, dark_rules: str) -> str:
    """The rendered HTML of a document of blocks, without properties and attributes that clients drop.

    `font` is for the alternative texts of images. `dark_rules` are the rules for dark schemes, or empty.
    """
    rendered = _FIRST_STYLE.sub(lambda match: match[1] + RESET_STYLE + match[2], rendered, count=1)
    rendered = _FLUID_STYLE.sub("", rendered, count=1)
    # The rules for Thunderbird do not need their ancestor: for other clients, the same rules are in a media query.
    rendered = rendered.replace(".moz-text-html .mj-column", ".mj-column")
    rendered = _ARTICLE.sub("<div ", rendered, count=1)
    # `display:none` hides the preheader in all clients; Outlook also needs `mso-hide`.
    rendered = rendered.replace(_PREHEADER, "display:none;font-size:1px;line-height:1px;mso-hide:all;", 1)
    rendered = rendered.replace('<body style="word-spacing:normal;', '<body style="margin:0;padding:0;', 1)
    # Yahoo drops `height`; `line-height` alone gives the spacer its height.
    rendered = _SPACER.sub(
        r'<div style="font-size:1px;line-height:\1px;mso-line-height-rule:exactly;">&#8202;</div>', rendered
    )
    rendered = rendered.replace("border-collapse:collapse;border-spacing:0px;", "border-collapse:collapse;")
    rendered = rendered.replace(";cursor:auto;mso-padding-alt:", ";mso-padding-alt:")
    rendered = rendered.replace(_BUTTON_LINK, _BUTTON_LINK.replace(' target="_blank"', ""))
    rendered = rendered.replace(
        _IMAGE,
        'style="border:0;display:block;text-decoration:none;width:100%;'
        f'font-family:{font};font-size:15px;line-height:1.4;color:#5a6567;"',
    )
    rendered = rendered.replace(' height="auto" src="', ' src="').replace(' target="_blank"><img ', "><img ")
    if not dark_rules:
        return rendered
    rules = f":root{{color-scheme:light dark}}@media (prefers-color-scheme:dark){{{dark_rules}}}"
    style = f'<style type="text/css">{rules}</style>'
    return rendered.replace("</head>", f"{SCHEMES}{style}</head>", 1)
