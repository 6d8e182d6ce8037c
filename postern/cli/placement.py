"""Where the tables are in a distributed database (see `kernel.database.distribution`): all rows of a project on one
server."""

from typing import TYPE_CHECKING

from postern.kernel.database.connections import has_citus

if TYPE_CHECKING:
    from psycopg import Connection

    from postern.kernel.database.distribution import Placement


def placement() -> "Placement":
    """Where the tables are. Those with `project_id` that are not named here are distributed by it."""
    from postern.kernel.database.distribution import Placement

    return Placement(
        reference=("accounts", "developers", "projects"),
        # Keys and images are found by a value that is unique over all projects. Mail servers are common to them.
        local=frozenset(("api_keys", "assets", "mail_sites", "mail_site_shares")),
        coordinator=frozenset(
            (
                "account_invitations",
                "account_mails",
                "acme_accounts",
                "billing_accounts",
                "billing_events",
                "certificate_orders",
                "certificates",
                "content_state",
                "deletions",
                "instance",
                "migration_progress",
                "mta_sts_policies",
                "rate_limits",
                "report_counts",
                "schema_migrations",
                "smtp_processes",
                "source_places",
                "source_warm_ups",
                "tls_reports",
                "tls_results",
                "unattributed_reports",
                "workers",
            )
        ),
        known=("deletions",),
        # The chain of a project has the id of the project, and so its server.
        columns={"audit_heads": "chain_id", "audit_log": "chain_id"},
        indexes={
            "sessions_access": "create unique index sessions_access_of_project on sessions (project_id, access_hash) "
            "where access_hash is not null"
        },
    )


def unfinished_distribution(connection: "Connection") -> str:
    """Why no process may use the database, if `postern distribute` must be run (again); otherwise empty."""
    # Most databases have no Citus. They need not wait for the import.
    if not has_citus(connection):
        return ""
    from postern.kernel.database.distribution import DistributionError, require_whole

    try:
        require_whole(connection, placement())
    except DistributionError as error:
        return str(error)
    return ""
