"""Ways a message can leave: each tries once, stores nothing and never retries."""
