"""The session of the dashboard: a cookie in the browser that stands for a developer's tokens."""
