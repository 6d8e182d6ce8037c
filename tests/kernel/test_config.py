"""Settings are read when the server starts; an error names the variable of an invalid setting."""

import pytest

from postern.cli.checks import check_settings, describe_mail_and_ports
from postern.kernel.config import SettingInvalid, misspelled_variables, read_settings


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("POSTERN_TRUSTED_PROXIES", "our own"),
        ("POSTERN_BREACHED_PASSWORDS", "pwnedpasswords"),
        ("POSTERN_PORT", "http"),
        ("POSTERN_PORT", "99999"),
        ("POSTERN_PORT", "-1"),
        ("POSTERN_DATABASE_POOL", "0"),
        ("POSTERN_PROJECT_RATE", "-5"),
        ("POSTERN_SUBMISSION_PORT", "smtp"),
        ("POSTERN_SMTP_PLAIN_AUTH", "office"),
        ("POSTERN_SMTP_MEMORY", "1"),
        ("POSTERN_SEND_WAIT", "inf"),
        ("POSTERN_SEND_WAIT", "nan"),
        ("POSTERN_DRAIN", "-1"),
        ("POSTERN_LEASE", "0"),
        ("POSTERN_TRANSPORT", "pigeon"),
        ("POSTERN_BILLING", "barter"),
        ("POSTERN_LOG_LEVEL", "loud"),
        ("POSTERN_LOG_FORMAT", "xml"),
        ("POSTERN_BASE_URL", "postern.example"),
        ("POSTERN_BASE_URL", "https://"),
        ("POSTERN_BASE_URL", "https://[::1"),
        ("POSTERN_BASE_URL", "https://postern.example:99999"),
        ("POSTERN_BASE_URL", "https://postern.example?x=1"),
        ("POSTERN_STRIPE_API", "api.stripe.com"),
        ("POSTERN_SECRET", "too short"),
        ("POSTERN_DNS_ZONE", "not a domain"),
        ("POSTERN_RETURN_PATH_DOMAIN", "a..b"),
        ("DATABASE_URL", "nonsense"),
        ("DATABASE_URL", "postgresql://me:secret@[host/db"),
        ("POSTERN_SIGN_UP", "maybe"),
        ("POSTERN_OUTBOUND_ALLOW", "everything"),
        ("POSTERN_SENDING_ADDRESSES", "here"),
        ("POSTERN_FALLBACK_TRANSPORTS", "capture"),
        ("POSTERN_FALLBACK_TRANSPORTS", "relay, relay"),
        ("POSTERN_SES_ENDPOINT", "email.eu-central-1.amazonaws.com"),
        ("POSTERN_SES_FORWARD_FEEDBACK", "perhaps"),
    ],
)
def test_the_error_for_an_invalid_setting_names_its_variable(variable, text):
    """The message is one line with the name of the variable, without the password of a database URL.

    Regression test of N4 (tests/defects.md).
    """
    with pytest.raises(SettingInvalid, match=variable) as error:
        read_settings({variable: text})
    assert "\n" not in str(error.value)
    assert "secret@" not in str(error.value)


SES = {
    "POSTERN_TRANSPORT": "ses",
    "POSTERN_SES_REGION": "eu-central-1",
    "POSTERN_SES_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "POSTERN_SES_SECRET_ACCESS_KEY": "pa/ss",
}


