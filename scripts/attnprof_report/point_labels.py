"""Short labels beside points, placed so that they cover neither each other nor a point."""

import math

from matplotlib.transforms import Bbox

# Where a label may go: directions in the order of liking, then farther out with a leader line.
_ANGLES = [math.radians(degrees) for degrees in (0, 180, 45, 135, 315, 225, 90, 270, 20, 160, 340, 200)]
_RADII = (6, 13, 22, 34)  # points
_MARKER = 3.6  # half the size of a marker, points


def _box(x, y, width, height, angle, radius, scale):
    """The label's box, in pixels, when its near edge lies `radius` from the point in direction `angle`."""
    center_x = x + math.cos(angle) * (radius * scale + width / 2)
    center_y = y + math.sin(angle) * (radius * scale + height / 2)
    return Bbox.from_bounds(center_x - width / 2, center_y - height / 2, width, height)


def _inside(box, frame):
    return box.x0 >= frame.x0 and box.x1 <= frame.x1 and box.y0 >= frame.y0 and box.y1 <= frame.y1


def _free_place(point, size, taken, frame, scale):
    for radius in _RADII:
        for angle in _ANGLES:
            box = _box(*point, *size, angle, radius, scale)
            if _inside(box, frame) and not any(box.overlaps(other) for other in taken):
                return box, radius
    return None


def _draw(axes, point, box, radius, text, colour, size):
    to_data = axes.transData.inverted().transform
    center = to_data(((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2))
    axes.text(*center, text, fontsize=size, color=colour, ha="center", va="center", zorder=3,
              bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8})
    if radius > _RADII[0]:
        near = (min(max(point[0], box.x0), box.x1), min(max(point[1], box.y0), box.y1))
        (x0, y0), (x1, y1) = to_data(point), to_data(near)
        axes.plot([x0, x1], [y0, y1], color=colour, linewidth=0.5, alpha=0.6, zorder=2)


def place_labels(axes, points, taken, size=7.0):
    """Writes each (x, y, text, colour) of `points` (data coordinates) beside its point; limits must be final.

    `taken`: boxes in pixels that must stay free as well. Returns how many labels found no room and were left out.
    """
    renderer = axes.figure.canvas.get_renderer()
    scale = axes.figure.dpi / 72
    frame = axes.get_window_extent(renderer)
    pixels = [tuple(axes.transData.transform((x, y))) for x, y, _, _ in points]
    half = _MARKER * scale
    taken = list(taken) + [Bbox.from_extents(x - half, y - half, x + half, y + half) for x, y in pixels]
    left_out = 0
    for point, (_, _, text, colour) in zip(pixels, points):
        probe = axes.text(0.5, 0.5, text, fontsize=size, transform=axes.transAxes)
        extent = probe.get_window_extent(renderer)
        probe.remove()
        place = _free_place(point, (extent.width + 2 * scale, extent.height), taken, frame, scale)
        if place is None:
            left_out += 1
            continue
        taken.append(place[0])
        _draw(axes, point, *place, text, colour, size)
    return left_out
