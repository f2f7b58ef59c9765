"""A configuration: a point of the search space."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ireebench.errors import UsageError


@dataclass(frozen=True, slots=True, order=True)
class Config:
    """Values of the knobs; None where a knob does not apply. `Config()` is the compiler's own choice.

    GPU: sg subgroups per workgroup over the reduction, pr partial-reduction tile (elements), st split tile (elements),
    th elements a thread loads at once; sg2, pr2, th2 the same for a split's second stage; rw rows per workgroup,
    sr subgroups over rows (GEMV), wpe waves per execution unit (a hint to the register allocator).
    CPU: dist rows per workgroup, vec vector tile (elements), st split tile (elements).
    """

    sg: int | None = None
    pr: int | None = None
    st: int | None = None
    th: int | None = None
    sg2: int | None = None
    pr2: int | None = None
    th2: int | None = None
    rw: int | None = None
    sr: int | None = None
    wpe: int | None = None
    dist: int | None = None
    vec: int | None = None

    def items(self) -> tuple[tuple[str, int], ...]:
        """The knobs that are set, as ("SG", 4), in declaration order."""
        return tuple((title, v) for title, name in _TITLES if (v := getattr(self, name)) is not None)

    def as_dict(self) -> dict[str, int]:
        """For JSON: {"SG": 4, ...}; unset knobs are left out."""
        return dict(self.items())

    @property
    def is_default(self) -> bool:
        """Whether nothing is set."""
        return all(getattr(self, name) is None for _, name in _TITLES)

    def __str__(self) -> str:
        return ",".join(f"{k}={v}" for k, v in self.items()) or "default"

    @classmethod
    def parse(cls, text: str) -> Config:
        """Reads "SG=4,PR=2048" (any case) or "default"; raises UsageError that names the culprit."""
        if text.strip().lower() in ("", "default"):
            return cls()
        known = {f.name for f in fields(cls)}
        values: dict[str, int] = {}
        for part in text.split(","):
            name, _, number = part.partition("=")
            key = name.strip().lower()
            if key not in known:
                allowed = ", ".join(k.upper() for k in sorted(known))
                raise UsageError(f"configuration '{text}': no knob is called '{name.strip()}'; allowed: {allowed}")
            if not number.strip().isdecimal() or len(number.strip()) > 18 or int(number) < 1:
                raise UsageError(
                    f"configuration '{text}': {name.strip()} needs a positive whole number, not '{number}'"
                )
            if key in values:
                raise UsageError(f"configuration '{text}': {name.strip()} is given twice")
            values[key] = int(number)
        return cls(**values)


# Looked up once: a sweep asks tens of thousands of configurations.
_TITLES: tuple[tuple[str, str], ...] = tuple((f.name.upper(), f.name) for f in fields(Config))
