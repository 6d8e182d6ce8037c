"""Contents of messages in a folder or an object store: `POSTERN_CONTENT_STORE`."""

PUBLIC_MODULES = ()
