"""`postern serve`, `api`, `worker`, `smtp`, `migrate` and `health`: run the whole server or one of its processes,
migrate the database, and check whether the server responds."""

from typing import Annotated

import typer

ApiProcesses = Annotated[int, typer.Option(min=1, max=64, help="Number of API processes.")]
Workers = Annotated[int, typer.Option(min=1, max=64, help="Number of worker processes.")]

HEALTH_TIMEOUT_SECONDS = 5.0


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(serve)
    app.command()(api)
    app.command()(worker)
    app.command()(smtp)
    app.command("migrate")(migrate_database)
    app.command()(health)


def serve(api_processes: ApiProcesses = 1, workers: Workers = 1) -> None:
    """Run the whole server: the database (embedded, unless DATABASE_URL is set), the API and workers, and an SMTP
    process if one of its ports is set.

    Environment variables: POSTERN_HOST (127.0.0.1), POSTERN_PORT (8025), POSTERN_DATA, DATABASE_URL. Ctrl-C finishes
    running requests and work, then stops all processes.
    """
    from postern.cli.supervisor import run_server

    raise typer.Exit(run_server(api_processes=api_processes, workers=workers))


def api() -> None:
    """Run one API process on POSTERN_HOST and POSTERN_PORT. Several may share one database."""
    from postern.cli.processes import run_api
    from postern.kernel.config import read_settings

    run_api(read_settings(), _migrated_database_url())


def worker() -> None:
    """Run one worker, which sends mail and webhooks and runs all other background jobs. Several may run."""
    from postern.cli.processes import run_worker
    from postern.kernel.config import read_settings

    run_worker(read_settings(), _migrated_database_url())


def smtp() -> None:
    """Run one SMTP server on the ports POSTERN_SUBMISSION_PORT, POSTERN_SUBMISSIONS_PORT and POSTERN_INBOUND_PORT."""
    from postern.cli.processes import run_smtp
    from postern.kernel.config import read_settings

    run_smtp(read_settings(), _migrated_database_url())


def migrate_database() -> None:
    """Apply the pending schema migrations to the database of DATABASE_URL or of the data folder."""
    from postern.cli.data_folder import connect_database
    from postern.cli.placement import unfinished_distribution
    from postern.kernel.config import read_settings
    from postern.kernel.database.connections import connect
    from postern.kernel.database.migrations import migrate

    settings = read_settings()
    with connect_database(settings) as (url, _):
        applied = migrate(url, max_wait=settings.database_wait)
        with connect(url) as connection:
            problem = unfinished_distribution(connection)
    for name in applied:
        print(f"applied {name}")
    print(problem or "The schema is up to date.")


def health(
    ready: Annotated[
        bool, typer.Option("--ready", help="Also check the database, its migrations and that a worker runs.")
    ] = False,
) -> None:
    """Check the API on POSTERN_HOST and POSTERN_PORT, for health checks of containers. Exits with 1 if a check fails.

    Requests /healthz, which fails only if a restart can help; with `--ready`, /readyz.
    """
    import http.client

    from postern.kernel.config import read_settings

    settings = read_settings()
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104 - compared, not bound
    connection = http.client.HTTPConnection(host, settings.port, timeout=HEALTH_TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/readyz" if ready else "/healthz")
        response = connection.getresponse()
        print(response.read().decode())
    except (OSError, http.client.HTTPException) as error:
        print(
            f"The API on {host}:{settings.port} does not respond: {error}. If it listens elsewhere, set POSTERN_HOST "
            "and POSTERN_PORT."
        )
        raise typer.Exit(1) from None
    raise typer.Exit(0 if response.status == http.client.OK else 1)


def _migrated_database_url() -> str:
    """Wait for the database and return its URL. Raises CannotRun if it lacks migrations of this release."""
    from postern.cli import CannotRun
    from postern.cli.data_folder import database_url
    from postern.cli.placement import unfinished_distribution
    from postern.kernel.config import read_settings
    from postern.kernel.database.migrations import connect_with_retries, pending_sync

    settings = read_settings()
    url = database_url(settings)
    with connect_with_retries(url, settings.database_wait) as connection:
        if names := pending_sync(connection):
            raise CannotRun(
                f"The database lacks {len(names)} migrations of this release, the first is {names[0]}. "
                "Run `postern migrate`."
            )
        if problem := unfinished_distribution(connection):
            raise CannotRun(problem)
    return url
