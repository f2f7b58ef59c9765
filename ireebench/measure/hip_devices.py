"""Which GPU a `hip://...` URI means, under ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES. Pure functions.

ROCr hides agents first; HIP numbers what is left, hides by its own variable, and numbers again. `hip://N` counts the
result; `hip://GPU-<uuid>` names a card whatever its number. The rules of both variables: a list of indices or UUIDs in
the order wanted; the list ends at the first entry that names no device; -1 hides all from there.

A UUID has two spellings. ROCr's is the card's 64-bit serial, "GPU-6a1f0c7e2b3d4e5f". HIP hands those sixteen characters
out as sixteen bytes, which IREE prints in hex with dashes, "GPU-36613166-3063-3765-3262-336434653566". Both are taken.
Sources: ROCm documentation, "GPU isolation techniques"; iree-org/iree runtime/src/iree/hal/drivers/hip/hip_driver.c.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ireebench.errors import UsageError

ROCR, HIP = "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"
_UUID = re.compile(r"^GPU-[0-9a-f]+(?:-[0-9a-f]+)*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HipUri:
    """A parsed URI: exactly one of `index` and `uuid` is set; `hip` alone is index 0."""

    index: int | None
    uuid: str | None


@dataclass(frozen=True, slots=True)
class HipDevice:
    """A GPU that a process can see. `index` is its number in hip://N, `physical` its number with nothing hidden."""

    index: int
    physical: int
    uuid: str


def rocr_uuid(uuid: str) -> str:
    """ROCr's spelling of a UUID, in lower case after "GPU-"; one that is in neither spelling stays as it is."""
    digits = uuid[4:].replace("-", "").lower()
    if len(digits) == 32:
        text = bytes.fromhex(digits).decode("ascii", "replace")
        if re.fullmatch(r"[0-9a-fA-F]{16}", text):
            return f"GPU-{text.lower()}"
    return f"GPU-{uuid[4:].lower()}"


def parse_uri(uri: str) -> HipUri:
    """Reads "hip", "hip://N" or "hip://GPU-<uuid>"; raises UsageError that shows the forms."""
    scheme, _, rest = uri.partition("://")
    if scheme != "hip":
        raise UsageError(f"device '{uri}': not a HIP device; write hip://0 or hip://GPU-<uuid>")
    if not rest:
        return HipUri(0, None)
    if rest.isdecimal():
        return HipUri(int(rest), None)
    if _UUID.match(rest):
        return HipUri(None, rest)
    raise UsageError(f"device '{uri}': '{rest}' is no number and no GPU-<uuid>; write hip://0 or hip://GPU-<uuid>")


def visible(uuids: Sequence[str], env: Mapping[str, str]) -> tuple[HipDevice, ...]:
    """What a process with this environment sees of a machine whose GPUs have these UUIDs, as HIP numbers them."""
    left = list(range(len(uuids)))
    for variable in (ROCR, HIP):
        if variable in env:
            left = [left[i] for i in _chosen(env[variable], [uuids[p] for p in left])]
    return tuple(HipDevice(i, physical, uuids[physical]) for i, physical in enumerate(left))


def _chosen(text: str, uuids: Sequence[str]) -> list[int]:
    """Positions that a visibility list keeps, in its order. A repeated entry ends the list, too."""
    known = {rocr_uuid(u): i for i, u in enumerate(uuids)}
    kept: list[int] = []
    for entry in (e.strip() for e in text.split(",")):
        position = int(entry) if entry.isdecimal() else known.get(rocr_uuid(entry), -1)
        if not 0 <= position < len(uuids) or position in kept:
            break
        kept.append(position)
    return kept


def select(uri: str, devices: Sequence[HipDevice], env: Mapping[str, str]) -> HipDevice:
    """The device that a URI means among those visible; raises UsageError that lists them and what hides the rest."""
    wanted = parse_uri(uri)
    for d in devices:
        if d.index == wanted.index or (wanted.uuid is not None and rocr_uuid(d.uuid) == rocr_uuid(wanted.uuid)):
            return d
    seen = ", ".join(f"hip://{d.index} ({d.uuid})" for d in devices) or "none"
    hidden = "; ".join(f"{v}={env[v]}" for v in (ROCR, HIP) if v in env)
    raise UsageError(f"no device '{uri}'; visible: {seen}{f'; hidden by {hidden}' if hidden else ''}")


def only(device: HipDevice, env: Mapping[str, str]) -> dict[str, str]:
    """The environment for a program that takes no device option: it sees this GPU alone, as its number 0.

    A UUID is used, since a number would be counted among what the caller's ROCR_VISIBLE_DEVICES leaves.
    """
    rest = {k: v for k, v in env.items() if k != HIP}
    return {**rest, ROCR: rocr_uuid(device.uuid)}
