"""Log entries have no secrets and no content of messages."""

import io
import json

import psycopg
import pytest
import structlog

from postern.kernel.log import processors

FORMS = pytest.mark.parametrize("for_people", [False, True], ids=["json", "console"])


def logged(for_people, write):
    """What `write` puts on the line, given a logger."""
    structlog.contextvars.clear_contextvars()
    line = io.StringIO()
    write(structlog.wrap_logger(structlog.PrintLogger(line), processors=processors(human_readable=for_people)))
    structlog.contextvars.clear_contextvars()
    return line.getvalue()


@FORMS
def test_secrets_and_message_content_are_never_logged(for_people):
    def write(log):
        structlog.contextvars.bind_contextvars(
            request_id="r-1", path="/inbox/enter", query="token=dl_hidden&q=ada%40x&hidden&hidden7="
        )
        log.info("request", api_key="sk_hidden", newPassword="hidden", html="<p>hidden</p>", status=200)

    line = logged(for_people, write)
    assert "hidden" not in line
    assert "ada" not in line
    assert "r-1" in line
    assert "token=[left out]&q=[left out]&[left out]&[left out]" in line


@FORMS
def test_a_logged_traceback_has_no_values_of_variables(for_people):
    def write(log):
        password = "hidden words"
        try:
            raise ValueError(f"{len(password)} characters")
        except ValueError as error:
            log.error("unexpected_error", exc_info=error)

    line = logged(for_people, write)
    assert "ValueError: 12 characters" in line
    assert "hidden words" not in line.replace('password = "hidden words"', "")


@FORMS
async def test_a_rejected_row_is_not_logged(for_people, world):
    async with world.db.connection() as connection:
        try:
            await connection.execute(
                "create temporary table words (said text check (said <> 'hidden')); insert into words values ('hidden')"
            )
            raise AssertionError
        except psycopg.errors.CheckViolation as error:
            kept = error
        await connection.rollback()
    assert "hidden" in str(kept)
    line = logged(for_people, lambda log: log.error("unexpected_error", error=str(kept), exc_info=kept))
    assert "words_said_check" in line
    assert "(hidden)" not in line


def test_each_line_is_one_json_object():
    line = logged(False, lambda log: log.warning("database_away", error="gone\naway"))
    assert json.loads(line)["event"] == "database_away"
    assert line.count("\n") == 1
