"""An SMTP server (RFC 5321) for submission and for inbound mail: the protocol, its limits, and its connections.

What it does with mail is up to its SmtpHandler. It offers PIPELINING (RFC 2920), SIZE (RFC 1870), 8BITMIME (RFC 6152),
SMTPUTF8 (RFC 6531), CHUNKING (RFC 3030), ENHANCEDSTATUSCODES (RFC 2034), STARTTLS (RFC 3207), and AUTH with PLAIN and
LOGIN (RFC 4954).

Only CRLF ends a line, and only CRLF.CRLF ends a message. A CR or LF alone, in commands or in a message, gets an error
reply and ends the connection: servers that disagree on what ends a message let an attacker hide a second message in the
first one (SMTP smuggling).
"""
