"""Reads and executes AMDGCN assembly."""
