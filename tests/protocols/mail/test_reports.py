"""Delivery reports and complaints: the examples of the RFCs, other forms, and hostile messages."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.protocols.mail import bounce_forms, dsn, received
from postern.protocols.mail.arf import ComplaintReport
from postern.protocols.mail.dsn import DeliveryReport
from postern.protocols.mail.received import decode_words, html_text, read_message
from postern.protocols.mail.reports import AutomaticReply, UnrecognizedReport, read_report, sender_addresses
from postern.protocols.mail.smtp_replies import classify


def report_of(text):
    return read_report(text.strip("\n").replace("\n", "\r\n").encode())


def failures_of(text):
    report = report_of(text)
    assert isinstance(report, DeliveryReport), report
    return [
        (recipient.action, recipient.address, recipient.code, recipient.enhanced, kind_of(recipient))
        for recipient in report.recipients
    ]


def kind_of(recipient):
    gave_up = recipient.action == "failed"
    return classify(recipient.code, recipient.enhanced, recipient.text, gave_up=gave_up).kind


RFC_3464 = """
From: Mail Delivery Subsystem <MAILER-DAEMON@cs.example.edu>
To: <owner-info@ca.example.gov>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
 boundary="JAA13167.773673707/CS.EXAMPLE.EDU"
Subject: Returned mail: User unknown

--JAA13167.773673707/CS.EXAMPLE.EDU
content-type: text/plain; charset=us-ascii

----- The following addresses had delivery problems -----
<louisl@larry.example.org> (unrecoverable error)
<sandy@delayed.example.net> (unrecoverable error)

--JAA13167.773673707/CS.EXAMPLE.EDU
content-type: message/delivery-status

Reporting-MTA: dns; cs.example.edu
Arrival-Date: Fri, 8 Jul 1994 09:21:25 -0400

Original-Recipient: rfc822;louisl@larry.example.org
Final-Recipient: rfc822;louis@mail.example.org
Action: failed
Status: 4.0.0
Diagnostic-Code: smtp; 426 connection timed out
Last-Attempt-Date: Fri, 7 Jul 1994 17:15:49 -0400

Final-Recipient: rfc822;sandy@delayed.example.net
Action: delayed
Status: 4.4.1
Remote-MTA: dns; delayed.example.net

Original-Recipient: rfc822;arathib@vnet.example.com
Final-Recipient: rfc822;arathib@vnet.example.com
Action: failed (permanent)
Status: 5.0.0 (permanent failure)
Diagnostic-Code: smtp;
  550 5.1.1 'arathib@vnet.example.com' is not a registered gateway user
Remote-MTA: dns; vnet.example.com

Final-Recipient: rfc822;ok@example.com
Action: relayed
Status: 2.1.9

--JAA13167.773673707/CS.EXAMPLE.EDU
content-type: message/rfc822

Return-Path: <b-0123-sig@bounce.acme.example>
Message-ID: <1@acme.example>
Subject: Hello

