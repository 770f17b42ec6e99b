"""Bars of the figures of each way to schedule, as an SVG picture."""

from xml.sax.saxutils import escape

ROW, LABEL, BAR, GAP = 18, 250, 330, 26
MEASURES = (
    ("mean wait, h", lambda f: f["wait_s"]["mean"] / 3600),
    ("p99 of waits, h", lambda f: f["wait_s"]["p99"] / 3600),
    ("mean bounded slowdown", lambda f: f["slowdown"]["mean"]),
    ("work lost, % of what is useful", lambda f: 100 * f["lost_of_useful"]),
    ("Jain's index", lambda f: f["jain"]),
    ("least obtained of what is due", lambda f: f["least_due"]),
)


def bars(title, values, top):
    """One measure: a bar for each name, None without one."""
    most = max([value for _, value in values if value is not None],
               default=0) or 1
    yield f'<text x="0" y="{top}" font-weight="bold">{escape(title)}</text>'
    for index, (name, value) in enumerate(values):
        y = top + 8 + index * ROW
        text = "-" if value is None else f"{value:.4g}"
        width = 0 if value is None else BAR * value / most
        yield (f'<text x="{LABEL - 8}" y="{y + 12}" text-anchor="end">'
               f'{escape(name)}</text>'
               f'<rect x="{LABEL}" y="{y + 2}" width="{width:.1f}" '
               f'height="{ROW - 5}" fill="#4878a8"/>'
               f'<text x="{LABEL + width + 5:.1f}" y="{y + 12}">{text}</text>')


def draw(summary):
    """The picture of {name: figures}."""
    parts, top = [], 20
    for title, measure in MEASURES:
        values = [(name, measure(figures))
                  for name, figures in sorted(summary.items())]
        parts.extend(bars(title, values, top))
        top += len(values) * ROW + GAP + 8
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="680" '
            f'height="{top}" font-family="sans-serif" font-size="12">\n'
            '<rect width="100%" height="100%" fill="white"/>\n' +
            "\n".join(parts) + "\n</svg>\n")
