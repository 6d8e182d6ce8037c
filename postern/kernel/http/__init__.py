"""The HTTP API: operations, binding of requests, admission, responses, pagination and the OpenAPI document."""
