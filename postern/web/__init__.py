"""Pages for people: layout, components, guides, and the files they need."""
