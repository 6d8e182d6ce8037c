"""The mail operation of SendGrid's API at `/compat/sendgrid`, as SendGrid's own client libraries call it."""
