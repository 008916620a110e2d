"""`seamark demo`: a shop, its pipeline, and a story of rows loaded, changed, interrupted and accounted for."""
