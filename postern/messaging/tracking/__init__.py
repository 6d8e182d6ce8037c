"""Opens, clicks and unsubscribes: what readers do with a message, told apart from what machines do."""
