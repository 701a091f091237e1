// A roofline in characters, for people on ssh: log-log, one mark a variant.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/safe_text.hpp"
#include "base/text_table.hpp"
#include "draw/roofline_output.hpp"

namespace attnprof {
namespace {

constexpr size_t rows_high = 16, narrowest = 32;
constexpr size_t margin = 8;  // of the y labels, their axis included
// Nothing that a roof or an axis is drawn with.
constexpr std::string_view series_marks = "ox*#@%&ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnpqrstuvwyz";
constexpr char several_mark = '?', slope_mark = '/', peak_mark = '-';

char mark_of(size_t series) { return series_marks[series % series_marks.size()]; }

// Where a value lies on a log axis of `cells` cells, from 0.
size_t cell_of(double value, double low, double high, size_t cells) {
  const double share = std::log(value / low) / std::log(high / low);
  return static_cast<size_t>(
      std::clamp(std::lround(share * static_cast<double>(cells - 1)), 0L, static_cast<long>(cells) - 1));
}

class Canvas {
 public:
  Canvas(const Panel& panel, size_t width)
      : panel_(panel), width_(width), lines_(rows_high, std::string(width, ' ')) {}

  void draw(const RoofLine& line) {
    if (line.kind == RoofKind::peak) return draw_peak(line);
    const size_t from = column(line.x0), to = column(line.x1);
    for (size_t i = from; i <= to; ++i) put(i, row(along(line, i, from, to)), slope_mark);
    for (size_t i = row(line.y1); i <= row(line.y0); ++i) {  // where it is steeper than a cell
      const double share = share_of(i, row(line.y0), row(line.y1));
      put(static_cast<size_t>(
              std::lround(std::lerp(static_cast<double>(from), static_cast<double>(to), share))),
          i, slope_mark);
    }
  }

  // After all lines: a mark hides a roof, never the other way round.
  void draw(const std::vector<PanelPoint>& points) {
    std::vector<std::string> taken(rows_high, std::string(width_, ' '));
    for (const PanelPoint& point : points) {
      char& cell = taken[row(point.y)][column(point.x)];
      const char mark = mark_of(point.series);
      cell = cell == ' ' || cell == mark ? mark : several_mark;
      has_several_ |= cell == several_mark;
      put(column(point.x), row(point.y), cell);
    }
  }

  bool has_several() const { return has_several_; }

  std::string text() const {
    std::vector<std::string> labels(rows_high);
    size_t last = rows_high + 2;
    for (const double tick : log_ticks(panel_.y_low, panel_.y_high))
      if (row(tick) + 2 <= last) labels[last = row(tick)] = fmt::format("{:g}", tick);
    std::string result;
    for (size_t i = 0; i < rows_high; ++i)
      result += trimmed(
          fmt::format("{:>{}} {}{}", labels[i], margin - 2, labels[i].empty() ? '|' : '+', lines_[i]));
    return result + x_axis();
  }

 private:
  size_t column(double x) const { return cell_of(x, panel_.x_low, panel_.x_high, width_); }
  size_t row(double y) const { return rows_high - 1 - cell_of(y, panel_.y_low, panel_.y_high, rows_high); }
  void put(size_t at_column, size_t at_row, char c) { lines_[at_row][at_column] = c; }

  static double share_of(size_t i, size_t from, size_t to) {
    if (from == to) return 0;
    return (static_cast<double>(i) - static_cast<double>(from)) /
           (static_cast<double>(to) - static_cast<double>(from));
  }
  // The height of a slope at column `i`.
  static double along(const RoofLine& line, size_t i, size_t from, size_t to) {
    return line.y0 * std::pow(line.y1 / line.y0, share_of(i, from, to));
  }

  // Its name stands in the line, at its right end.
  void draw_peak(const RoofLine& line) {
    const size_t from = column(line.x0), to = column(line.x1), at = row(line.y0);
    for (size_t i = from; i <= to; ++i) put(i, at, peak_mark);
    const std::string name = fmt::format(" {} ", printable(line.name));
    if (name.size() + 2 > to - from) return;
    lines_[at].replace(to - name.size(), name.size(), name);
  }

  std::string x_axis() const {
    std::string axis(width_, '-'), labels(margin + width_, ' ');
    size_t free = 0;  // the first character that no label has
    for (const double tick : log_ticks(panel_.x_low, panel_.x_high)) {
      const std::string text = fmt::format("{:g}", tick);
      const size_t centre = margin + column(tick), begin = centre - std::min(centre, text.size() / 2);
      if (begin < free || begin + text.size() > labels.size()) continue;
      labels.replace(begin, text.size(), text);
      axis[centre - margin] = '+';
      free = begin + text.size() + 1;
    }
    return trimmed(std::string(margin - 1, ' ') + "+" + axis) + trimmed(labels);
  }

  static std::string trimmed(const std::string& line) {
    return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }

  const Panel& panel_;
  size_t width_;
  std::vector<std::string> lines_;
  bool has_several_ = false;
};

// Items one after another, broken between them, and within one only where it is longer than a line.
std::string wrap_items(std::vector<std::string> items, size_t width) {
  constexpr char unbroken = '\x1f';
  for (std::string& item : items) {
    item = printable(item);
    if (item.size() + 3 <= width) std::ranges::replace(item, ' ', unbroken);
    if (&item != &items.back()) item += ',';
  }
  std::string text = wrap_words(fmt::format("{}", fmt::join(items, " ")), width, "  ");
  std::ranges::replace(text, unbroken, ' ');
  return text;
}

std::string legend_of(const Picture& picture, bool has_several, size_t width) {
  std::vector<std::string> items;
  for (size_t i = 0; i < picture.series.size(); ++i)
    items.push_back(fmt::format("{} {}", mark_of(i), picture.series[i]));
  if (has_several) items.push_back(fmt::format("{} several", several_mark));
  return wrap_items(std::move(items), width);
}

std::string roofs_of_panel(const Panel& panel, size_t width) {
  std::vector<std::string> items;
  for (const RoofLine& line : panel.lines)
    items.push_back(fmt::format("{} {}", line.kind == RoofKind::peak ? peak_mark : slope_mark, line.label));
  if (items.empty()) items.push_back("no roof is known");
  return wrap_items(std::move(items), width);
}

}  // namespace

std::string roofline_text(const Picture& picture, size_t width) {
  width = std::max(width, narrowest);
  std::string text = wrap_text(picture.title, width, "");
  bool has_several = false;
  for (const Panel& panel : picture.panels) {
    Canvas canvas(panel, width - margin);
    for (const RoofLine& line : panel.lines) canvas.draw(line);
    canvas.draw(panel.points);
    has_several |= canvas.has_several();
    text += "\n" +
            wrap_text(fmt::format("{}: useful TFLOP/s over {}", panel.title, panel.x_title), width, "") +
            canvas.text() + roofs_of_panel(panel, width);
  }
  return text + "\n" + legend_of(picture, has_several, width);
}

}  // namespace attnprof
