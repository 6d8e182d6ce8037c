"""The new part of replies, as common clients write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.protocols.mail.reply_text import MAX_LINES, reply_text

QUOTED = "> Hello Bob,\n>\n> are you there?\n"


@pytest.mark.parametrize(
    "rest",
    [
        f"\nOn Mon, 3 Feb 2026 at 10:00, Ada Lovelace <ada@example.com> wrote:\n\n{QUOTED}",
        f"\nOn Mon, 3 Feb 2026 at 10:00, Ada Lovelace\n<ada@example.com> wrote:\n{QUOTED}",
        "\nOn 3 Feb 2026, at 10:00, Ada <ada@example.com> wrote:\n\nHello Bob,\n\nare you there?\n",
        f"\nAm 03.02.26 um 10:00 schrieb Ada Lovelace:\n{QUOTED}",
        f"\nAm Di., 3. Feb. 2026 um 10:00 Uhr schrieb Ada Lovelace <\nada@example.com>:\n\n{QUOTED}",
        f"\nLe lun. 3 févr. 2026 à 10:00, Ada <ada@example.com> a écrit :\n\n{QUOTED}",
        f"\nEl lun, 3 feb 2026 a las 10:00, Ada (<ada@example.com>) escribió:\n\n{QUOTED}",
        f"\nIl giorno lun 3 feb 2026 alle ore 10:00 Ada <ada@example.com> ha scritto:\n\n{QUOTED}",
        f"\nOp ma 3 feb 2026 om 10:00 schreef Ada <ada@example.com>:\n\n{QUOTED}",
        f"\nEm seg., 3 de fev. de 2026 às 10:00, Ada <ada@example.com> escreveu:\n\n{QUOTED}",
        f"\nDen mån 3 feb. 2026 kl 10:00 skrev Ada <ada@example.com>:\n\n{QUOTED}",
        f"\nAda Lovelace <ada@example.com> wrote:\n\n{QUOTED}",
        "\n-----Original Message-----\nFrom: Ada\nSent: Monday\n\nHello Bob,\n",
        "\n-----Ursprüngliche Nachricht-----\nVon: Ada\n\nHello Bob,\n",
        "\n________________________________\nFrom: Ada <ada@example.com>\nSent: Monday\nTo: Bob\n\nHello Bob,\n",
        "\nFrom: Ada <ada@example.com>\nSent: Monday, 3 February 2026\nTo: Bob\nSubject: Hello\n\nHello Bob,\n",
        "\nVon: Ada\nGesendet: Montag\nAn: Bob\nBetreff: Hallo\n\nHello Bob,\n",
        f"\n{QUOTED}",
        "\n-- \nBob\nAcme Inc.\n",
        "\nSent from my iPhone\n\n> On 3 Feb 2026, Ada wrote:\n> Hello\n",
        "",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_is_quoted_is_left_out(rest, end):
    text = f"Yes, I am.\n\nBest wishes\n{rest}".replace("\n", end)
    assert reply_text(text) == "Yes, I am.\n\nBest wishes"


def test_answers_between_quoted_lines_are_kept():
    text = "On Monday, Ada wrote:\n\n> Are you there?\n\nYes.\n\n> And Eve?\nShe, too.\n-- \nBob\n"
    assert reply_text(text) == "Yes.\n\nShe, too."


@pytest.mark.parametrize(
    "text",
    [
        "On Monday we meet.\n\nAda wrote: that is fine.",
        "From: the start\n\nthis is a text.",
        "To: do\n- one\n- two",
        "Dear Bob,\nhe wrote:\nwhatever you like.",
    ],
)
def test_ordinary_text_is_kept(text):
    assert reply_text(text) == text


def test_a_text_that_only_quotes_is_empty():
    assert reply_text("On Monday, Ada wrote:\n> Hello\n") == ""


def test_the_number_of_lines_is_limited():
    assert reply_text("a\n" * (MAX_LINES + 100)).count("a") == MAX_LINES


@given(st.text(alphabet="On wrote:>\n-_From: Am schrieb", max_size=2_000))
def test_any_text_has_a_reply_of_its_own_words(text):
    assert len(reply_text(text)) <= len(text)


@pytest.mark.parametrize("text", ["On " * 300_000, "schrieb " * 100_000 + ":", "On a\n" * 20_000, "From:\n" * 20_000])
def test_hostile_texts_are_read_in_linear_time(text):
    reply_text(text)
