"""freud: a tree of boxes, in f32, with distances and vectors in the result. Its box is periodic: for an open one it is
larger than the points by more than the cutoff. LinkCell took a thousand times as long as AABBQuery (freud 3.4.0)."""

import freud
from cases import Method

KIND = "searches"


def version():
    return "freud-analysis " + freud.__version__


def methods(problem, ours):
    freud.parallel.set_num_threads(ours.threads)
    length = problem.period or 1 + 2.2 * problem.cutoff
    box = freud.box.Box(length, length, length)

    def run():
        points = problem.x("f32") - 0.5  # its boxes are centred
        found = freud.locality.AABBQuery(box, points).query(points, {"r_max": problem.cutoff, "exclude_ii": True})
        return found.toNeighborList(sort_by_distance=False)
    yield Method("AABBQuery", run, "full", "f32", lambda found: (found.query_point_indices, found.point_indices),
                 tolerance=1e-5)
