"""`postern reports` writes a message as it is to a file, and readable to a terminal."""

import io

import pytest

from postern.cli.reports import write_message

MESSAGE = b"Subject: \x1b[2J\r\n\r\n\xc2\x9b2J\xff caf\xc3\xa9\n"


class Output(io.TextIOWrapper):
    """Standard output that is a terminal or not."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="")
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.mark.parametrize(
    ("is_terminal", "written"), [(False, MESSAGE), (True, "Subject: ?[2J\n\n?2J\ufffd café\n".encode())]
)
def test_a_message_sends_no_commands_to_a_terminal(monkeypatch, is_terminal, written):
    output = Output(is_terminal=is_terminal)
    monkeypatch.setattr("sys.stdout", output)
    write_message(MESSAGE)
    output.flush()
    assert output.buffer.getvalue() == written
