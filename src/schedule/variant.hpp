// A variant: an attention algorithm as data. Launch, skip reasons, memory check, model, simulator, `list` and
// the README's table all come from it. To add one: kernels/NAME.cu, src/variants/NAME.cpp, one line in
// registry.cpp. Those of a user's own files and libraries (variant_file.hpp, plugin/) are added at run time.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device_profile.hpp"
#include "problem/operands.hpp"
#include "problem/problem.hpp"
#include "schedule/knobs.hpp"
#include "schedule/step.hpp"

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

// What a whole case moves and executes, as the author of a plug-in says.
struct StatedModel {
  std::optional<int64_t> sm_bytes, intermediate_bytes, hbm_bytes, tensor_flops;
};

struct Variant {
  std::string_view name;
  std::string_view idea;   // one sentence
  std::string_view needs;  // what it supports, for `list`: dtypes, head_dim, tiles

  // Why this problem, tile and device cannot be run, as a sentence with the numbers; nothing if they can.
  // Limits every variant shares (shared memory of a block, device memory, shapes that make no sense) are
  // checked by plan/skip.
  std::function<std::optional<std::string>(const Problem&, const Tile&, const DeviceProfile&)> unsupported;
  std::function<TileChoice(const Problem&, const DeviceProfile&)> default_tile;
  // Device memory it needs beyond the problem's operands: operand_workspace, operand_workspace + 1, ... of
  // AttentionParams, at most attention_max_workspaces.
  std::function<std::vector<Operand>(const Problem&, const Tile&)> workspace;
  std::function<std::vector<Step>(const Problem&, const Tile&, const DeviceProfile&)> steps;

  // Settings of its own beside Br x Bc. Every function here gets in Tile::knobs what was asked for, or what
  // is in force, and decides itself what is absent.
  std::span<const Knob> knobs = {};
  // All of them as they are in force, in the order of `knobs`; null: the variant has none. What it returns
  // must, put into the tile, give the same steps.
  std::function<Knobs(const Problem&, const Tile&, const DeviceProfile&)> knobs_used = nullptr;
  // Tiles (and knobs) that `tune` tries where none are given; null: Br and Bc in multiples of 16.
  std::function<std::vector<Tile>(const Problem&, const DeviceProfile&)> candidates = nullptr;

  // The passes it has; cases of others are skipped (plan/skip). `steps` of a backward pass make O and LSE
  // (Role::derived) by steps that are not timed.
  std::vector<Pass> passes = {Pass::forward};

  // Fields of the problem that came after the first schema and that this variant heeds. A case that has
  // another at anything but its absent value is skipped (plan/skip): no kernel answers what it was not asked.
  std::vector<std::string_view> later_fields = {};

  int tile_step = 16;  // Br and Bc are multiples of it: rows of a tensor core instruction
  // Of a variant that was loaded: the file or library it is from, and a hash of that. Empty: built in.
  std::string_view origin = {}, fingerprint = {};
  // For steps without a schedule: what its author says of bytes and FLOPs; null: nothing.
  std::function<StatedModel(const Problem&, const DeviceProfile&)> stated_model = nullptr;
};

// operands(problem) followed by the variant's workspace. Throws std::length_error for too many workspaces.
OperandList case_operands(const Variant& variant, const Problem& problem, const Tile& tile);

const Knob* find_knob(const Variant& variant, std::string_view name);  // null if it has none of that name

}  // namespace attnprof
