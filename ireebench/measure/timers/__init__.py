"""Where time comes from."""
