"""E-mail protocols: addresses, MIME, DKIM, SPF, DMARC, DNS, SMTP and templates. Independent of projects and tables."""
