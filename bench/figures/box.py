"""The box rules of cell lists, as a picture: nothing is measured."""

from matplotlib import pyplot

from figures.style import BASELINE, MUTUAL, ONE_SIDED, caption

VECTORS = (4, 0), (6.4, 3)  # the box, as it is given
REDUCED = (4, 0), (-1.6, 3)  # the second vector minus twice the first
RADIUS = 1.5


def cell(axes, corner, vectors, **style):
    (ax, ay), (bx, by) = vectors
    x, y = corner
    axes.plot([x, x + ax, x + ax + bx, x + bx, x], [y, y + ay, y + ay + by, y + by, y], **style)


def box():
    """A sheared box in 2D: its reduced cell, a point outside with its image, a pair with its S."""
    figure, axes = pyplot.subplots(figsize=(6.4, 3.2))
    for m in range(-1, 3):
        for n in range(-1, 2):
            corner = [m * REDUCED[0][k] + n * REDUCED[1][k] for k in (0, 1)]
            cell(axes, corner, REDUCED, color="#dddddd", linewidth=0.8)
    cell(axes, (0, 0), REDUCED, label="reduced cell", **{**ONE_SIDED, "marker": ""})
    cell(axes, (0, 0), VECTORS, label="box as given", **{**MUTUAL, "marker": ""})
    for a, (x, y) in enumerate(VECTORS):
        axes.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": MUTUAL["color"]})
        axes.annotate(f"vectors[{a}]", (0.75 * x, 0.75 * y), (8, -10), textcoords="offset points",
                      color=MUTUAL["color"])
    u_i, image = (0, 0.9), (-1.1, 1.6)
    u_j = image[0] + VECTORS[0][0], image[1]
    x_i = u_i[0] + VECTORS[1][0] - VECTORS[0][0], u_i[1] + VECTORS[1][1]
    axes.add_patch(pyplot.Circle(u_i, RADIUS, fill=False, linestyle=":", color="#777777"))
    axes.plot(*zip(u_i, u_j), **{**BASELINE, "linestyle": "", "markerfacecolor": "#000000"})
    axes.plot(*zip(x_i, image), **{**BASELINE, "linestyle": ""})
    axes.annotate("", u_i, x_i, arrowprops={"arrowstyle": "->", "linestyle": "--"})
    axes.annotate("", image, u_j, arrowprops={"arrowstyle": "->", "linestyle": "--"})
    for text, at, place in (("$x_i$, w = (-1, 1)", x_i, (6, 4)), ("$u_i$", u_i, (6, -10)),
                            ("$x_j = u_j$, w = (0, 0)", u_j, (8, -3)), ("image m = (-1, 0)", image, (-30, 8)),
                            ("R", (u_i[0], u_i[1] - RADIUS), (5, 4))):
        axes.annotate(text, at, place, textcoords="offset points")
    axes.set(aspect="equal", xlim=(-3.2, 10.8), ylim=(-1, 4.6), xticks=[], yticks=[])
    axes.legend(loc="lower right")
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    caption(figure, "Point i lies outside the reduced cell: u_i = x_i - w_i vectors. The pair is (i, j, S) with",
            "S = w_i - w_j + m = (-2, 1): x_j + S vectors is as far from x_i as the image m of u_j is from u_i.")
    return figure
