"""Client of Postern: e-mail delivery and customer identity behind one HTTP API.

`Postern` is the synchronous client, `AsyncPostern` the asynchronous one. What an API call needs is loaded when it is
first used, so that importing this package is quick.
"""

from typing import TYPE_CHECKING, Any

from postern_sdk._version import __version__ as __version__

if TYPE_CHECKING:
    from postern_sdk import errors as errors
    from postern_sdk import events as events
    from postern_sdk import params as params
    from postern_sdk import problems as problems
    from postern_sdk import testing as testing
    from postern_sdk import types as types
    from postern_sdk import webhooks as webhooks
    from postern_sdk._async.client import AsyncPostern as AsyncPostern
    from postern_sdk._async.pages import AsyncPage as AsyncPage
    from postern_sdk._async.pages import AsyncPaged as AsyncPaged
    from postern_sdk._record import Record as Record
    from postern_sdk._record import UnknownEvent as UnknownEvent
    from postern_sdk._record import WebhookEvent as WebhookEvent
    from postern_sdk._record import etag as etag
    from postern_sdk._request import NOT_GIVEN as NOT_GIVEN
    from postern_sdk._request import NotGiven as NotGiven
    from postern_sdk._sync.client import Postern as Postern
    from postern_sdk._sync.pages import Page as Page
    from postern_sdk.errors import APIError as APIError
    from postern_sdk.errors import ConfigurationError as ConfigurationError
    from postern_sdk.errors import ConnectionFailed as ConnectionFailed
    from postern_sdk.errors import InvalidResponse as InvalidResponse
    from postern_sdk.errors import PosternError as PosternError
    from postern_sdk.errors import RequestTimedOut as RequestTimedOut
    from postern_sdk.errors import ServerUnavailable as ServerUnavailable
    from postern_sdk.errors import WebhookVerificationError as WebhookVerificationError

_MODULES = {
    "AsyncPostern": "_async.client",
    "AsyncPage": "_async.pages",
    "AsyncPaged": "_async.pages",
    "Postern": "_sync.client",
    "Page": "_sync.pages",
    "etag": "_record",
    "NOT_GIVEN": "_request",
    "NotGiven": "_request",
    "Record": "_record",
    "UnknownEvent": "_record",
    "WebhookEvent": "_record",
    "APIError": "errors",
    "ConfigurationError": "errors",
    "ConnectionFailed": "errors",
    "InvalidResponse": "errors",
    "PosternError": "errors",
    "RequestTimedOut": "errors",
    "ServerUnavailable": "errors",
    "WebhookVerificationError": "errors",
}
"""The module of each name that is loaded at its first use."""
_SUBMODULES = {"errors", "events", "params", "problems", "testing", "types", "webhooks"}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _SUBMODULES:
        return import_module(f"postern_sdk.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"postern_sdk.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_SUBMODULES})
