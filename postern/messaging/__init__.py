"""E-mail delivery: sends, templates, domains, audiences, campaigns, automations, tracking and analytics."""
