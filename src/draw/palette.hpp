// Colours that are told apart with every common colour blindness (Okabe and Ito); yellow last, it is faint on
// white.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace attnprof {

inline constexpr std::array<std::string_view, 8> palette = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                            "#E69F00", "#56B4E9", "#000000", "#F0E442"};
// Of a series, and of its shape among as many: past the last colour another shape goes with each.
constexpr std::string_view colour_of(size_t series) { return palette[series % palette.size()]; }
constexpr size_t shape_of(size_t series) { return (series + series / palette.size()) % palette.size(); }
inline constexpr std::string_view roof_colour = "#555555";

}  // namespace attnprof
