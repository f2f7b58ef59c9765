"""The sweep: plan, compile, measure, resume."""
