"""Reachability in directed graphs."""

from postern.kernel.graphs import reachable_nodes


def test_nodes_to_which_a_path_leads_are_reachable():
    successors = {"a": ["b", "c"], "b": ["d"], "d": ["a"], "e": ["a"]}
    assert reachable_nodes("a", successors) == {"a", "b", "c", "d"}
    assert reachable_nodes("e", successors) == {"a", "b", "c", "d", "e"}
    assert reachable_nodes("c", successors) == {"c"}
