"""How the mail is doing: totals, days and domains, answered from sums that are kept as things happen."""
