"""What all figures share: colours, axes, captions, times above ratios."""

from matplotlib import pyplot, ticker

# Colours of Okabe and Ito, which the colour-blind tell apart; markers and dashes serve black and white.
BASELINE = {"color": "#000000", "marker": "s", "linestyle": "--", "markerfacecolor": "white"}
ONE_SIDED = {"color": "#0072B2", "marker": "o", "linestyle": "-"}
MUTUAL = {"color": "#D55E00", "marker": "^", "linestyle": "-."}
IDEAL = {"color": "#777777", "linestyle": ":"}

STYLE = {
    "svg.hashsalt": "nearfield",
    # letters stay text; where there is no DejaVu Sans, Verdana is as wide
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.grid": True,
    "axes.grid.which": "major",
    "grid.color": "#dddddd",
    "axes.axisbelow": True,
    "legend.fontsize": 8,
    "legend.frameon": True,
    "lines.markersize": 5,
    "lines.linewidth": 1.4,
    "hatch.linewidth": 0.5,
}

PRECISIONS = {"f32": "single precision (f32)", "f64": "double precision (f64)"}


def ratio(over, under):
    """[(number, over / under)] where both curves have the number"""
    under = dict(under)
    return [(n, value / under[n]) for n, value in over if n in under]


def draw_curve(axes, curve, label, style, band=()):
    axes.plot([n for n, _ in curve], [value for _, value in curve], label=label, **style)
    if band:
        axes.fill_between(*zip(*band), color=style["color"], alpha=0.25, linewidth=0)


def caption(figure, *lines):
    figure.text(0.01, 0.005, "\n".join(lines), fontsize=7, color="#333333", va="bottom")


def count_axis(axes, name, numbers, base=None):
    axes.set_xscale("log", **({"base": base} if base else {}))
    axes.set_xticks(numbers, [f"{n:,}" if n < 1000000 else "1e6" for n in numbers])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(name)


def in_words(seconds):
    """20 us, 1 s"""
    unit, name = next((u for u in ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")) if seconds >= 0.999 * u[0]))
    return f"{seconds / unit:.3g} {name}"


def time_axis(axis, steps=(1,)):
    """A logarithmic axis of seconds with labels at `steps` of each decade"""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_locator(ticker.LogLocator(subs=steps, numticks=99))
    axis.set_major_formatter(lambda seconds, _: in_words(seconds))
    axis.set_minor_locator(ticker.NullLocator())


def times_and_ratios(title, columns, numbers, baseline, ratio_name, notes):
    """Above the time of a call against N, below how many times as fast as the baseline each form is; a
    column for each precision: {precision: [(label, curve, style, band)]}, the baseline first."""
    figure, axes = pyplot.subplots(
        2, len(columns), figsize=(8, 6), sharex=True, sharey="row", height_ratios=(3, 2), squeeze=False
    )
    for column, (precision, curves) in enumerate(columns.items()):
        above, below = axes[:, column]
        for label, curve, style, band in curves:
            draw_curve(above, curve, label, style, band)
        for label, curve, style, _ in curves[1:]:
            draw_curve(below, ratio(curves[0][1], curve), label, style)
        below.axhline(1, **BASELINE | {"marker": None, "linewidth": 1})
        time_axis(above.yaxis)
        above.set_title(precision)
        count_axis(below, "points in the box, N", numbers)
    axes[1][0].set_ylim(bottom=0)
    axes[0][0].set_ylabel("time of one call")
    axes[1][0].set_ylabel(ratio_name)
    axes[0][0].legend(loc="upper left")
    figure.suptitle(title, fontsize=10)
    figure.tight_layout(rect=(0, 0.02 + 0.022 * len(notes), 1, 1))
    caption(figure, *notes)
    return figure
