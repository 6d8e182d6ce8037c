"""The API of Resend at `/compat/resend`, as Resend's own client libraries call it."""
