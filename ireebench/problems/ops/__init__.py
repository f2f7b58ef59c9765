"""Ops: inputs, reference, check, bytes and operations of each."""
