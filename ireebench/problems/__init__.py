"""What is computed: the catalogue, seeded inputs, the reference, the check, bytes and operations."""
