"""What is present and usable on this machine: a table of checks, each with its remedy."""
