"""Compiler flags that a candidate needs beyond its target's own."""

from __future__ import annotations

from ireebench.candidate import Candidate

# Larger than any reduction: keeps a linalg.generic argmax in one dispatch (IREE 3.13 splits from 131072 elements on).
_NEVER_SPLIT = 2**62
# Smaller than any reduction that has parts. Not 1: IREE 3.13 takes that as no split at all.
_ALWAYS_SPLIT = 2


def split_flags(split: int) -> tuple[str, ...]:
    """Flags that make IREE split a plain op into chunks of `split` elements, as the attribute on the op does."""
    sizes = f"iree-dispatch-creation-set-split-reduction-sizes{{split-reduction-target-size={split}}}"
    return (
        "--iree-dispatch-creation-enable-split-reduction",
        f"--iree-preprocessing-pass-pipeline=builtin.module({sizes})",
    )


def shipping_flags(candidate: Candidate) -> tuple[str, ...]:
    """Flags that a user's own IR needs, which has no split attribute of ours, to become what the candidate is."""
    if candidate.form.name == "split_attr" and candidate.config.st is not None:
        return split_flags(candidate.config.st) if candidate.split_by_flags else ()
    return flags_of(candidate)


def flags_of(candidate: Candidate) -> tuple[str, ...]:
    """The flags of `candidate`, in order."""
    match candidate.variant.name, candidate.form.name:
        case "default", "split_attr":
            return ("--iree-dispatch-creation-enable-split-reduction",)
        case "ukernel", _:
            return (
                "--iree-rocm-enable-ukernels=all",
                f"--iree-dispatch-creation-split-argmax-threshold={_NEVER_SPLIT}",
            )
        case "generic", _ if candidate.config.st is not None:
            return (
                f"--iree-dispatch-creation-split-argmax-threshold={_ALWAYS_SPLIT}",
                f"--iree-dispatch-creation-split-argmax-tile-size={candidate.config.st}",
            )
        case "generic", _:
            return (f"--iree-dispatch-creation-split-argmax-threshold={_NEVER_SPLIT}",)
    return ()
