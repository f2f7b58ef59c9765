"""IR: problem, variant and configuration become MLIR and tuning specs."""
