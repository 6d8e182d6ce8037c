from tests.identity.customers.conftest import auth

__all__ = ["auth"]
