// A roofline as something to draw: panels with points and straight lines (log-log), the same for every way of
// drawing.
#pragma once

#include <string>
#include <vector>

#include "draw/roofline_data.hpp"

namespace attnprof {

struct PanelPoint {
  double x = 0, y = 0;  // useful FLOP a byte, useful TFLOP/s
  size_t series = 0;    // in Picture::series
};

struct RoofLine {
  RoofKind kind = RoofKind::peak;
  std::string name;   // "tensor", with the device where there are several
  std::string label;  // "tensor 989 TFLOP/s"
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

struct Panel {
  std::string level;  // Level::name
  std::string title, x_title;
  std::vector<PanelPoint> points;  // never none
  std::vector<RoofLine> lines;
  double x_low = 0, x_high = 0, y_low = 0, y_high = 0;  // hold every point, every peak and every ridge
};

struct Picture {
  std::string title;                // kind and devices
  std::vector<std::string> series;  // a variant each, in the rows' order; simulated ones apart
  std::vector<Panel> panels;
};

// 1, 2 and 5 times powers of ten within the limits, ascending.
std::vector<double> log_ticks(double low, double high);

// Throws EnvironmentError where no row has counted bytes: an empty picture is never drawn.
Picture picture_of(const RooflineData& data);

}  // namespace attnprof
