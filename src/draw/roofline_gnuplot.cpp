// A gnuplot script: a plot a panel, roofs as lines below the points, data in named blocks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/safe_text.hpp"
#include "draw/palette.hpp"
#include "draw/roofline_output.hpp"

namespace attnprof {
namespace {

// Filled point types of gnuplot's usual terminals, in the order of the palette.
constexpr std::array<int, palette.size()> point_types = {7, 5, 9, 13, 11, 6, 4, 8};

// In single quotes only a quote needs care; a line end, which a name in a CSV may hold, would end the string.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : printable(text)) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

std::string line_block(const Panel& panel, size_t line) {
  return fmt::format("$roof_{}_{}", panel.level, line);
}
std::string point_block(const Panel& panel, size_t series) {
  return fmt::format("$points_{}_{}", panel.level, series);
}

bool has_points(const Panel& panel, size_t series) {
  return std::ranges::any_of(panel.points, [&](const PanelPoint& point) { return point.series == series; });
}

std::string data_of(const Panel& panel, size_t series_count) {
  std::string text;
  for (size_t i = 0; i < panel.lines.size(); ++i) {
    const RoofLine& line = panel.lines[i];
    text += fmt::format("{} << EOD\n{:.6g} {:.6g}\n{:.6g} {:.6g}\nEOD\n", line_block(panel, i), line.x0,
                        line.y0, line.x1, line.y1);
  }
  for (size_t series = 0; series < series_count; ++series) {
    if (!has_points(panel, series)) continue;
    text += point_block(panel, series) + " << EOD\n";
    for (const PanelPoint& point : panel.points)
      if (point.series == series) text += fmt::format("{:.6g} {:.6g}\n", point.x, point.y);
    text += "EOD\n";
  }
  return text;
}

std::string plot_of(const Panel& panel, const Picture& picture) {
  std::string text = fmt::format(
      "set title {} noenhanced\nset xlabel {}\nset xtics ({:g})\nset xrange [{:.6g}:{:.6g}]\n"
      "set yrange [{:.6g}:{:.6g}]\nplot ",
      quoted(panel.title), quoted(panel.x_title), fmt::join(log_ticks(panel.x_low, panel.x_high), ", "),
      panel.x_low, panel.x_high, panel.y_low, panel.y_high);
  const char* separator = "";
  for (size_t i = 0; i < panel.lines.size(); ++i) {
    text += fmt::format("{}{} with lines lw 1.5 dt {} lc rgb '{}' title {} noenhanced", separator,
                        line_block(panel, i), i + 1, roof_colour, quoted(panel.lines[i].label));
    separator = ", \\\n     ";
  }
  for (size_t series = 0; series < picture.series.size(); ++series) {
    if (!has_points(panel, series)) continue;
    text += fmt::format("{}{} with points pt {} ps 1 lc rgb '{}' title {} noenhanced", separator,
                        point_block(panel, series), point_types[shape_of(series)], colour_of(series),
                        quoted(picture.series[series]));
    separator = ", \\\n     ";
  }
  return text + "\n";
}

}  // namespace

std::string roofline_gnuplot(const Picture& picture) {
  std::string text =
      "# Roofline by attnprof, data inline. On screen: gnuplot -p FILE. As a picture:\n"
      "# gnuplot -e \"set terminal svg size 1400,650; set output 'roofline.svg'\" FILE\n";
  for (const Panel& panel : picture.panels) text += data_of(panel, picture.series.size());
  text += fmt::format(
      "set logscale xy\n"
      "set format xy '%g'\n"
      "set grid\n"
      "set key outside below height 1\n"
      "set ylabel 'useful TFLOP/s'\n"
      "set multiplot layout 1,{} title {} noenhanced\n",
      picture.panels.size(), quoted(picture.title));
  for (const Panel& panel : picture.panels) text += plot_of(panel, picture);
  return text + "unset multiplot\n";
}

}  // namespace attnprof
