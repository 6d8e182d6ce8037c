"""The single sign-on operations under `/apps` paths."""

from postern.identity.sso import operations
from postern.identity.sso.model import AppSsoConnection, SsoConnection
from postern.kernel.http.pagination import LinkedList
from postern.kernel.values import as_seen

HERE = "/apps/{app_id}/organizations/{id}/sso-connections"
ONE = f"{HERE}/{{conn_id}}"


def seen_from_app(row: SsoConnection) -> AppSsoConnection:
    """A connection with `appId`, the former name of `projectId`."""
    return as_seen(AppSsoConnection, row, app_id=row.project_id)


list_app_connections = operations.list_sso_connections.as_view(HERE, seen_from_app, LinkedList[AppSsoConnection])
create_app_connection = operations.create_sso_connection.as_view(HERE, seen_from_app, AppSsoConnection)
get_app_connection = operations.get_sso_connection.as_view(ONE, seen_from_app, AppSsoConnection)
change_app_connection = operations.change_sso_connection.as_view(ONE, seen_from_app, AppSsoConnection)
delete_app_connection = operations.delete_sso_connection.at(ONE)
get_app_metadata = operations.get_sso_metadata.at(f"{ONE}/metadata.xml")
activate_app_connection = operations.activate_sso_connection.as_view(f"{ONE}/activate", seen_from_app, AppSsoConnection)
deactivate_app_connection = operations.deactivate_sso_connection.as_view(
    f"{ONE}/deactivate", seen_from_app, AppSsoConnection
)
rotate_app_certificate = operations.rotate_sso_certificate.as_view(
    f"{ONE}/rotate-certificate", seen_from_app, AppSsoConnection
)
test_app_connection = operations.test_sso_connection.at(f"{ONE}/test")
list_app_traces = operations.list_sso_traces.at(f"{ONE}/traces")
