"""Other implementations of the same ops."""
