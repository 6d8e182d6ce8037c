"""SAML 2.0 service provider (SP) protocol code: messages, signatures, encryption and metadata. No storage, no HTTP."""
