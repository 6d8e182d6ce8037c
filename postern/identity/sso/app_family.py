"""The single sign-on operations under `/apps` paths."""

from postern.identity.sso import operations
from postern.identity.sso.model import AppSsoConnection, SsoConnection
from postern.kernel.http.pagination import LinkedList
from postern.kernel.values import build_view

CONNECTIONS = "/apps/{app_id}/organizations/{id}/sso-connections"
CONNECTION = f"{CONNECTIONS}/{{conn_id}}"


def as_app_connection(row: SsoConnection) -> AppSsoConnection:
    """A connection with `appId`, the former name of `projectId`."""
    return build_view(AppSsoConnection, row, app_id=row.project_id)


# `as_view` adds an operation under another path, and converts its results with `as_app_connection`; `at` adds it
# without conversion.
list_app_connections = operations.list_sso_connections.as_view(
    CONNECTIONS, as_app_connection, LinkedList[AppSsoConnection]
)
create_app_connection = operations.create_sso_connection.as_view(CONNECTIONS, as_app_connection, AppSsoConnection)
get_app_connection = operations.get_sso_connection.as_view(CONNECTION, as_app_connection, AppSsoConnection)
change_app_connection = operations.change_sso_connection.as_view(CONNECTION, as_app_connection, AppSsoConnection)
delete_app_connection = operations.delete_sso_connection.at(CONNECTION)
get_app_metadata = operations.get_sso_metadata.at(f"{CONNECTION}/metadata.xml")
activate_app_connection = operations.activate_sso_connection.as_view(
    f"{CONNECTION}/activate", as_app_connection, AppSsoConnection
)
deactivate_app_connection = operations.deactivate_sso_connection.as_view(
    f"{CONNECTION}/deactivate", as_app_connection, AppSsoConnection
)
rotate_app_certificate = operations.rotate_sso_certificate.as_view(
    f"{CONNECTION}/rotate-certificate", as_app_connection, AppSsoConnection
)
test_app_connection = operations.test_sso_connection.at(f"{CONNECTION}/test")
list_app_traces = operations.list_sso_traces.at(f"{CONNECTION}/traces")
