"""The networks: encoder (Eq. 1), heads, bootstrapping (Eq. 7) and loss (Eq. 8–10)."""
