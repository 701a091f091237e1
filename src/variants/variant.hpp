// A variant: an attention algorithm as data. Launch, skip reasons, memory check, model, simulator, `list` and
// the README's table all come from it. To add one: kernels/NAME.cu, src/variants/NAME.cpp, one line in
// registry.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/device_profile.hpp"
#include "plan/operands.hpp"
#include "plan/problem.hpp"
#include "variants/knobs.hpp"
#include "variants/step.hpp"

namespace attnprof {

struct Tile {
  int br = 0;  // rows of Q a block works on
  int bc = 0;  // rows of K and V a block works on
  Knobs knobs = {};
  bool operator==(const Tile&) const = default;
};

struct TileChoice {
  Tile tile;
  std::string reason;
};

struct Variant {
  std::string_view name;
  std::string_view idea;   // one sentence
  std::string_view needs;  // what it supports, for `list`: dtypes, head_dim, tiles

  // Why this problem, tile and device cannot be run, as a sentence with the numbers; nothing if they can.
  // Limits every variant shares (shared memory of a block, device memory, shapes that make no sense) are
  // checked by plan/skip.
  std::optional<std::string> (*unsupported)(const Problem&, const Tile&, const DeviceProfile&);
  TileChoice (*default_tile)(const Problem&, const DeviceProfile&);
  // Device memory it needs beyond the problem's operands, in the order of AttentionParams::workspace.
  std::vector<Operand> (*workspace)(const Problem&, const Tile&);
  std::vector<Step> (*steps)(const Problem&, const Tile&, const DeviceProfile&);

  // Settings of its own beside Br x Bc. Every function here gets in Tile::knobs what was asked for, or what
  // is in force, and decides itself what is absent.
  std::span<const Knob> knobs = {};
  // All of them as they are in force, in the order of `knobs`; null: the variant has none. What it returns
  // must, put into the tile, give the same steps.
  Knobs (*knobs_used)(const Problem&, const Tile&, const DeviceProfile&) = nullptr;
  // Tiles (and knobs) that `tune` tries where none are given; null: Br and Bc in multiples of 16.
  std::vector<Tile> (*candidates)(const Problem&, const DeviceProfile&) = nullptr;
};

// operands(problem) followed by the variant's workspace: the list that Region::operand and steps index.
std::vector<Operand> case_operands(const Variant& variant, const Problem& problem, const Tile& tile);

// Every variant, in the order tables show them.
std::span<const Variant* const> all_variants();
const Variant* find_variant(std::string_view name);                    // null if there is none
const Knob* find_knob(const Variant& variant, std::string_view name);  // null if it has none of that name

}  // namespace attnprof
