// Memory levels: where a row's bytes are counted, and what they are held against there. This is the one list
// of them: intensities, roofs, resources, bounds, pictures and plots (`attnprof list --levels`) loop over it.
// A new level is an entry here, with its columns in row/schema.cpp and, where it has a rate of its own, that
// in device/bandwidths.hpp.
#pragma once

#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/bandwidths.hpp"
#include "row/row.hpp"

namespace attnprof {

// A column, by its name in row/schema.cpp and by where a row has it. Without a name: there is no such column.
template <class Group, class Value>
struct LevelColumn {
  std::string_view name = {};
  Value Group::*value = nullptr;
  explicit constexpr operator bool() const { return value != nullptr; }
};
using CountedColumn = LevelColumn<Counters, Count>;   // bytes
using ModelledColumn = LevelColumn<Model, Count>;     // bytes
using IntensityColumn = LevelColumn<Roofline, Real>;  // FLOP a byte

// Bytes as a row counts them: in all, where it has that, and by their direction.
struct LevelBytes {
  CountedColumn total = {};  // none: the sum of the other two
  CountedColumn read = {}, write = {};

  Count count(const Row& row) const;         // in all; nothing where they were not counted
  std::vector<std::string> columns() const;  // that `count` is from
};

struct Level {
  std::string_view name;     // of points, panels and intensities
  std::string_view title;    // of a panel: "Device memory"
  std::string_view label;    // before "bytes": "SM-side"
  std::string_view place;    // where they are counted: "at the SMs"
  std::string_view passage;  // which they are: "into and out of the SMs"
  LevelBytes bytes;
  IntensityColumn intensity;

  // What the bytes are held against: the level's roof, resource and panel. Null: they are counted, no more.
  const Bandwidth* bandwidth = nullptr;
  ModelledColumn modelled = {};  // the same by the schedule
  ModelledColumn least = {};     // what no row's bytes go below
  // Where some of what `bytes.write` counts crosses after the operation has ended: what crossed before. By it
  // a row is flagged whose bytes crossed faster than they can; without it no row is.
  CountedColumn write_in_kernel = {};
  // What is no more than the bytes, where those were not counted, and what is said then.
  LevelBytes lower_bound = {};
  std::string_view why_lower = {};
  // False: of some cases alone (links between GPUs). Then a row without such bytes lacks nothing.
  bool everywhere = true;

  constexpr bool has_rate() const { return bandwidth != nullptr; }
  // Whether a row has bytes there, or lacks them.
  bool concerns(const Row& row) const { return everywhere || bytes.count(row).has_value(); }
};

// Device memory first: the columns roof_tflops_per_s and roof_pct are by its roof.
std::span<const Level> memory_levels();

// Those that have a roof, a resource and a panel.
inline auto levels_with_rate(std::span<const Level> levels) {
  return std::views::filter(levels, &Level::has_rate);
}

}  // namespace attnprof
