"""Protocols of Amazon Web Services: signed requests, and the notifications of SNS and SES."""
