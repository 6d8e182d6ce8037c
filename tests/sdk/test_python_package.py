"""The package of the Python SDK: its version, what it loads when, its settings, and that its generated files are so."""

import asyncio
import json
import pickle
import re
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import postern_sdk
import pytest
from postern_sdk import AsyncPostern, ConfigurationError, Postern, errors, problems
from postern_sdk._request import NOT_GIVEN

from sdk.generator.python import synchronous
from tests.peers.fault_server import CASES, FaultServer, fault_server

SDK = Path(__file__).parent.parent.parent / "sdk/python"
LOADED = """
import json, sys
{code}
print(json.dumps(sorted(name for name in sys.modules if name.partition(".")[0] in
    {{"httpx", "httpcore", "msgspec", "asyncio", "ssl", "postern_sdk"}})))
"""


def loaded_modules(code: str) -> set[str]:
    result = subprocess.run(
        [sys.executable, "-c", LOADED.format(code=code)], cwd=SDK, capture_output=True, text=True, check=True
    )
    return set(json.loads(result.stdout))


def test_the_version_is_that_of_the_server() -> None:
    assert postern_sdk.__version__ == version("postern-server")


def test_importing_the_package_loads_only_the_package_itself() -> None:
    assert loaded_modules("import postern_sdk") == {"postern_sdk", "postern_sdk._version"}


def test_creating_a_client_loads_neither_httpx_nor_types() -> None:
    modules = loaded_modules("from postern_sdk import Postern; Postern('https://postern.example.com', 'key').emails")
    assert not modules & {"httpx", "msgspec", "asyncio", "ssl", "postern_sdk.types", "postern_sdk.problems"}
    assert "postern_sdk._sync.client" in modules
    assert not any(name.startswith("postern_sdk._async") for name in modules)


def test_all_names_of_the_package_can_be_imported() -> None:
    for name in dir(postern_sdk):
        assert getattr(postern_sdk, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = postern_sdk.nothing  # type: ignore[attr-defined]


def test_every_exception_can_be_imported_from_a_public_module() -> None:
    from postern_sdk import fastapi, flask, sessions, sign_in, testing

    public = [getattr(module, name) for module in (fastapi, flask, sign_in, testing) for name in module.__all__]
    waiting: list[type[errors.PosternError]] = [errors.PosternError]
    for error in waiting:
        waiting += error.__subclasses__()
        if error.__module__.startswith("postern_sdk."):
            assert error in public or "._" not in error.__module__, error
    assert {sessions.SigningKeysUnavailable, testing.MailNotFound} <= set(waiting)
    assert sessions.ServerUnavailable is postern_sdk.ServerUnavailable


def test_no_client_shows_its_key() -> None:
    for client in (Postern("https://a.example", "secret"), AsyncPostern("https://a.example", "secret")):
        assert "secret" not in repr(client)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"url": ""}, "set POSTERN_URL"),
        ({"project": ""}, "set POSTERN_PROJECT"),
        ({"key": ""}, "set POSTERN_KEY"),
        ({"url": "http://postern.example.com"}, "unencrypted to http://postern.example.com"),
        ({"url": "postern.example.com"}, "not a URL"),
        ({"url": "http://[bad"}, "not a URL"),
    ],
)
def test_a_missing_setting_is_an_error_at_the_first_call_that_needs_it(
    settings: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("POSTERN_URL", "POSTERN_KEY", "POSTERN_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    with (
        Postern(**{"url": "http://127.0.0.1:1", "key": "k", "project": "p", **settings}) as client,  # type: ignore[arg-type]
        pytest.raises(ConfigurationError, match=message),
    ):
        client.contacts.list()


@pytest.mark.parametrize("id", ["", ".", ".."])
def test_an_id_cannot_change_the_path(id: str) -> None:
    with pytest.raises(ValueError, match=f"id of getContact is '{re.escape(id)}', which is no id"):
        Postern("http://127.0.0.1:1", "k", "p").contacts.get(id)


def case_named(name: str) -> int:
    return next(index for index, case in enumerate(CASES) if case["name"] == name)


async def test_settings_come_from_the_environment_and_the_key_from_a_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = case_named("unknown fields are ignored")
    keys = iter(["first", "second"])

    async def key() -> str:
        await asyncio.sleep(0)
        return next(keys)

    async with fault_server() as server:
        monkeypatch.setenv("POSTERN_URL", server.url(case, "environment") + "/")
        monkeypatch.setenv("POSTERN_KEY", "from the environment")
        monkeypatch.setenv("POSTERN_PROJECT", "p 1")
        message: Any = {"to": ["a@example.com"], "from_": "b@example.com"}
        async with AsyncPostern() as client:
            await client.emails.send(**message)
            with_key = client.with_options(key=key, project="p2")
            await with_key.emails.send(**message)
            await with_key.emails.send(**message, project="p3")
        received = server.received(case, "environment")
    credentials = [request.headers["authorization"] for request in received]
    assert credentials == ["Bearer from the environment", "Bearer first", "Bearer second"]
    assert [request.path for request in received] == [
        f"/projects/{project}/emails" for project in ("p%201", "p2", "p3")
    ]


async def test_a_client_opens_one_connection_for_calls_in_turn() -> None:
    class CountingServer(FaultServer):
        connections = 0

        async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            await super().serve(reader, writer)

    server = CountingServer()
    case = case_named("unknown fields are ignored")
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.base = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    async with AsyncPostern(server.url(case, "one"), "k", "p") as client:
        for _ in range(3):
            await client.with_options(timeout=5).emails.send(to=["a@example.com"], from_="b@example.com")
    listener.close()
    assert server.connections == 1


def test_an_api_error_can_be_pickled() -> None:
    problem = {"code": "domain_not_verified", "detail": "Not verified.", "requestId": "r1", "next": "verify"}
    error = errors.api_error(403, {"X-Request-Id": "r1"}, json.dumps(problem).encode())
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is problems.DomainNotVerified
    assert (str(copy), copy.problem["next"], copy.headers) == (str(error), "verify", {"x-request-id": "r1"})


def test_not_given_is_false_and_says_its_name() -> None:
    assert not NOT_GIVEN
    assert repr(NOT_GIVEN) == "NOT_GIVEN"


def test_the_synchronous_form_has_no_asynchronous_word() -> None:
    text = "async def f(self) -> AsyncIterator[int]:\n    async for x in self.aiter_bytes():\n        await g(x)\n"
    assert synchronous(text, "x.py").split("\n", 1)[1] == (
        "def f(self) -> Iterator[int]:\n    for x in self.iter_bytes():\n        g(x)\n"
    )
    for file in (SDK / "postern_sdk/_sync").glob("*.py"):
        for word in ("async ", "await ", "asyncio", "Async"):
            assert word not in file.read_text(), (file.name, word)


def test_the_wheel_has_the_types_and_the_licence(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, SDK],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == f"postern_sdk-{postern_sdk.__version__}-py3-none-any.whl"
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"postern_sdk/py.typed", "postern_sdk/_sync/client.py", "postern_sdk/types.py"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