--JAA13167.773673707/CS.EXAMPLE.EDU--
"""


def test_the_standard_form_has_a_result_for_each_recipient():
    assert failures_of(RFC_3464) == [
        ("failed", "louisl@larry.example.org", 426, "4.0.0", "soft"),
        ("delayed", "sandy@delayed.example.net", 0, "4.4.1", "soft"),
        ("failed", "arathib@vnet.example.com", 550, "5.1.1", "hard"),
        ("relayed", "ok@example.com", 0, "2.1.9", "policy"),
    ]
    report = report_of(RFC_3464)
    assert (report.form, report.reporting_host) == ("dsn", "cs.example.edu")
    assert report.recipients[0].final_address == "louis@mail.example.org"
    assert report.recipients[2].remote_host == "vnet.example.com"
    assert report.occurred_at == datetime(1994, 7, 7, 21, 15, 49, tzinfo=UTC)
    assert dict(report.original)["message-id"] == "<1@acme.example>"
    assert sender_addresses(report) == ["b-0123-sig@bounce.acme.example"]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_endings_do_not_matter(newline):
    content = RFC_3464.strip("\n").replace("\n", newline).encode()
    assert len(read_report(content).recipients) == 4
    assert len(read_report(b"From MAILER-DAEMON  Mon Jan 1 00:00:00 2015\n" + content).recipients) == 4


def test_the_internationalized_form():
    text = RFC_3464.replace("message/delivery-status", "message/global-delivery-status")
    text = text.replace("rfc822;arathib@vnet.example.com", "utf-8; \\x{73}\\x{D6}@b\\x{FC}cher.example")
    assert failures_of(text)[2] == ("failed", "sÖ@bücher.example", 550, "5.1.1", "hard")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("Action: error\nStatus: 5.1.1", ("failed", "ada@example.org", 0, "5.1.1", "hard")),
        ("Status: 5.2.2\nDiagnostic-Code: x-unix; quota", ("failed", "ada@example.org", 0, "5.2.2", "soft")),
        ("Diagnostic-Code: smtp; 552 Mailbox disk quota exceeded", ("failed", "ada@example.org", 552, "", "soft")),
        ("Diagnostic-Code: smtp; 452 4.3.1 Try later", ("delayed", "ada@example.org", 452, "4.3.1", "soft")),
        ("Action: failed\nStatus: 4.1.1\nDiagnostic-Code: smtp; 450 4.1.1 User unknown",
         ("failed", "ada@example.org", 450, "4.1.1", "hard")),
        ("Action: expanded\nStatus: 2.0.0", ("expanded", "ada@example.org", 0, "2.0.0", "soft")),
        ("Action: FAILED\nStatus: 5.5.0\nDiagnostic-Code: 552 5.2.2 Over quota",
         ("failed", "ada@example.org", 552, "5.2.2", "soft")),
        ("Action: failed\nStatus: 5.7.1\nDiagnostic-Code: smtp;550 5.7.1 listed at zen.spamhaus.org",
         ("failed", "ada@example.org", 550, "5.7.1", "block")),
        ("Action: failed\nStatus: 9.9.9.9\nDiagnostic-Code: what", ("failed", "ada@example.org", 0, "", "soft")),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "recipient",
    ["rfc822; ada@example.org", "<ada@example.org>", "rfc822;<ada@example.org> (Ada)", "rfc822; ada@example.org>"],
)
def test_loose_fields_of_recipients(fields, expected, recipient):
    text = f"""
From: postmaster@example.org
Subject: Undeliverable
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: message/delivery-status

