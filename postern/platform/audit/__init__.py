"""Who changed what: an append-only log, hash-chained per project so that tampering shows."""
