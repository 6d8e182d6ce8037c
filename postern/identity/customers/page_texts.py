"""What the hosted pages look like: plain HTML, one style sheet, and one script where a passkey can be used."""

STYLE = """
*{box-sizing:border-box}
:root{--page:#f3f4f6;--card:#fff;--text:#111827;--quiet:#4b5563;--line:#6b7280;--bad:#991b1b;--bad-line:#b91c1c;
  --bad-card:#fef2f2}
@media (prefers-color-scheme:dark){:root{--page:#0b0f19;--card:#161b26;--text:#f3f4f6;--quiet:#b6bdc9;--line:#7d8696;
  --bad:#fecaca;--bad-line:#f87171;--bad-card:#3b1113}}
html{font:100%/1.5 system-ui,sans-serif;color-scheme:light dark}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--page);color:var(--text)}
main{width:min(26rem,calc(100vw - 2rem));margin:1rem;padding:2rem;background:var(--card);border-radius:.75rem;
  box-shadow:0 1px 3px #0002;overflow-wrap:anywhere}
.app{margin:0 0 1rem;font-weight:600;color:var(--quiet)}
h1{font-size:1.375rem;margin:0 0 1.25rem}
img{max-height:3rem;max-width:100%;margin-bottom:1rem}
form{margin:0 0 1rem}
label{display:block;font-weight:600;margin:.75rem 0 .25rem}
input{width:100%;padding:.625rem;font:inherit;border:1px solid var(--line);border-radius:.375rem;background:var(--card);
  color:var(--text)}
button,.button{display:block;width:100%;margin-top:1rem;padding:.625rem;font:inherit;font-weight:600;text-align:center;
  text-decoration:none;border:1px solid var(--accent);border-radius:.375rem;cursor:pointer;
  background:var(--accent);color:var(--on-accent)}
.second{background:var(--card);color:var(--text);border-color:var(--line)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.error{padding:.75rem;border:1px solid var(--bad-line);border-radius:.375rem;color:var(--bad);
  background:var(--bad-card)}
p.small{font-size:.9rem}
code{font-family:ui-monospace,monospace}
.key{display:block;margin-top:.25rem}
.qr{display:block;width:min(14rem,100%);margin:0 auto 1rem;background:#fff;border-radius:.375rem}
.codes{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.5rem;margin:0 0 1rem;padding:0;
  list-style:none}
[hidden]{display:none}
a{color:inherit}
"""

_LAYOUT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{% block title %}{% endblock %} · {{ app }}</title>
<link rel="stylesheet" href="{{ base }}/style.css">
{% block head %}{% endblock %}
</head>
<body>
<main>
{% if logo %}<img src="{{ logo }}" alt="">{% endif %}
<p class="app">{{ app }}</p>
<h1>{{ self.title() }}</h1>
{% if error %}<p class="error" role="alert" id="error">{{ error }}</p>{% endif %}
{% block content %}{% endblock %}
</main>
</body>
</html>
"""

_HIDDEN = """{% for name in flow %}<input type="hidden" name="{{ name }}" value="{{ flow[name] }}">{% endfor %}"""

_EMAIL = """<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="{{ email }}"
  {% if error %}aria-describedby="error"{% endif %}>"""

_BACK = (
    """{% if flow %}<p class="small"><a href="{{ base }}/sign-in?{{ query }}">Back to signing in</a></p>{% endif %}"""
)

_SCRIPT = """{% if passkeys %}<script src="/assets/passkey.js" defer></script>{% endif %}"""

_SIGN_IN = """{% extends "layout.html" %}
{% block title %}{{ 'Sign in to add a passkey' if flow.then else 'Sign in' }}{% endblock %}
{% block head %}{% include "script.html" %}{% endblock %}
{% block content %}
<form method="post" action="{{ base }}/{{ 'sso' if sso_only else 'sign-in' if 'PASSWORD' in methods else 'code' }}">
{% include "hidden.html" %}
{% include "email.html" %}
{% if 'PASSWORD' in methods %}
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="256">
<button>Sign in</button>
{% endif %}
{% if 'EMAIL_CODE' in methods %}
<button{% if 'PASSWORD' in methods %} class="second"{% endif %} formaction="{{ base }}/code" formnovalidate
  >Mail me a code{{ ' instead' if 'PASSWORD' in methods }}</button>
{% endif %}
{% if sso_only %}
<button>Continue</button>
{% elif sso %}
<button class="second" formaction="{{ base }}/sso" formnovalidate>Use my organization's sign-in</button>
{% endif %}
</form>
{% if passkeys %}
<div id="passkeys" hidden>
<form method="post" action="{{ base }}/passkey" id="passkey" data-options="{{ base }}/passkey/options">
{% include "hidden.html" %}
<input type="hidden" name="challengeId"><input type="hidden" name="credential">
<button class="second">Use a passkey</button>
<p class="small" role="status" id="passkey-status"></p>
</form>
{% if not flow.then %}
<p class="small"><a href="{{ base }}/sign-in?{{ query }}&amp;then=passkey">Sign in and add a passkey</a></p>
{% endif %}
</div>
{% endif %}
{% for provider in providers %}
<a class="button second" href="{{ provider.url }}">Continue with {{ provider.name }}</a>
{% endfor %}
{% if 'PASSWORD' in methods %}
<p class="small"><a href="{{ base }}/forgot?{{ query }}">Forgot your password?</a></p>
{% endif %}
{% if sign_up %}<p class="small">New here? <a href="{{ base }}/sign-up?{{ query }}">Sign up</a></p>{% endif %}
{% endblock %}
"""

_SIGN_UP = """{% extends "layout.html" %}
{% block title %}Sign up{% endblock %}
{% block content %}
<form method="post" action="{{ base }}/sign-up">
{% include "hidden.html" %}
<label for="name">Name (optional)</label>
<input id="name" name="name" autocomplete="name" maxlength="200" value="{{ name }}">
{% include "email.html" %}
{% if 'PASSWORD' in methods %}
<label for="password">Password (8 characters or more)</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="8" maxlength="256">
{% endif %}
<button>Sign up</button>
</form>
{% for provider in providers %}
<a class="button second" href="{{ provider.url }}">Continue with {{ provider.name }}</a>
{% endfor %}
<p class="small">Have an account? <a href="{{ base }}/sign-in?{{ query }}">Sign in</a></p>
{% endblock %}
"""

_VERIFY = """{% extends "layout.html" %}
{% block title %}Enter your code{% endblock %}
{% block content %}
<p>{{ 'We sent a new code' if resent else 'We sent a code of six digits' }} to {{ email or 'your address' }}. It is
valid for 10 minutes.</p>
<form method="post" action="{{ base }}/{{ action }}">
{% include "hidden.html" %}
<input type="hidden" name="challengeId" value="{{ challenge }}"><input type="hidden" name="email" value="{{ email }}">
<label for="code">Code</label>
<input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required maxlength="12"
  {% if error %}aria-describedby="error"{% endif %}>
