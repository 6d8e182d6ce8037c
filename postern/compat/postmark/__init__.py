"""The mail operations of Postmark's API at `/compat/postmark`, as Postmark's own client libraries call them."""
