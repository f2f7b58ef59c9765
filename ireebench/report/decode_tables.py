"""What `ireebench decode` prints: the GEMVs of a token, and the tokens a second that follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ireebench.problems.ops.gemv import bytes_breakdown, bytes_moved
from ireebench.report.decode import GB, GIB, NOT_COUNTED, Measured, TokenGemv, measured_rate, tokens_per_second
from ireebench.report.table import Column, Table


@dataclass(frozen=True, slots=True)
class Answer:
    """A token's GEMVs, bandwidths by name (GB/s) and measured times by projection. `stored`: a store was asked."""

    gemvs: tuple[TokenGemv, ...]
    bandwidths: tuple[tuple[str, float], ...]
    times: Mapping[str, Measured]
    stored: bool

    @property
    def bytes_per_token(self) -> int:
        """All bytes that the GEMVs of one token must move."""
        return sum(g.count * bytes_moved(g.problem) for g in self.gemvs)

    @property
    def bytes_counted(self) -> dict[str, int]:
        """`bytes_per_token` by what is read or written."""
        parts: dict[str, int] = {}
        for g in self.gemvs:
            for name, size in bytes_breakdown(g.problem):
                parts[name] = parts.get(name, 0) + g.count * size
        return parts

    def gemv_table(self) -> Table:
        """A row a projection; the title names the bytes that are counted and what is not."""
        total, first = self.bytes_per_token, self.gemvs[0].problem
        counted = ", ".join(f"{name} {size / GB:.3f}" for name, size in self.bytes_counted.items())
        shown = 9 if self.stored else 6
        titles = ("gemv", "N", "K", "a token", "MB each", "GB a token", "best us", "timed in", "by")
        return Table(
            tuple(Column(c, 3) for c in titles[:shown]),
            tuple(self._row(g)[:shown] for g in self.gemvs),
            f"{first.model}, {first.dtype} weights: {total / GB:.3f} GB ({total / GIB:.3f} GiB) a token\n"
            f"counted, GB: {counted}\nnot counted: {NOT_COUNTED}",
        )

    def _row(self, g: TokenGemv) -> tuple[str | int | float | None, ...]:
        moved, time = bytes_moved(g.problem), self.times.get(g.projection)
        _, n, k = g.problem.shape
        best = (None, None, None) if time is None else (time.span_us, "finals" if time.final else "search", time.label)
        return (g.projection, n, k, g.count, moved / 1e6, g.count * moved / GB, *best)

    def limit_table(self) -> Table:
        """Tokens a second by bandwidth alone and by the measured GEMVs."""
        total = self.bytes_per_token
        rows: list[tuple[str, float | None, float | None]] = [
            (f"bandwidth alone ({where})", bandwidth, tokens_per_second(total, bandwidth))
            for where, bandwidth in self.bandwidths
        ]
        if self.stored:
            missing = [g.projection for g in self.gemvs if g.projection not in self.times]
            searched = [g.projection for g in self.gemvs if (m := self.times.get(g.projection)) and not m.final]
            name = f"measured GEMVs (not measured: {', '.join(missing)})" if missing else "measured GEMVs, one by one"
            if searched and not missing:
                name += f" (search alone: {', '.join(searched)})"
            rate = measured_rate(self.gemvs, self.times)
            rows.append((name, None if rate is None else total * rate / GB, rate))
        if not rows:
            rows = [("give --from DB, --ceiling GB/S or --target for a bound", None, None)]
        return Table((Column("limit"), Column("GB/s", 0), Column("tokens/s", 1)), tuple(rows))

    def document(self) -> dict[str, object]:
        """The same for other programs."""
        total, first = self.bytes_per_token, self.gemvs[0].problem
        return {
            "model": first.model,
            "weights": first.dtype,
            "bytes_per_token": total,
            "bytes_counted": self.bytes_counted,
            "not_counted": NOT_COUNTED,
            "gemvs": [self._gemv(g) for g in self.gemvs],
            "bounds": [
                {"bandwidth": where, "gb_per_s": b, "tokens_per_second": tokens_per_second(total, b)}
                for where, b in self.bandwidths
            ],
            "measured_tokens_per_second": measured_rate(self.gemvs, self.times),
        }

    def _gemv(self, g: TokenGemv) -> dict[str, object]:
        time = self.times.get(g.projection)
        return {
            "projection": g.projection,
            "shape": list(g.problem.shape),
            "count": g.count,
            "bytes_moved": bytes_moved(g.problem),
            "span_us": None if time is None else time.span_us,
            "by": None if time is None else time.label,
            "final": None if time is None else time.final,
        }
