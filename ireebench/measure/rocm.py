"""Where ROCm is, which version it is, and what is known to be wrong with it. Standard library only."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

# GPU time stamps were wrong on MI300X up to ROCm 6.3.x (an End equal to the next Start); mended in 6.4.2.
FIRST_GOOD = (6, 4, 2)
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def rocm_root(env: Mapping[str, str] = os.environ) -> Path:
    """Where ROCm is installed: $ROCM_PATH, else /opt/rocm (which may be absent)."""
    return Path(env.get("ROCM_PATH") or "/opt/rocm")


def find_tool(name: str, env: Mapping[str, str] = os.environ) -> Path | None:
    """A ROCm program on PATH or in ROCm's own folders; None when it is nowhere."""
    found = shutil.which(name, path=env.get("PATH"))
    if found:
        return Path(found)
    own = rocm_root(env) / "bin" / name
    return own if os.access(own, os.X_OK) else None


def rocm_version(tool: Path | None = None, env: Mapping[str, str] = os.environ) -> str | None:
    """ROCm's version, "6.4.2": as the profiler tells it, else from its folder, else from ROCm's version file."""
    if tool is not None:
        told = _told_by(tool)
        if told:
            return told
        in_path = re.search(r"rocm-(\d+\.\d+(?:\.\d+)?)", str(tool.resolve()))
        if in_path:
            return in_path.group(1)
    roots = [tool.resolve().parent.parent] if tool is not None else []
    for root in (*roots, rocm_root(env)):
        try:
            text = (root / ".info" / "version").read_text()
        except (OSError, UnicodeDecodeError):
            continue
        if found := _VERSION.search(text):
            return found.group(0)
    return None


def _told_by(tool: Path) -> str | None:
    """From `rocprofv3 --version`, whose lines are "key: value"; older ones have no rocm_version."""
    try:
        done = subprocess.run([str(tool), "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"rocm_version\s*:\s*(\d+\.\d+(?:\.\d+)?)", done.stdout + done.stderr)
    return found.group(1) if found else None


def version_warning(version: str | None) -> str | None:
    """What a user must know about times from this ROCm; None when nothing."""
    if version is None:
        return "the ROCm version is not known; before 6.4.2 GPU time stamps on MI300X were wrong"
    found = _VERSION.match(version)
    if found and tuple(int(g or 0) for g in found.groups()) < FIRST_GOOD:
        return f"ROCm {version}: GPU time stamps on MI300X were wrong before 6.4.2; update ROCm before quoting a time"
    return None
