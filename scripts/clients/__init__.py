"""Real clients and stand-ins of providers: `make clients` runs the ones against the others."""
