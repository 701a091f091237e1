#include "draw/picture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace attnprof {
namespace {

// Room around what is drawn, as a factor on a log axis.
constexpr double room = 1.5;

std::vector<std::string> devices_of(const RooflineData& data) {
  std::vector<std::string> devices;
  for (const Row& row : data.rows)
    if (std::ranges::find(devices, row.provenance.device) == devices.end())
      devices.push_back(row.provenance.device);
  return devices;
}

bool simulated(const Row& row) { return row.provenance.backend == "sim"; }

std::string series_name(const Row& row, bool mixed, bool several_devices) {
  return row.identity.variant + (mixed && simulated(row) ? " (simulated)" : "") +
         (several_devices ? ", " + row.provenance.device : "");
}

size_t index_of(const std::string& name, std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, name);
  const auto index = static_cast<size_t>(found - names.begin());
  if (found == names.end()) names.push_back(name);
  return index;
}

std::string title_of(const RooflineData& data) {
  const auto models = std::ranges::count_if(data.rows, simulated);
  const bool all = static_cast<size_t>(models) == data.rows.size();
  return fmt::format("{}: {}{}", all ? "Simulated roofline" : "Roofline", fmt::join(devices_of(data), ", "),
                     models > 0 && !all ? fmt::format(" ({} rows simulated)", models) : "");
}

std::string label_of(const Roof& roof, const std::string& name) {
  return roof.kind == RoofKind::bandwidth ? fmt::format("{} {:.4g} TB/s", name, roof.value / 1e3)
                                          : fmt::format("{} {:.4g} TFLOP/s", name, roof.value);
}

void set_limits(Panel& panel, const RooflineData& data) {
  const auto [left, right] = std::ranges::minmax(panel.points, {}, &PanelPoint::x);
  const auto [low, high] = std::ranges::minmax(panel.points, {}, &PanelPoint::y);
  panel.x_low = left.x, panel.x_high = right.x, panel.y_low = low.y, panel.y_high = high.y;
  for (const Roof& peak : data.roofs) {
    if (peak.kind != RoofKind::peak) continue;
    panel.y_low = std::min(panel.y_low, peak.value);
    panel.y_high = std::max(panel.y_high, peak.value);
    for (const Roof& slope : data.roofs)
      if (slope.level == panel.level && slope.device == peak.device)
        panel.x_high = std::max(panel.x_high, 1e3 * peak.value / slope.value);
  }
  panel.x_low /= room, panel.x_high *= room, panel.y_low /= room, panel.y_high *= room;
}

// The highest peak of the roof's device; the panel's top where none is known.
double top_of(const Roof& roof, const Panel& panel, const RooflineData& data) {
  double top = 0;
  for (const Roof& other : data.roofs)
    if (other.device == roof.device && other.kind == RoofKind::peak) top = std::max(top, other.value);
  return top > 0 ? top : panel.y_high;
}

// The bandwidth of the roof's device at the panel's level; 0 where none is known.
double gbps_of(const Roof& roof, const Panel& panel, const RooflineData& data) {
  double gbps = 0;
  for (const Roof& other : data.roofs)
    if (other.device == roof.device && other.level == panel.level) gbps = std::max(gbps, other.value);
  return gbps;
}

void add_line(const Roof& roof, const std::string& name, const RooflineData& data, Panel& panel) {
  RoofLine line{.kind = roof.kind, .name = name, .label = label_of(roof, name)};
  if (roof.kind == RoofKind::bandwidth) {
    const double tbps = roof.value / 1e3;
    line.x0 = std::max(panel.x_low, panel.y_low / tbps);
    line.x1 = std::min(panel.x_high, top_of(roof, panel, data) / tbps);
    line.y0 = line.x0 * tbps, line.y1 = line.x1 * tbps;
  } else {
    const double gbps = gbps_of(roof, panel, data);
    line.x0 = gbps > 0 ? std::max(panel.x_low, 1e3 * roof.value / gbps) : panel.x_low;
    line.x1 = panel.x_high;
    line.y0 = line.y1 = roof.value;
  }
  const bool drawn = std::ranges::find(panel.lines, line.label, &RoofLine::label) != panel.lines.end();
  if (line.x0 < line.x1 && !drawn) panel.lines.push_back(std::move(line));
}

// A GPU and its simulation have the same roofs; then no device needs to be named at them.
bool roofs_differ(const RooflineData& data) {
  return std::ranges::any_of(data.roofs, [&](const Roof& a) {
    return std::ranges::any_of(data.roofs,
                               [&](const Roof& b) { return a.title() == b.title() && a.value != b.value; });
  });
}

// What tells a roof from others of its name: the device where there are several, and whether it was measured
// where one device has both, as beside rows of a run without ceilings.
std::string distinction(const Roof& roof, const RooflineData& data) {
  const auto any = [&](auto differs) { return std::ranges::any_of(data.roofs, differs); };
  std::string text;
  if (any([&](const Roof& other) { return other.device != roof.device; })) text += ", " + roof.device;
  const bool measured = roof.source == "ceiling";
  if (any([&](const Roof& other) {
        return other.device == roof.device && (other.source == "ceiling") != measured;
      }))
    text += measured ? ", measured" : ", nominal";
  return text;
}

void add_lines(Panel& panel, const RooflineData& data) {
  const bool named = roofs_differ(data);
  for (const Roof& roof : data.roofs)
    if (roof.kind == RoofKind::peak || roof.level == panel.level)
      add_line(roof, roof.title() + (named ? distinction(roof, data) : ""), data, panel);
}

Panel empty_panel(const Level& level) {
  return {.level = std::string(level.name),
          .title = std::string(level.title),
          .x_title = fmt::format("useful FLOPs a byte {}", level.passage),
          .points = {},
          .lines = {}};
}

}  // namespace

std::vector<double> log_ticks(double low, double high) {
  std::vector<double> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(low))); std::pow(10, power) <= high; ++power)
    for (const double digit : {1.0, 2.0, 5.0})
      if (const double tick = digit * std::pow(10, power); tick >= low && tick <= high) ticks.push_back(tick);
  return ticks;
}

Picture picture_of(const RooflineData& data) {
  Picture picture;
  picture.title = title_of(data);
  const bool several = devices_of(data).size() > 1;
  const bool mixed = std::ranges::any_of(data.rows, simulated) && !std::ranges::all_of(data.rows, simulated);
  for (const Level& level : levels_with_rate(data.levels)) picture.panels.push_back(empty_panel(level));
  for (const RooflinePoint& point : data.points)
    for (Panel& panel : picture.panels)
      if (point.level == panel.level)
        panel.points.push_back({*point.intensity, point.useful_tflops_per_s,
                                index_of(series_name(data.rows[point.row], mixed, several), picture.series)});
  std::erase_if(picture.panels, [](const Panel& panel) { return panel.points.empty(); });
  if (picture.panels.empty())
    throw EnvironmentError(
        "no row has counted bytes, so none has a place in a picture; give rows of attnprof sweep with "
        "counters, or take --format csv for their rates");
  for (Panel& panel : picture.panels) {
    set_limits(panel, data);
    add_lines(panel, data);
  }
  return picture;
}

}  // namespace attnprof
