"""Directed graphs, given as the successors of each node."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

Node = TypeVar("Node")


def reachable_nodes(start: Node, successors: Mapping[Node, Iterable[Node]]) -> set[Node]:
    """`start` and all nodes to which a path leads from it."""
    reached, pending = {start}, [start]
    while pending:
        new = set(successors.get(pending.pop(), ())) - reached
        reached |= new
        pending += new
    return reached
