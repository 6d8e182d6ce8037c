"""Statistics of sends: totals, by day and by domain, read from counters that are updated with every send."""
