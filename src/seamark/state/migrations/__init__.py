"""The migrations of the state store, run by `state.migrate` inside one transaction."""
