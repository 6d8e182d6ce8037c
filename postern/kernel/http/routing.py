"""Registers all routes with Litestar at once.

Litestar registers handlers one by one, and each time walks through all routes that it has. With hundreds of routes that
takes half of the time in which the application is built.
"""

from collections.abc import Iterable
from typing import Any

from litestar import Litestar, Router
from litestar.handlers import HTTPRouteHandler
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin
from litestar.types.internal_types import RouteHandlerMapItem


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

    def __deepcopy__(self, _: dict[int, Any]) -> "AllRoutes":
        """The object itself: Litestar copies a router, because it could be registered several times."""
        return self

    @property
    def route_handler_method_map(self) -> dict[str, RouteHandlerMapItem]:
        return self._by_path


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
