"""Reads what the ROCm profilers write. One file a format; standard library and numpy only."""
