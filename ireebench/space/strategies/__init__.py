"""Search strategies: which candidates to measure, in which order."""