<button>Continue</button>
</form>
{% if email or action == 'sign-up/verify' %}
<form method="post" action="{{ base }}/{{ 'sign-up/resend' if action == 'sign-up/verify' else 'code' }}">
{% include "hidden.html" %}
<input type="hidden" name="challengeId" value="{{ challenge }}">
<input type="hidden" name="email" value="{{ email }}"><input type="hidden" name="resent" value="1">
<button class="second">Send a new code</button>
</form>
{% endif %}
<p class="small">Nothing arrived? Look into your spam folder, or
<a href="{{ base }}/{{ 'sign-up' if action == 'sign-up/verify' else 'sign-in' }}?{{ query }}">start again</a>.</p>
{% endblock %}
"""

_MFA = """{% extends "layout.html" %}
{% block title %}Two-step sign-in{% endblock %}
{% block content %}
<p>Enter the code that your authenticator app shows, or a recovery code.</p>
<form method="post" action="{{ base }}/mfa">
{% include "hidden.html" %}
<input type="hidden" name="mfaToken" value="{{ mfaToken }}">
<label for="code">Code</label>
<input id="code" name="code" autocomplete="one-time-code" required maxlength="20"
  {% if error %}aria-describedby="error"{% endif %}>
<button>Continue</button>
</form>
<p class="small"><a href="{{ base }}/sign-in?{{ query }}">Begin again</a></p>
{% endblock %}
"""

_MFA_ENROLL = """{% extends "layout.html" %}
{% block title %}Set up two-step sign-in{% endblock %}
{% block content %}
{% if qr %}
<p>Signing in here takes a code from an authenticator app as well. If you have none yet, install one, for example
Google Authenticator, Microsoft Authenticator or Aegis.</p>
<p>Scan this with the app:</p>
<svg class="qr" viewBox="0 0 {{ qr.size }} {{ qr.size }}" role="img" aria-label="QR code for your authenticator app"
  ><path d="{{ qr.path }}"/></svg>
<p class="small">Are you on your phone? <a href="{{ uri }}">Open the app</a>, or type this key into it:
<code class="key">{{ key }}</code></p>
<form method="post" action="{{ base }}/mfa/enroll">
{% include "hidden.html" %}
<input type="hidden" name="mfaToken" value="{{ mfaToken }}">
<label for="code">Code that the app shows</label>
<input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required maxlength="12"
  {% if error %}aria-describedby="error"{% endif %}>
