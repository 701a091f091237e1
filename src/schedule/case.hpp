// A case: problem x variant x tile x cache state. Every case becomes one row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "problem/problem.hpp"
#include "schedule/variant.hpp"

namespace attnprof {

enum class CacheState {
  cold,  // L2 holds none of the operands before each sample
  warm,  // L2 holds what fits of them: the operation has just run
};
std::string_view to_string(CacheState cache);
std::optional<CacheState> parse_cache_state(std::string_view text);

// A tile and knobs as asked for: what is not given is the variant's default.
struct TileRequest {
  std::optional<int> br;
  std::optional<int> bc;
  Knobs knobs = {};
  bool operator==(const TileRequest&) const = default;
};
std::string to_string(const TileRequest& request);  // of Br x Bc: "auto", "128x64", "128xauto"

struct Case {
  const Variant* variant = nullptr;
  Problem problem;
  TileRequest requested;
  CacheState cache = CacheState::cold;

  Tile tile;                        // resolved, with all knobs in force
  std::string tile_reason;          // why, when it is a default
  std::optional<std::string> skip;  // why it cannot run; such a case becomes a `skipped` row

  // Made once, by set_launches, and used by whoever plans, models, compiles or runs the case. Empty before,
  // and of a case that its variant does not support.
  OperandList operands = {};     // of the problem, then the workspace
  std::vector<Step> steps = {};  // its launches on the device that it was planned for
};

// Fills in the operands and steps of a case whose tile is resolved and supported. Throws std::logic_error for
// a variant that asks for more workspaces or tensor maps than a launch has, or that launches what it has not.
void set_launches(Case& c, const DeviceProfile& device);

std::vector<Step> timed_steps(const Case& c);

// For people: "flash2 64x64 fp16 causal b1 h16/4 q512 k512 d64 cold", with the knobs asked for after the
// tile.
std::string describe(const Case& c);

}  // namespace attnprof
