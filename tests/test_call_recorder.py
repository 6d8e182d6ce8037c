"""The recorder of `script/measure-code --flows` counts each file whose functions are called for a request, once."""

import subprocess
import sys
from pathlib import Path

from tests.call_recorder import CALLS, SWITCH, record_calls_of_children

MODULES = {
    "__init__.py": "",
    "called.py": "def work(): pass\n",
    "called_in_a_thread.py": "def work(): pass\n",
    "called_before.py": "def work(): pass\n",
    "called_at_import.py": "def work(): pass\nwork()\n",
    "timer.py": "class Sites:\n    def _tick_while_used(self): pass\n",
}
PROGRAM = f"""
import threading
from pathlib import Path
from postern import called, called_before, called_in_a_thread, timer
called_before.work()
Path({SWITCH!r}).touch()
from postern import called_at_import
called.work(), called.work(), timer.Sites()._tick_while_used(), str(1)
threading.Thread(target=called_in_a_thread.work).start()
"""


def test_calls_of_all_threads_are_recorded_but_not_those_of_imports_and_timers(monkeypatch, tmp_path: Path):
    monkeypatch.setenv("PYTHONPATH", "")
    record_calls_of_children(tmp_path)
    (tmp_path / "postern").mkdir()
    for name, source in MODULES.items():
        (tmp_path / "postern" / name).write_text(source)
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, check=True)
    assert set((tmp_path / CALLS).read_text().splitlines()) == {"called.py", "called_in_a_thread.py"}
