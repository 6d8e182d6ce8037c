"""Writes the parts of the SDKs that follow from the OpenAPI document: `script/client`."""
