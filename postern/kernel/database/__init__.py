"""The database: connections, statements as typed functions, migrations, and the embedded PostgreSQL server."""