Final-Recipient: {recipient}
{fields}
--b--
"""
    assert failures_of(text) == [expected]


NOTIFICATIONS = {
    "qmail": (
        ("From: MAILER-DAEMON@mail.example.net\nSubject: failure notice\n\n"
        "Hi. This is the qmail-send program at mail.example.net.\n"
        "I'm afraid I wasn't able to deliver your message to the following addresses.\n\n"
        "<ada@example.org>:\n192.0.2.1 does not like recipient.\n"
        "Remote host said: 550 5.1.1 No such user\nGiving up on 192.0.2.1.\n\n"
        "--- Below this line is a copy of the message.\n\nReturn-Path: <b-1-s@bounce.acme.example>\nTo:"
        " bob@example.com\n"),
        [("failed", "ada@example.org", 550, "5.1.1", "hard")],
    ),
    "exim": (
        ("From: Mail Delivery System <Mailer-Daemon@exim.example>\nX-Failed-Recipients: ada@example.org\n"
        "Auto-Submitted: auto-replied\nSubject: Mail delivery failed: returning message to sender\n\n"
        "A message that you sent could not be delivered to one or more of its recipients.\n\n"
        "  ada@example.org\n    host mx.example.org [192.0.2.1]\n"
        "    SMTP error from remote mail server after RCPT TO:<ada@example.org>:\n    552 5.2.2 Mailbox full\n"),
        [("failed", "ada@example.org", 552, "5.2.2", "soft")],
    ),
    "exchange": (
        ("From: System Administrator <postmaster@example.org>\nSubject: Undeliverable: Hello\n\n"
        "Your message\n\n  To: list@acme.example\n  Subject: Hello\n\ndid not reach the following recipient(s):\n\n"
        "ada@example.org on Thu, 29 Apr 2010 00:00:00 -0000\n    Unknown Recipient\n"),
        [("failed", "ada@example.org", 0, "5.0.0", "hard")],
    ),
    "sendmail": (
        ("From: Mail Delivery Subsystem <MAILER-DAEMON@example.org>\nSubject: Returned mail: see transcript"
        " for details\n\n"
        "   ----- The following addresses had permanent fatal errors -----\n<ada@example.org>\n"
        "   ----- Transcript of session follows -----\n... while talking to mx.example.org.:\n"
        ">>> RCPT To:<ada@example.org>\n<<< 550 5.1.1 <ada@example.org>... User unknown\n"),
        [("failed", "ada@example.org", 550, "5.1.1", "hard")],
    ),
    "postfix_text": (
        ("From: MAILER-DAEMON@example.net (Mail Delivery System)\nSubject: Undelivered Mail Returned to Sender\n\n"
        "I'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients.\n\n"
        "<ada@example.org>: host mx.example.org[192.0.2.1] said: 550 5.7.1 blocked using\n    zen.spamhaus.org\n"),
        [("failed", "ada@example.org", 550, "5.7.1", "block")],
    ),
    "warning": (
        ("From: Mail Delivery System <Mailer-Daemon@exim.example>\nSubject: Warning: message 1x delayed 24 hours\n\n"
        "A message that you sent has not yet been delivered to one or more of its recipients\n"
        "after more than 24 hours.\nThe address to which the message has not yet been delivered is:\n\n"
        "  ada@example.org\n\nNo action is required on your part.\n"),
        [("delayed", "ada@example.org", 0, "4.0.0", "soft")],
    ),
    "html": (
        ("From: Mail Delivery <postmaster@webmail.example>\nSubject: Undelivered mail\nContent-Type: text/html\n\n"
        "<html><p>Your message could not be delivered to:</p><p><b>&lt;ada@example.org&gt;</b></p>"
        "<p>550 5.1.1 The email account does not exist.</p></html>"),
        [("failed", "ada@example.org", 550, "5.1.1", "hard")],
    ),
    "encoded": (
        ("From: webmail@example.net\nSubject: =?utf-8?B?RGVsaXZlcnkgZmFpbHVyZSBub3RpZmljYXRpb24=?=\n"
        "Content-Transfer-Encoding: base64\nContent-Type: text/plain; charset=utf-8\n\n"
        "TWFpbCBjb3VsZCBub3QgYmUgZGVsaXZlcmVkIHRvIGFkYUBleGFtcGxlLm9yZw==\n"),
        [("failed", "ada@example.org", 0, "5.0.0", "soft")],
    ),
    "no_boundary": (
        ("From: MAILER-DAEMON@example.net\nSubject: Returned mail\nContent-Type: multipart/report; boundary=wrong\n\n"
        "Reporting-MTA: dns; mx.example.net\n\nFinal-Recipient: rfc822; ada@example.org\nAction:"
        " failed\nStatus: 5.1.1\n\n"
        "Return-Path: <b-1-s@bounce.acme.example>\n"),
        [("failed", "ada@example.org", 0, "5.1.1", "hard")],
    ),
    "transcript": (
        ("From: Mail Delivery Subsystem <MAILER-DAEMON@example.org>\nSubject: Returned mail: User unknown\n\n"
        "   ----- Transcript of session follows -----\n"
        "550 5.1.1 <ada@example.org>... User unknown\n"
        "554 <bob@example.net>... Remote protocol error: Connection reset by peer during result wait\n"
        "<<< 421 mx.example.net Sorry, unable to contact destination SMTP daemon.\n"),
        [("failed", "ada@example.org", 550, "5.1.1", "hard"), ("failed", "bob@example.net", 554, "5.0.0", "soft")],
    ),
    "not_a_user": (
        "From: <>\nAuto-Submitted: auto-replied\n\nYou sent mail to ada@example.org. That's not a valid user here.\n",
        [("failed", "ada@example.org", 0, "5.0.0", "hard")],
    ),
    "lost_parts": (
        ("From: MAILER-DAEMON@example.net\nSubject: Returned mail: see transcript for details\n"
        "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n<<< No Message Collected >>>\n"),
        [("failed", "", 0, "5.0.0", "soft")],
    ),
    "lost_parts_of_warning": (
        ("From: MAILER-DAEMON@example.net\nSubject: Warning: could not send message for past 4 hours\n"
        "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n<<< No Message Collected >>>\n"),
        [("delayed", "", 0, "4.0.0", "soft")],
    ),
    "no_empty_lines": (
        ("From: MAILER-DAEMON@example.net\nSubject: Undelivered\n"
        "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n"
        "Content-Type: message/delivery-status\n\n"
        "Reporting-MTA: dns; mx.example.net\n"
        "Final-Recipient: rfc822; ada@example.org\nAction: failed\nStatus: 5.1.1\n"
        "Final-Recipient: rfc822; bob@example.org\nAction: failed\nStatus: 5.2.2\n\n--b--\n"),
        [("failed", "ada@example.org", 0, "5.1.1", "hard"), ("failed", "bob@example.org", 0, "5.2.2", "soft")],
    ),
    "reasons_in_text": (
        ("From: MAILER-DAEMON@example.net\nSubject: Undelivered\n"
        "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\n"
        "<ada@example.org>: no such user here\n<bob@example.org>: 552 the mailbox is full\n\n--b\n"
        "Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.net\n\n"
        "Final-Recipient: rfc822; ada@example.org\nAction: failed\nStatus: 5.0.0\n\n"
        "Final-Recipient: rfc822; bob@example.org\nAction: failed\nStatus: 5.0.0\n\n"
        "Final-Recipient: rfc822; eve@example.org\nAction: failed\nStatus: 5.0.0\n\n--b--\n"),
        [("failed", "ada@example.org", 0, "5.0.0", "hard"), ("failed", "bob@example.org", 552, "5.0.0", "soft"),
         ("failed", "eve@example.org", 0, "5.0.0", "soft")],
    ),
    "address_for_questions": (
        ("From: MAILER-DAEMON@example.net (Mail Delivery System)\nSubject: Undelivered Mail Returned to Sender\n\n"
        "For further assistance, please send mail to <postmaster@example.net>.\n\n"
        "<support@example.org>: host mx.example.org[192.0.2.1] said: 550 5.1.1 User unknown\n"),
        [("failed", "support@example.org", 550, "5.1.1", "hard")],
    ),
    "sender_in_reason": (
        ("From: MAILER-DAEMON@example.net (Mail Delivery System)\nSubject: Undelivered Mail Returned to Sender\n\n"
        "Your message could not be delivered.\n\n"
        "<ada@example.org>: host\n    mx.example.org[192.0.2.1] said: 550 5.1.1\n"
        "    <b-1-s@bounce.acme.example>: unauthorized sender (in\n    reply to RCPT TO command)\n"),
        [("failed", "ada@example.org", 550, "5.1.1", "policy")],
    ),
    "reason_of_sendmail": (
        ("From: Mail Delivery Subsystem <MAILER-DAEMON@example.org>\nSubject: Returned mail: see transcript"
        " for details\n\n"
        "   ----- The following addresses had permanent fatal errors -----\nada@example.org\n"
        "    (reason: 553 Sender Policy Framework (SPF) fail)\n    (expanded from: <list@example.org>)\n\n"
        "   ----- Transcript of session follows -----\n>>> DATA\n<<< 553 Sender Policy Framework (SPF) fail\n"
        "550 5.1.1 ada@example.org... User unknown\n"),
        [("failed", "ada@example.org", 553, "5.0.0", "policy")],
    ),
    "temporary_problem": (
        ("From: Mail Delivery Subsystem <mailer-daemon@mail.example>\nSubject: Delivery Status Notification\n\n"
        "** Delivery incomplete **\n\nThere was a temporary problem delivering your message to ada@example.org."
        " The service will retry for 46 more hours. You'll be notified if the delivery fails permanently.\n"),
        [("delayed", "ada@example.org", 0, "4.0.0", "soft")],
    ),
    "delayed_with_failed_recipients": (
        ("From: Mail Delivery Subsystem <mailer-daemon@mail.example>\nX-Failed-Recipients: ada@example.org\n"
        "Subject: Delivery Status Notification (Delay)\n\nTHIS IS A WARNING MESSAGE ONLY.\n"
        "YOU DO NOT NEED TO RESEND YOUR MESSAGE.\nDelivery to the following recipient has been delayed:\n\n"
        "     ada@example.org\n\nMessage will be retried for 2 more day(s)\n"),
        [("delayed", "ada@example.org", 0, "4.0.0", "soft")],
    ),
    "quoted_address": (
        ("From: Postmaster@example.org\nSubject: Mail Delivery Failure\n\nDelivery of email to this address\n\n"
        '"ada@example.org"\n\nhas failed due to a full mailbox.\n'),
        [("failed", "ada@example.org", 0, "5.0.0", "soft")],
    ),
    "temporary_reply": (
        ("From: MAILER-DAEMON@example.net (Mail Delivery System)\nSubject: Undelivered Mail Returned to Sender\n\n"
        "<ada@example.org>: host mx.example.org[192.0.2.1] refused to talk to me: 421 Too many connections\n"),
        [("failed", "ada@example.org", 421, "4.0.0", "soft")],
    ),
    "identifier_like_address": (
        ("From: Mail Delivery System <Mailer-Daemon@example.org>\nSubject: Mail failure\n\n"
        "References: <E10HmaZ-000000@mx.example.org>\n\nThe message could not be delivered.\n"),
        [("failed", "", 0, "5.0.0", "soft")],
    ),
    "no_address": (
        ("From: MAILER-DAEMON@example.net\nSubject: Mail delivery failed\n\nYour message could not be delivered.\n"),
        [("failed", "", 0, "5.0.0", "soft")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTIFICATIONS)
def test_other_forms_of_bounces(name):
    text, expected = NOTIFICATIONS[name]
    assert failures_of(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "From: ada@example.org\nSubject: Out of office: Your delivery failed\n\nI cannot be reached.",
        ("From: ada@example.org\nSubject: Re: Mail delivery failure?\nAuto-Submitted: auto-replied\n\nMail"
        " cannot be delivered to me until May."),
        ("From: ada@example.org\nSubject: Hello\nAuto-Submitted: auto-replied (vacation)\n\nI am away and can"
        " not receive mail."),
        "From: ada@example.org\nSubject: Abwesenheitsnotiz\n\nIch bin nicht da.",
        "From: ada@example.org\nSubject: Ada Lovelace/ACME is out of the office\n\nI will not return until May.",
        "From: ada@example.org\nSubject: AUTO: Ada is out of the office (returning 03/01)\n\nI cannot be reached.",
        "From: ada@example.org\nSubject: Hello\nPrecedence: auto_reply\n\nThe mailbox is full of letters.",
        ("From: guard@example.org\nSubject: Your message\n\nPlease confirm that you are a human; your mail"
        " was not delivered."),
        ("From: postmaster@example.org\nSubject: Mail delivery problem\n\nYour message requires confirmation:"
        " click here to be delivered."),
    ],
)  # fmt: skip
def test_automatic_replies_and_challenges_are_no_bounces(text):
    assert isinstance(report_of(text), AutomaticReply)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "From: ada@example.org\nSubject: Re: Hello\n\nThanks! My friend bob@example.org could not be reached.",
        "From: MAILER-DAEMON@example.org\nSubject: Hello\n\nHave a nice day.",
        (
            "Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\nAction:"
            " failed\n--b--"
        ),
    ],
)
def test_other_messages_are_unrecognized(text):
    assert isinstance(report_of(text), UnrecognizedReport)


RFC_5965 = """
From: <abusedesk@example.com>
Subject: FW: Earn money
To: <abuse@acme.example>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report;
     boundary="part1_13d.2e68ed54_boundary"

