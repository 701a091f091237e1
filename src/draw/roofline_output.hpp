// A roofline in the forms that people and plotting tools take.
#pragma once

#include <string>

#include "draw/picture.hpp"
#include "draw/roofline_data.hpp"

namespace attnprof {

// One record a line, points first.
std::string roofline_csv(const RooflineData& data);
// {"points": [...], "roofs": [...], "left_out": {"skipped": 3}}; an absent value is null.
std::string roofline_json(const RooflineData& data);
// A whole Vega-Lite 5 specification, its data inline. Throws as picture_of.
std::string roofline_vega_lite(const RooflineData& data);
// A script for gnuplot 5 or later, its data inline. Throws as picture_of.
std::string roofline_gnuplot(const Picture& picture);
// For a terminal `width` characters wide: ASCII, no line wider, a panel below the other, then the legend.
std::string roofline_text(const Picture& picture, size_t width);

}  // namespace attnprof
