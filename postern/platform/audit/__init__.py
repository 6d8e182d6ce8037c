"""The audit log: append-only, with a hash chain per project that makes tampering evident."""