--part1_13d.2e68ed54_boundary
Content-Type: text/plain; charset="US-ASCII"

This is an email abuse report for an email message received from IP 192.0.2.1.

--part1_13d.2e68ed54_boundary
Content-Type: message/feedback-report

Feedback-Type: abuse
User-Agent: SomeGenerator/1.0
Version: 1
Original-Mail-From: <b-0123-sig@bounce.acme.example>
Original-Rcpt-To: <user@example.com>
Arrival-Date: Thu, 8 Mar 2005 14:00:00 EDT
Reporting-MTA: dns; mail.example.com
Source-IP: 192.0.2.1

--part1_13d.2e68ed54_boundary
Content-Type: message/rfc822

Received: from mailserver.acme.example
From: <hello@acme.example>
Message-ID: <8787KJKJ3K4J3K4J3K4J3.mail@acme.example>
To: <Undisclosed Recipients>
Subject: Earn money

Spam
--part1_13d.2e68ed54_boundary--
"""


def test_a_complaint():
    report = report_of(RFC_5965)
    assert isinstance(report, ComplaintReport)
    assert report.is_complaint
    assert (report.feedback_type, report.recipients) == ("abuse", ("user@example.com",))
    assert (report.mail_from, report.reporting_host) == ("b-0123-sig@bounce.acme.example", "mail.example.com")
    assert sender_addresses(report) == ["b-0123-sig@bounce.acme.example"]
    assert report.occurred_at == datetime(2005, 3, 8, 18, tzinfo=UTC)


@pytest.mark.parametrize("address", ["redacted@example.com", "<xxxx@example.com>", "[redacted]", "***@example.com", ""])
def test_a_redacted_complaint_names_nobody(address):
    report = report_of(RFC_5965.replace("<user@example.com>", address))
    assert (report.is_complaint, report.recipients) == (True, ())


@pytest.mark.parametrize(
    ("kind", "is_complaint"),
    [("not-spam", False), ("auth-failure", False), ("Fraud", True), ("virus", True), ("x-new", True), ("", True)],
)
def test_types_of_complaints(kind, is_complaint):
    assert report_of(RFC_5965.replace(": abuse", f": {kind}")).is_complaint == is_complaint


def test_a_complaint_in_the_form_of_microsoft():
    report = report_of("""
