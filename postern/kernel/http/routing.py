"""Registers all routes with Litestar at once, and without what Litestar would prepare for each of them.

Litestar registers handlers one by one, and each time walks through all routes that it has. For each handler it makes
models of the arguments and the response, and for each path a handler of OPTIONS with the same. With hundreds of routes
this takes most of the time in which the application is built.
"""

from collections.abc import Iterable
from typing import Any

from litestar import Litestar, Router
from litestar.handlers import HTTPRouteHandler
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin
from litestar.types import ASGIApp, Receive, Scope, Send
from litestar.types.internal_types import RouteHandlerMapItem


class AsgiRoute(HTTPRouteHandler):
    """A route that is served by an ASGI application. Litestar finds it and handles its exceptions.

    Unlike a handler of Litestar for ASGI applications, it has a method and shares its path with other routes.
    """

    def __init__(self, path: str, *, http_method: str, application: ASGIApp, **kwargs: Any) -> None:
        """`kwargs` are the other arguments of HTTPRouteHandler."""

        def serve_instead(app: ASGIApp) -> ASGIApp:
            del app  # Litestar's own handling of the route.
            return application

        super().__init__(
            path,
            http_method=http_method,  # pyright: ignore[reportArgumentType] - a valid method
            middleware=[serve_instead],
            status_code=200,
            **kwargs,
        )

        async def handle() -> None:
            raise AssertionError("The middleware of the route responds.")

        self._fn = handle

    def on_registration(self, app: Litestar) -> None:
        """Without the parts that Litestar resolves for its own handling: arguments, guards and responses."""

    def create_kwargs_model(self, path_parameters: Any) -> Any:
        """None: Litestar's own handling would read the arguments with it."""


class AllRoutes(Router):
    """The handlers of an application, grouped by path."""

    def __init__(self, handlers: Iterable[HTTPRouteHandler]) -> None:
        """Raises ValueError if two handlers have the same path and method."""
        super().__init__("/", route_handlers=[])
        self.handlers = list(handlers)
        self._by_path: dict[str, RouteHandlerMapItem] = {}
        for handler in self.handlers:
            for path in handler.paths:
                of_path = self._by_path.setdefault(path, {})
                if not of_path.keys().isdisjoint(handler.http_methods):
                    raise ValueError(f"{path} has two handlers for the same method.")
                of_path.update(dict.fromkeys(handler.http_methods, handler))
        for path, of_path in self._by_path.items():
            if "OPTIONS" not in of_path:
                allowed = ", ".join(sorted([*of_path, "OPTIONS"]))
                options = AsgiRoute(path, http_method="OPTIONS", application=_options_application(allowed))
                of_path["OPTIONS"] = options
                self.handlers.append(options)

    def __deepcopy__(self, _: dict[int, Any]) -> "AllRoutes":
        """The object itself: Litestar copies a router, because it could be registered several times."""
        return self

    @property
    def route_handler_method_map(self) -> dict[str, RouteHandlerMapItem]:
        return self._by_path


def _options_application(allowed: str) -> ASGIApp:
    """The ASGI application that responds to OPTIONS with the methods of a path (RFC 9110 §9.3.7)."""
    headers = [(b"allow", allowed.encode())]

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return respond


class FastLitestar(Litestar):
    """Litestar for one AllRoutes, and routers whose paths are not in it."""

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        """Without those for pydantic and attrs, which take long to import if they happen to be installed."""
        return [*plugins, MsgspecDIPlugin()]

    def register(self, value: Any) -> None:
        """Register routes. Handlers in AllRoutes belong to the application directly, like handlers without a router."""
        if isinstance(value, AllRoutes):
            for handler in value.handlers:
                handler.owner = self
        super().register(value)

    @property
    def route_handler_method_map(self) -> dict[str, RouteHandlerMapItem]:
        """Empty: Litestar computes it anew for each path, to find handlers that were registered for it before."""
        return {}
