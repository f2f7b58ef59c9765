"""Just enough SVG for the page's charts: axes, marks and labels, coloured by CSS classes so that both themes work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr


@dataclass(frozen=True, slots=True)
class LogScale:
    """Maps values (above 0) from `low`..`high` to pixels `start`..`end`, logarithmically."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The pixel of `value`; values outside are put at the border."""
        inside = min(max(value, self.low), self.high)
        share = math.log(inside / self.low) / math.log(self.high / self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Round values inside the scale: powers of ten, with 2 and 5 between where those are few, or even steps."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        tens = [10.0**e for e in range(first, last + 1)]
        steps = (1, 2, 5) if len(tens) <= 5 else (1,)
        found = [t * s for t in tens for s in steps if self.low <= t * s <= self.high]
        return found if len(found) > 2 else self._even()

    def _even(self) -> list[float]:
        """About five multiples of a round step, for a scale that spans less than a decade."""
        raw = (self.high - self.low) / 5
        size = 10.0 ** math.floor(math.log10(raw))
        step = next((size * s for s in (1, 2, 5, 10) if size * s >= raw), raw)
        first = math.ceil(self.low / step)
        return [round(n * step, 10) for n in range(first, math.floor(self.high / step) + 1)]


def log_scale(values: Sequence[float], start: float, end: float, room: float = 1.25) -> LogScale:
    """A scale that holds all `values` with some room around them."""
    positive = [v for v in values if v > 0] or [1.0]
    return LogScale(min(positive) / room, max(positive) * room, start, end)


def text(x: float, y: float, content: str, css: str = "", anchor: str = "start") -> str:
    """A label."""
    return f'<text x="{x:g}" y="{y:g}" class={quoteattr(css)} text-anchor="{anchor}">{escape(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> str:
    """A straight line."""
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class={quoteattr(css)}/>'


# Shapes tell series apart without colour; each is centred on 0, 0 and about ten pixels wide.
_SHAPES = {
    "best": '<circle r="5"/>',
    "ships": '<rect x="-4.5" y="-4.5" width="9" height="9"/>',
    "baseline": '<path d="M0-5.5 5.5 4.5h-11z"/>',
    "default": '<path d="M0-6 6 0 0 6-6 0z"/>',
    "published": '<path d="M-4.5-4.5 4.5 4.5M4.5-4.5-4.5 4.5"/>',
    "shuffle": '<circle r="4.5"/>',
}


def mark(x: float, y: float, series: str, title: str = "") -> str:
    """A series' mark, with a tooltip."""
    tip = f"<title>{escape(title)}</title>" if title else ""
    return f'<g transform="translate({x:g} {y:g})" class="mark {series}">{_SHAPES[series]}{tip}</g>'


def legend(x: float, y: float, entries: Sequence[tuple[str, str]]) -> str:
    """(series, what it is), in one line from `x` on."""
    parts, at = [], x
    for series, what in entries:
        inside = f"{mark(at + 6, y - 4, series)}{text(at + 16, y, what)}"
        parts.append(f'<g class="{series}-only">{inside}</g>')
        at += 30 + 6.6 * len(what)
    return "".join(parts)


def picture(width: float, height: float, name: str, title: str, body: str) -> str:
    """A whole chart; `title` is what a screen reader says of it. `name` makes its ids unique in the page."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-labelledby="{name}-title" class="chart">'
        f'<title id="{name}-title">{escape(title)}</title>{body}</svg>'
    )
