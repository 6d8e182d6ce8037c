"""What the fork server of tests/commands.py imports: all that a command may need."""

from importlib import import_module

from postern.cli import COMMANDS

for name in ("postern.cli.processes", "postern.cli.supervisor", "tests.commands", *COMMANDS):
    import_module(name)
