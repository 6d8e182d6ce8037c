"""What an operator may set: read whole at the start, and refused there by name."""

import pytest

from postern.cli.parts import check_settings
from postern.kernel.settings import SettingInvalid, read_settings


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
        ("POSTERN_SEND_WAIT", "inf"),
        ("POSTERN_SEND_WAIT", "nan"),
        ("POSTERN_DRAIN", "-1"),
        ("POSTERN_LEASE", "0"),
        ("POSTERN_TRANSPORT", "pigeon"),
        ("POSTERN_BILLING", "barter"),
        ("POSTERN_LOG_LEVEL", "loud"),
        ("POSTERN_LOG_FORMAT", "xml"),
        ("POSTERN_BASE_URL", "postern.example"),
        ("POSTERN_SIGN_UP", "maybe"),
        ("POSTERN_OUTBOUND_ALLOW", "everything"),
        ("POSTERN_SENDING_ADDRESSES", "here"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name(variable, text):
    with pytest.raises(SettingInvalid, match=variable):
        read_settings({variable: text})


@pytest.mark.parametrize(
    ("variable", "environment"),
    [
        ("POSTERN_RELAY", {"POSTERN_TRANSPORT": "relay"}),
        ("POSTERN_RELAY", {"POSTERN_RELAY": "mail.example.com:25"}),
        ("POSTERN_RELAY", {"POSTERN_RELAY": "smtp://mail.example.com:99999"}),
        ("POSTERN_RELAY", {"POSTERN_RELAY": "smtp://mail.example.com?tls=perhaps"}),
        ("POSTERN_DNS", {"POSTERN_DNS": "resolver.example.com"}),
        ("POSTERN_BLOCKLISTS", {"POSTERN_BLOCKLISTS": "zen.spamhaus.org"}),
        ("POSTERN_PLAN_LIMITS", {"POSTERN_PLAN_LIMITS": "free: everything"}),
        ("POSTERN_MAIL_FROM", {"POSTERN_MAIL_FROM": "the postmaster"}),
    ],
)
def test_what_only_the_server_can_judge_is_refused_before_it_starts(variable, environment):
    with pytest.raises(SettingInvalid, match=variable):
        check_settings(read_settings(environment))


def test_settings_that_make_sense_are_taken():
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
