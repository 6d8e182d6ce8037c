"""The operator's console: commands that the running server executes, because its API process has loaded what they need.

`postern serve` listens on a Unix socket in the data folder, and passes it to its first API process. Only the owner of
the data folder, which also has the master key and the database's URL, can connect. A request is one line of JSON with
the name of the command and its arguments; the response is one line with the text to print, or with an error.

Without a running server, a command does the same itself. It then imports the application, which takes a second.
"""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from postern.cli import CannotRun
from postern.cli.data_folder import connect_database, find_running_server, print_note, require_master_key
from postern.kernel.config import Settings, read_settings

if TYPE_CHECKING:
    from postern.world import World

SOCKET_FILE = "operator.sock"
SOCKET_PATH_LIMIT = 100
"""Maximum length in bytes of the path of a Unix socket, with a margin. In a longer folder there is no console."""
REQUEST_BYTES = 64_000
REQUEST_SECONDS = 10.0
"""How long the server waits for the line of a client that has connected."""
RESPONSE_SECONDS = 120.0
"""How long a command waits for the server."""
PENDING_CONNECTIONS = 16
OTHER_RELEASE = "The server does not know this command: it runs another release. Restart it."


class ConsoleRequest(msgspec.Struct):
    """A command of `operators.COMMANDS` with its arguments."""

    command: str
    arguments: dict[str, Any]


class ConsoleResponse(msgspec.Struct):
    """The server's response."""

    text: str = ""
    """What the command prints to standard output."""
    error: str = ""
    """Why the command could not be run; empty if it was."""


def open_console_socket(folder: Path) -> socket.socket | None:
    """Listen on the socket in the data folder, to which only its owner can connect.

    Returns None if there can be no socket: its path is too long, or the file system has none.
    """
    path = _socket_path(folder)
    if len(os.fsencode(path)) > SOCKET_PATH_LIMIT:
        return None
    listener, previous = socket.socket(socket.AF_UNIX), os.umask(0o177)
    try:
        Path(path).unlink(missing_ok=True)  # Of a server that was killed.
        listener.bind(path)
        listener.listen(PENDING_CONNECTIONS)
    except OSError:
        listener.close()
        return None
    finally:
        os.umask(previous)
    return listener


def _socket_path(folder: Path) -> str:
    return str(folder.absolute() / SOCKET_FILE)


async def serve_console(world: "World", listener: socket.socket) -> asyncio.Server:
    """Execute the commands of the clients of `listener`, in this process's event loop."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                line = await reader.readline()
            if line:  # Otherwise the client only looked whether somebody listens.
                writer.write(msgspec.json.encode(await _execute(world, line)) + b"\n")
                await writer.drain()
        except (OSError, ValueError, TimeoutError):
            pass  # The client is gone, too slow, or its line is too long.
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # The world waits for these tasks before it closes, so that a command is not cut off.
        world.run_in_background(serve(reader, writer))

    return await asyncio.start_unix_server(accept, sock=listener, limit=REQUEST_BYTES)


async def _execute(world: "World", line: bytes) -> ConsoleResponse:
    from psycopg import OperationalError
    from psycopg_pool import PoolTimeout

    from postern.cli.operators import COMMANDS

    try:
        request = msgspec.json.decode(line, type=ConsoleRequest)
    except (msgspec.DecodeError, RecursionError):
        return ConsoleResponse(error="The server cannot read this request.")
    command = COMMANDS.get(request.command)
    if command is None:
        return ConsoleResponse(error=OTHER_RELEASE)
    try:
        return ConsoleResponse(text=await command(world, **request.arguments))
    except CannotRun as error:
        return ConsoleResponse(error=str(error))
    except (OperationalError, PoolTimeout) as error:
        return ConsoleResponse(error=f"The server cannot use its database: {str(error).strip()}")
    except Exception:  # The client must not wait, whatever the error is.
        import structlog

        structlog.get_logger(__name__).exception("console_command_failed", command=request.command)
        return ConsoleResponse(error="The server could not execute the command; its log says why.")


def ask_server(command: str, settings: Settings, **arguments: Any) -> str | None:
    """Let the server that runs on the data folder execute a command of `operators.COMMANDS`, and return what it prints.

    Returns None if no server runs there, if DATABASE_URL names another database, or if the server has no console.
    Raises CannotRun if the server cannot execute the command.
    """
    running_server = find_running_server(settings.data)
    if running_server is None or settings.database_url not in (None, running_server.database_url):
        return None
    request = msgspec.json.encode(ConsoleRequest(command, arguments)) + b"\n"
    if len(request) > REQUEST_BYTES:
        raise CannotRun(f"The arguments of the command have more than {REQUEST_BYTES} bytes.")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(RESPONSE_SECONDS)
        try:
            connection.connect(_socket_path(settings.data))
        except OSError:
            return None
        print_note(f"Using the server that runs on the data folder {settings.data}.")
        try:
            connection.sendall(request)
            with connection.makefile("rb") as reader:
                line = reader.readline()
        except OSError as error:
            raise CannotRun(f"The server did not respond: {error}. The command may have been executed.") from None
    if not line:
        raise CannotRun("The server ended before it responded. The command may have been executed.")
    response = msgspec.json.decode(line, type=ConsoleResponse)
    if response.error:
        raise CannotRun(response.error)
    return response.text


async def ask_own_server(folder: Path, command: str) -> str | None:
    """Let the server whose data folder this is execute a command of `operators.COMMANDS`, as soon as it serves.

    Returns what the command prints, or None if the server has no console or could not execute it.
    """
    try:
        reader, writer = await asyncio.open_unix_connection(_socket_path(folder), limit=REQUEST_BYTES)
    except OSError:
        return None
    try:
        writer.write(msgspec.json.encode(ConsoleRequest(command, {})) + b"\n")
        line = await reader.readline()
    except (OSError, ValueError):
        return None
    finally:
        writer.close()
    response = msgspec.json.decode(line, type=ConsoleResponse) if line else ConsoleResponse()
    return response.text or None


def execute(command: str, **arguments: Any) -> str:
    """Let the running server execute a command of `operators.COMMANDS`, or execute it in this process if none runs.

    Returns the text to print. Raises CannotRun, and the errors of `open_server_world`.
    """
    text = ask_server(command, read_settings(), **arguments)
    return asyncio.run(_execute_here(command, arguments)) if text is None else text


async def _execute_here(command: str, arguments: dict[str, Any]) -> str:
    from postern.cli.operators import COMMANDS

    async with open_server_world() as world:
        return await COMMANDS[command](world, **arguments)


@asynccontextmanager
async def open_server_world() -> "AsyncGenerator[World]":
    """Yield a World (database, settings, secrets, clock) with which operations can be called, whether or not the server
    runs.

    Raises CannotRun if there is no database or no master key; WrongMasterKey if the key is not that of the database;
    and OperationalError if the database stays unreachable.
    """
    from postern.app import HOOKS
    from postern.cli.data_folder import report_database_error
    from postern.instance import wait_for_database
    from postern.world import open_world

    settings = read_settings()
    with connect_database(settings) as (url, base_url):
        require_master_key(settings)
        async with open_world(msgspec.structs.replace(settings, base_url=base_url), url, HOOKS) as world:
            await wait_for_database(world, report_database_error)
            yield world