<button>Continue</button>
</form>
{% endif %}
<p class="small"><a href="{{ base }}/sign-in?{{ query }}">Begin again</a></p>
{% endblock %}
"""

_RECOVERY_CODES = """{% extends "layout.html" %}
{% block title %}Keep your recovery codes{% endblock %}
{% block content %}
<p>If you lose the app, each of these codes signs you in once. Keep them in a safe place: they are shown only now.</p>
<ul class="codes">{% for code in codes %}<li><code>{{ code }}</code></li>{% endfor %}</ul>
<form method="post" action="{{ base }}/mfa/enroll/done">
{% include "hidden.html" %}
<input type="hidden" name="pageToken" value="{{ pageToken }}">
<button>I have kept them</button>
</form>
{% endblock %}
"""

_PASSKEY = """{% extends "layout.html" %}
{% block title %}Add a passkey{% endblock %}
{% block head %}{% include "script.html" %}{% endblock %}
{% block content %}
<p>With a passkey you sign in by fingerprint, face or PIN. It stays with you; there is nothing to remember.</p>
<noscript><p class="error">Adding a passkey needs JavaScript, which is switched off here.</p></noscript>
<div id="passkeys" hidden>
<form method="post" action="{{ base }}/passkey/add" id="passkey" data-options="{{ base }}/passkey/options">
{% include "hidden.html" %}
<input type="hidden" name="pageToken" value="{{ pageToken }}">
<input type="hidden" name="challengeId"><input type="hidden" name="credential">
<label for="name">Name, to tell it from others</label>
<input id="name" name="name" autocomplete="off" required maxlength="100" value="{{ name or 'Passkey' }}"
  {% if error %}aria-describedby="error"{% endif %}>
<button>Add a passkey</button>
<p class="small" role="status" id="passkey-status"></p>
</form>
</div>
<form method="post" action="{{ base }}/passkey/skip">
{% include "hidden.html" %}
<input type="hidden" name="pageToken" value="{{ pageToken }}">
<button class="second">Go on without one</button>
</form>
{% endblock %}
"""

_ELSEWHERE = """{% extends "layout.html" %}
{% block title %}Going to {{ organization }}{% endblock %}
{% block head %}<meta http-equiv="refresh" content="0;url={{ url }}">{% endblock %}
{% block content %}
<p role="status">Your organization signs you in.</p>
<a class="button" href="{{ url }}">Continue</a>
{% endblock %}
"""

_FORGOT = """{% extends "layout.html" %}
{% block title %}Reset your password{% endblock %}
{% block content %}
<form method="post" action="{{ base }}/forgot">
{% include "hidden.html" %}
{% include "email.html" %}
<button>Mail me a link</button>
</form>
{% include "back.html" %}
{% endblock %}
"""

_RESET = """{% extends "layout.html" %}
{% block title %}Choose a new password{% endblock %}
{% block content %}
<form method="post" action="{{ base }}/reset">
<input type="hidden" name="token" value="{{ token }}">
<label for="password">New password (8 characters or more)</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="8" maxlength="256"
  {% if error %}aria-describedby="error"{% endif %}>
<button>Save</button>
</form>
{% endblock %}
"""

_MESSAGE = """{% extends "layout.html" %}
{% block title %}{{ heading or 'Done' }}{% endblock %}
{% block content %}
<p role="status">{{ message }}</p>
{% include "onwards.html" %}
{% endblock %}
"""

_NOTICE = """{% extends "layout.html" %}
{% block title %}{{ heading }}{% endblock %}
{% block content %}
{% if message %}<p role="status">{{ message }}</p>{% endif %}
{% include "onwards.html" %}
{% endblock %}
"""

_ONWARDS = """{% if flow %}<a class="button" href="{{ base }}/sign-in?{{ query }}">Sign in</a>
{% elif home %}<a class="button" href="{{ home }}">Continue to {{ app }}</a>
{% else %}<p class="small">You can close this page and go back to {{ app }}.</p>{% endif %}"""

_INVITATION = """{% extends "layout.html" %}
{% block title %}Join {{ organization }}{% endblock %}
{% block content %}
<p>You are invited to join <strong>{{ organization }}</strong> on {{ app }} as {{ email }}.</p>
<form method="post" action="{{ base }}/invitation">
<input type="hidden" name="token" value="{{ token }}">
<button>Accept the invitation</button>
</form>
<p class="small">If you do not know what this is about, close this page: nothing happens.</p>
{% endblock %}
"""

_STALE = """{% extends "layout.html" %}
{% block title %}This link is not valid any more{% endblock %}
{% block content %}
<p role="status">{{ message }}</p>
<a class="button" href="{{ base }}/forgot">Send a new link</a>
{% endblock %}
"""

TEMPLATES = {
    "stale.html": _STALE,
    "notice.html": _NOTICE,
    "onwards.html": _ONWARDS,
    "invitation.html": _INVITATION,
    "layout.html": _LAYOUT,
    "hidden.html": _HIDDEN,
    "email.html": _EMAIL,
    "back.html": _BACK,
    "script.html": _SCRIPT,
    "sign-in.html": _SIGN_IN,
    "sign-up.html": _SIGN_UP,
    "verify.html": _VERIFY,
    "mfa.html": _MFA,
    "mfa-enroll.html": _MFA_ENROLL,
    "recovery-codes.html": _RECOVERY_CODES,
    "passkey.html": _PASSKEY,
    "elsewhere.html": _ELSEWHERE,
    "forgot.html": _FORGOT,
    "reset.html": _RESET,
    "message.html": _MESSAGE,
}
