"""Log entries have no secrets and no content of messages."""

import io
import json
import logging
import re

import psycopg
import pytest
import structlog

from postern.kernel.log import REPEAT_SECONDS, LibraryHandler, processors

BOTH_FORMATS = pytest.mark.parametrize("human_readable", [False, True], ids=["json", "console"])


def log_line(human_readable, write):
    """The text that is log_line when `write` is called with a logger."""
    structlog.contextvars.clear_contextvars()
    output = io.StringIO()
    write(structlog.wrap_logger(structlog.PrintLogger(output), processors=processors(human_readable=human_readable)))
    structlog.contextvars.clear_contextvars()
    return output.getvalue()


@BOTH_FORMATS
def test_secrets_and_message_content_are_never_logged(human_readable):
    def write(log):
        structlog.contextvars.bind_contextvars(
            request_id="r-1", path="/inbox/enter", query="token=dl_hidden&q=ada%40x&hidden&hidden7="
        )
        log.info("request", api_key="sk_hidden", newPassword="hidden", html="<p>hidden</p>", status=200)

    line = log_line(human_readable, write)
    assert "hidden" not in line
    assert "ada" not in line
    assert "r-1" in line
    assert "token=[left out]&q=[left out]&[left out]&[left out]" in line


@BOTH_FORMATS
def test_a_logged_traceback_has_no_values_of_variables(human_readable):
    def write(log):
        password = "hidden words"
        try:
            raise ValueError(f"{len(password)} characters")
        except ValueError as error:
            log.error("unexpected_error", exc_info=error)

    line = log_line(human_readable, write)
    assert "ValueError: 12 characters" in line
    assert "hidden words" not in line.replace('password = "hidden words"', "")


@BOTH_FORMATS
async def test_a_rejected_row_is_not_logged(human_readable, world):
    async with world.db.connection() as connection:
        try:
            await connection.execute("create temporary table if not exists words (word text check (word <> 'hidden'))")
            await connection.execute("insert into words values ('hidden')")
            raise AssertionError
        except psycopg.errors.CheckViolation as error:
            violation = error
        await connection.rollback()
    assert "hidden" in str(violation)
    line = log_line(human_readable, lambda log: log.error("unexpected_error", error=str(violation), exc_info=violation))
    assert "words_word_check" in line
    assert "(hidden)" not in line


def test_each_line_is_one_json_object():
    line = log_line(False, lambda log: log.warning("database_away", error="gone\naway"))
    assert json.loads(line)["event"] == "database_away"
    assert line.count("\n") == 1


@BOTH_FORMATS
def test_texts_of_others_send_no_commands_to_a_terminal(human_readable):
    hostile = "550 \x1b]0;title\x07\x9b2J\u202e\r\nforged\udc80"

    def write(log):
        try:
            raise ValueError(hostile)
        except ValueError:
            log.exception("tls_report_finished", note=hostile)

    plain = re.sub(r"\x1b\[[0-9;]*m", "", log_line(human_readable, write))  # The colours of structlog.
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", plain)
    if human_readable:
        assert "note='550 ?]0;title??2J???forged?'" in plain
        assert "ValueError: 550 ?]0;title??2J??\nforged" in plain, "A traceback keeps its lines."


def test_messages_of_libraries_are_events_and_do_not_flood_the_log():
    """While the database is away, the connection pool logs each attempt as several lines of text."""
    now = 0.0
    logger = logging.Logger("psycopg.pool")
    logger.addHandler(LibraryHandler(lambda: now))
    with structlog.testing.capture_logs() as events:
        for _ in range(1_000):
            logger.warning("error connecting in %r: %s\n\tIs the server running?", "pool-1", "Connection refused")
        logger.error("another level")
        now = REPEAT_SECONDS
        logger.warning("again")
    assert [(event["event"], event["log_level"], event.get("others")) for event in events] == [
        ("library_message", "warning", None),
        ("library_message", "error", None),
        ("library_message", "warning", 999),
    ]
    assert events[0]["error"].startswith("error connecting in 'pool-1': Connection refused")
