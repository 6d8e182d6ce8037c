"""`bench.peers`: ratios are those within rounds, and a program that is missing is named and left out."""

import time
from pathlib import Path

from bench.peers.__main__ import Comparison, in_turns, ratios
from bench.peers.running import Measurement, PeerMissing, scratch, started


def test_a_missing_program_is_named_and_left_out(capsys):
    calls = []

    def missing():
        calls.append("missing")
        raise PeerMissing("install it")

    ours = {"Postern": lambda: {"messages": Measurement(10.0, {"worker": 100.0, "sink": 50.0})}}
    results = in_turns(Comparison(ours, {"other": missing}), 2)
    assert {key: len(measurements) for key, measurements in results.items()} == {("Postern", "messages"): 2}
    assert calls == ["missing"]
    assert "other is left out: install it" in capsys.readouterr().out


def test_ratios_are_medians_of_rounds_and_leave_out_the_sink():
    ours = [Measurement(rate, {"worker": 100.0, "sink": 900.0}) for rate in (10.0, 30.0, 20.0)]
    theirs = [Measurement(20.0, {"other": 50.0}) for _ in range(3)]
    assert ratios(ours, theirs) == (1.0, 2.0)


def test_a_program_is_ended_with_its_children():
    with scratch() as folder:
        log = folder / "sh.log"
        command = ["sh", "-c", "sleep 60 & echo $!; wait"]
        with started(command, folder, ready=lambda: log.read_bytes().endswith(b"\n")):
            child = int(log.read_text())
            assert is_alive(child)
    # The kernel ends a process some time after it has delivered the signal.
    ends = time.monotonic() + 30
    while is_alive(child):
        assert time.monotonic() < ends
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
