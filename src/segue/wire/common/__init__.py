"""Code that several protocols share."""
