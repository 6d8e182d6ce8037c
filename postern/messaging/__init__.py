"""The e-mail half: sends, templates, domains, audiences, campaigns, automations, tracking and analytics."""