@pytest.mark.parametrize(
    ("variable", "environment"),
    [
        ("POSTERN_RELAY", {"POSTERN_TRANSPORT": "relay"}),
        ("POSTERN_TLS_KEY", {"POSTERN_TLS_CERTIFICATE": "/a.crt"}),
        ("POSTERN_TLS_CERTIFICATE", {"POSTERN_SUBMISSIONS_PORT": "465"}),
        ("POSTERN_TLS_CERTIFICATE", {"POSTERN_TLS_CERTIFICATE": "/a.crt", "POSTERN_TLS_KEY": "/a.key"}),
        ("POSTERN_RELAY", {"POSTERN_RELAY": "mail.example.com:25"}),
        ("POSTERN_RELAY", {"POSTERN_RELAY": "smtp://mail.example.com:99999"}),
        ("POSTERN_RELAY", {"POSTERN_RELAY": "smtp://mail.example.com?tls=perhaps"}),
        ("POSTERN_RELAY", {"POSTERN_RELAY": "smtp://me:pa#ss@mail.example.com"}),
        ("POSTERN_RELAY", {"POSTERN_RELAY": "smtp://me:pa/ss@mail.example.com"}),
        ("POSTERN_RELAY", {"POSTERN_RELAY": "smtp://[::1"}),
        ("POSTERN_RELAY", {"POSTERN_RELAY": "smtp://mail.example.com?weight=0"}),
        ("POSTERN_RELAY", {"POSTERN_RELAY": "smtp://mail.example.com?rate=nan"}),
        ("POSTERN_RELAY", {"POSTERN_RELAY": "smtp://mail.example.com?connections=many"}),
        ("POSTERN_SES_SECRET_ACCESS_KEY", {"POSTERN_TRANSPORT": "ses"}),
        ("POSTERN_SES_ACCESS_KEY_ID", {"POSTERN_SES_REGION": "eu-central-1", "POSTERN_SES_SECRET_ACCESS_KEY": "pa/ss"}),
        ("POSTERN_SES_REGION", {**SES, "POSTERN_SES_REGION": "Frankfurt"}),
        ("POSTERN_SES_TOPICS", {**SES, "POSTERN_SES_TOPICS": "postern"}),
        ("POSTERN_FALLBACK_TRANSPORTS", {**SES, "POSTERN_FALLBACK_TRANSPORTS": "ses"}),
        ("POSTERN_FALLBACK_TRANSPORTS", {"POSTERN_RELAY": "smtp://relay", "POSTERN_FALLBACK_TRANSPORTS": "relay"}),
        ("POSTERN_RELAY", {**SES, "POSTERN_FALLBACK_TRANSPORTS": "relay"}),
        ("POSTERN_BASE_URL", SES),
        ("POSTERN_PLAN_LIMITS", {"POSTERN_PLAN_LIMITS": "free: emails=" + "9" * 5_000}),
        ("POSTERN_PLAN_LIMITS", {"POSTERN_PLAN_LIMITS": "free: mail=9"}),
        ("POSTERN_STRIPE_SECRET_KEY", {"POSTERN_BILLING": "stripe"}),
        ("POSTERN_DNS", {"POSTERN_DNS": "resolver.example.com"}),
        ("POSTERN_BLOCKLISTS", {"POSTERN_BLOCKLISTS": "zen.spamhaus.org"}),
        ("POSTERN_PLAN_LIMITS", {"POSTERN_PLAN_LIMITS": "free: everything"}),
        ("POSTERN_MAIL_FROM", {"POSTERN_MAIL_FROM": "the postmaster"}),
        ("POSTERN_SOURCES", {"POSTERN_SOURCES": "203.0.113.5"}),
        ("POSTERN_SOURCES", {"POSTERN_SOURCES": "mx1.example.com=203.0.113.5"}),
        ("POSTERN_SOURCES", {"POSTERN_SOURCES": "203.0.113.5=localhost"}),
        ("POSTERN_SOURCES", {"POSTERN_SOURCES": "203.0.113.5=mx1.example.com?lane=bulk"}),
        ("POSTERN_SOURCES", {"POSTERN_SOURCES": "203.0.113.5=mx1.example.com?project=acme"}),
        ("POSTERN_SOURCES", {"POSTERN_SOURCES": "203.0.113.5=mx1.example.com?rate=5"}),
        ("POSTERN_SOURCES", {"POSTERN_SOURCES": "203.0.113.5=mx1.example.com " * 65}),
    ],
)
def test_the_further_checks_of_a_starting_server_name_the_variable(variable, environment):
    """The message is one line with the name of the variable and without parts of a password.

    Regression test of N4 (tests/defects.md).
    """
    with pytest.raises(SettingInvalid, match=variable) as error:
        check_settings(read_settings(environment))
    assert "\n" not in str(error.value)
    assert not {"pa", "ss"} & set(str(error.value).replace("/", " ").split())


PUBLIC_RELAY = {"POSTERN_TRANSPORT": "relay", "POSTERN_RELAY": "smtp://me:hidden@smtp.example.net:587"}
LOCAL_RELAY = {"POSTERN_TRANSPORT": "relay", "POSTERN_RELAY": "smtp://localhost:1025?tls=none"}
BASE_URL = "POSTERN_BASE_URL"


@pytest.mark.parametrize(
    "environment",
    [
        PUBLIC_RELAY,
        LOCAL_RELAY,
        {**PUBLIC_RELAY, BASE_URL: "http://127.0.0.1:8025"},
        {**PUBLIC_RELAY, BASE_URL: "https://localhost"},
        {**PUBLIC_RELAY, BASE_URL: "https://[::1]:8025"},
        {**PUBLIC_RELAY, "POSTERN_HOST": "0.0.0.0"},
        {**LOCAL_RELAY, "POSTERN_RELAY": "smtp://localhost smtp://smtp.example.net", BASE_URL: "http://localhost:8025"},
        {"POSTERN_TRANSPORT": "direct"},
        {"POSTERN_TRANSPORT": "direct", BASE_URL: "http://127.0.0.1:8025"},
    ],
)
def test_a_relay_requires_a_public_base_url(environment):
    """A server whose mail would contain links to 127.0.0.1 does not start; the error names the setting to change.

    Regression test of N3 (tests/defects.md).
    """
    with pytest.raises(SettingInvalid) as error:
        check_settings(read_settings(environment))
    assert str(error.value).endswith("POSTERN_BASE_URL=https://mail.example.com")
    assert "hidden" not in str(error.value)


