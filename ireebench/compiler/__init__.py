"""The real iree-compile under limits: artifacts, evidence, cache."""