From: <staff@hotmail.com>
Subject: complaint about message from 192.0.2.1
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: message/rfc822

X-HmXmrOriginalRecipient: ada@hotmail.com
Return-Path: <b-0123-sig@bounce.acme.example>
Subject: Hello

--b--
""")
    assert (report.feedback_type, report.recipients, report.is_complaint) == ("abuse", ("ada@hotmail.com",), True)
    assert sender_addresses(report) == ["b-0123-sig@bounce.acme.example"]


NESTED = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(5_000))
HOSTILE = {
    "deep": NESTED,
    "one boundary": "Content-Type: multipart/mixed; boundary=b\n\n"
    + "--b\nContent-Type: multipart/mixed; boundary=b\n\n" * 20_000,
    "many parts": "Content-Type: multipart/report; boundary=b\n\n" + "--b\n\nx\n" * 100_000,
    "long header": "Subject: Mail delivery failed" + " x" * 1_000_000 + "\n\nx",
    "many fields": "a: b\n" * 300_000 + "\n",
    "folded": "a: b\n" + " c\n" * 300_000 + "\n",
    "no end": "x" * 2_000_000,
    "parameters": "Content-Type: multipart/mixed" + '; a="' * 200_000,
    "tags": "Content-Type: text/html\nSubject: Undeliverable\nFrom: mailer-daemon@x\n\n" + "<" * 500_000,
    "addresses": "Subject: Undeliverable\nFrom: mailer-daemon@x\n\ncould not be delivered\n" + "a@" * 250_000,
    "local parts": "Subject: Undeliverable\nFrom: mailer-daemon@x\n\ncould not be delivered\n" + "a" * 500_000 + "@",
    "domains": "Subject: Undeliverable\nFrom: mailer-daemon@x\n\ncould not be delivered\na@" + "a" * 500_000 + "!",
    "spaces": "Subject: Undeliverable\nFrom: mailer-daemon@x\n\ncould not be delivered\n" + " " * 500_000 + "a",
    "quotes": "Subject: Undeliverable\nFrom: mailer-daemon@x\n\nnot deliver " + "to: <" * 100_000,
    "words": "Subject: " + "=?utf-8?q?a?=" * 100_000 + "\n\nx",
    "nuls": "Subject: Undeliverable\0\nFrom: mailer-daemon@x\n\ncould not be delivered to a\0da@example.org\0\n",
    "blocks": RFC_3464.replace("Reporting-MTA",
        "Final-Recipient: rfc822;a@b.c\nAction: failed\n\n" * 50_000 + "Reporting-MTA"),
    "charset": "Content-Type: text/plain; charset=punycode\nSubject: Undeliverable\n\nnot delivered " + "a-" * 100_000,
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_messages_are_read(name):
    report = report_of(HOSTILE[name])
    if isinstance(report, DeliveryReport):
        assert len(report.recipients) <= dsn.RECIPIENTS_LIMIT
        assert "\0" not in repr([(recipient.address, recipient.text) for recipient in report.recipients])


def test_parts_depth_and_fields_are_bounded():
    assert len(read_message(HOSTILE["many parts"].encode()).parts) == received.PARTS_LIMIT
    (part,) = read_message(NESTED.encode()).parts
    assert part.depth == received.DEPTH_LIMIT
    assert len(read_message(HOSTILE["many fields"].encode()).fields) <= received.FIELDS_LIMIT
    assert len(read_message(HOSTILE["long header"].encode()).field("subject")) <= received.FIELD_CHARACTERS


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("excess", range(-5, 6))
def test_the_text_after_a_long_header_is_read(line_end: bytes, excess: int):
    header = b"Subject: ".ljust(received.HEADER_OCTETS + excess, b"x")
    message = read_message(header + line_end + line_end + b"a" + line_end + line_end + b"b")
    assert message.parts[0].content == b"a" + line_end + line_end + b"b"


MARKS = [
    "Content-Type: ", "multipart/report", "message/delivery-status", "message/feedback-report", "; boundary=b",
    "--b", "--b--", "\n", "\r\n", "\n\n", "Final-Recipient: ", "rfc822;", "Action: failed", "Status: 5.1.1",
    "Diagnostic-Code: smtp; ", "=?", "?=", "Content-Transfer-Encoding: base64", "a@b.example", "<", ">",
    "Subject: Undeliverable", "Date: ", "X-Failed-Recipients: ", "From: MAILER-DAEMON@x", "could not be delivered",
    "\0", "\\x{", "}", "Last-Attempt-Date: Fri, 7 Jul 99999", "Original-Rcpt-To: ",
]  # fmt: skip


@given(st.lists(st.one_of(st.sampled_from(MARKS), st.text(max_size=20)), max_size=60))
def test_every_message_has_a_typed_result(pieces):
    report = read_report("".join(pieces).encode("utf-8", "surrogatepass"))
    assert isinstance(report, DeliveryReport | ComplaintReport | AutomaticReply | UnrecognizedReport)


@given(st.binary(max_size=2_000))
def test_any_octets_have_a_typed_result(content):
    assert isinstance(read_report(content), DeliveryReport | ComplaintReport | AutomaticReply | UnrecognizedReport)
    bounce_forms.notification_text(read_message(content))


def test_texts_are_decoded():
    assert html_text("<p>a<br>b &lt;c@d.e&gt; <f@g.h></p>").split() == ["a", "b", "<c@d.e>", "<f@g.h>"]
    assert decode_words("=?utf-8?q?caf=C3=A9?= =?nowhere?q?x?=") == "caféx"