def test_the_ready_message_names_transport_relay_and_base_url():
    """The lines that a started server prints name transport, relay (without the password) and base URL.

    Regression test of N3 (tests/defects.md).
    """
    relay_settings = read_settings({**PUBLIC_RELAY, BASE_URL: "https://mail.example.com"})
    check_settings(relay_settings)
    text = describe_mail_and_ports(relay_settings)
    assert "sent through smtp.example.net:587 (starttls-required) (transport relay)" in text
    assert "https://mail.example.com" in text
    assert "hidden" not in text
    check_settings(read_settings({**LOCAL_RELAY, BASE_URL: "http://127.0.0.1:8025"}))
    direct = {"POSTERN_TRANSPORT": "direct", "POSTERN_SOURCES": "203.0.113.5=mx1.example.com"}
    text = describe_mail_and_ports(read_settings({**direct, BASE_URL: "https://mail.example.com"}))
    assert "from 203.0.113.5 to the recipients' mail servers" in text
    check_settings(read_settings({**direct, BASE_URL: "http://127.0.0.1:8025", "POSTERN_DIRECT_PORT": "2525"}))
    text = describe_mail_and_ports(read_settings({}))
    assert "transport capture" in text
    assert "http://127.0.0.1:8025" in text


def test_the_ready_message_names_all_transports_in_order():
    settings = read_settings(
        {
            **SES,
            "POSTERN_FALLBACK_TRANSPORTS": "relay",
            "POSTERN_RELAY": "smtp://me:hidden@smtp.example.net",
            "POSTERN_SES_TOPICS": "arn:aws:sns:eu-central-1:123456789012:mail",
            BASE_URL: "https://mail.example.com",
        }
    )
    check_settings(settings)
    assert describe_mail_and_ports(settings) == (
        "Mail is sent through https://email.eu-central-1.amazonaws.com (transport ses) or, if that cannot be reached, "
        "through smtp.example.net:587 (starttls-required) (transport relay); links in it lead to "
        "https://mail.example.com."
    )
    check_settings(
        read_settings({**SES, "POSTERN_SES_ENDPOINT": "http://127.0.0.1:5000", BASE_URL: "http://127.0.0.1:8025"})
    )


def test_valid_settings_are_accepted():
    settings = read_settings(
        {
            "POSTERN_TRANSPORT": "relay",
            "POSTERN_RELAY": "smtp://me:secret@mail.example.com:2525?tls=none smtps://other.example.com",
            "POSTERN_BASE_URL": "https://postern.example",
            "POSTERN_SEND_WAIT": "0.5",
            "POSTERN_SIGN_UP": "no",
            "POSTERN_DNS": "127.0.0.1:5353, 9.9.9.9",
            "POSTERN_PORT": "0",
        }
    )
    check_settings(settings)
    assert (settings.port, settings.sign_up, settings.send_wait.total_seconds()) == (0, False, 0.5)
    check_settings(read_settings({}))


def test_misspelled_variables_are_reported_with_the_setting_that_was_meant():
    environment = {
        "POSTERN_SUBMISSON_PORT": "587",
        "POSTERN_DATABASE_URL": "postgresql://",
        "POSTERN_BASE_URL": "https://mail.example.com",
        # Of commands, SDKs and guides.
        **dict.fromkeys(("POSTERN_URL", "POSTERN_KEY", "POSTERN_API_KEY", "POSTERN_WEBHOOK_SECRET"), "x"),
        "SUBMISSON_PORT": "587",
    }
    assert misspelled_variables(environment) == [
        "POSTERN_DATABASE_URL has no effect. Did you mean DATABASE_URL?",
        "POSTERN_SUBMISSON_PORT has no effect. Did you mean POSTERN_SUBMISSION_PORT?",
    ]


def test_the_start_prints_misspelled_variables(monkeypatch):
    monkeypatch.setenv("POSTERN_RELAYS", "smtp://relay.example.com")
    lines = describe_mail_and_ports(read_settings({})).splitlines()
    assert lines[-1] == "POSTERN_RELAYS has no effect. Did you mean POSTERN_RELAY?"


def test_a_short_master_key_in_base64_is_explained():
    with pytest.raises(SettingInvalid, match="44 characters"):
        read_settings({"POSTERN_SECRET": "base64:xx"})
