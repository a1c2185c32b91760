"""What protocols share."""
