#include "tune/contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/error.hpp"
#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

constexpr size_t most_candidates = 20'000;
// Multiples of 16 up to 256, denser where tiles are small.
constexpr std::array sides = {16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256};

// For variants that name none: every second side for Br, no tile larger than the problem.
std::vector<Tile> thinned_tiles(const Problem& p) {
  const auto useful = [](int side, int64_t length) { return side < round_up(length, 16) + 16; };
  std::vector<Tile> tiles;
  for (int br : {16, 32, 64, 96, 128, 192, 256})
    for (int bc : sides)
      if (useful(br, p.q_len) && useful(bc, p.kv_len)) tiles.push_back({br, bc});
  return tiles;
}

std::vector<Tile> usual_tiles(const Case& by_default, const DeviceProfile& device) {
  if (by_default.variant->candidates) return by_default.variant->candidates(by_default.problem, device);
  const bool has_tiles = by_default.variant->default_tile(by_default.problem, device).tile.br > 0;
  return has_tiles ? thinned_tiles(by_default.problem) : std::vector<Tile>{};
}

// The sides given, else those that occur in `tiles`.
std::vector<int> sides_of(const std::vector<int64_t>& given, const std::vector<Tile>& tiles,
                          int Tile::*side) {
  std::vector<int> all;
  for (int64_t value : given) all.push_back(static_cast<int>(value));
  if (!given.empty()) return all;
  for (const Tile& tile : tiles)
    if (std::ranges::find(all, tile.*side) == all.end()) all.push_back(tile.*side);
  return all;
}

std::vector<Tile> tiles_of(const SweepAxes& axes, const Case& by_default, const DeviceProfile& device) {
  const std::vector<Tile> usual = usual_tiles(by_default, device);
  if (axes.brs.empty() && axes.bcs.empty()) return usual;
  std::vector<Tile> tiles;
  for (int br : sides_of(axes.brs, usual, &Tile::br))
    for (int bc : sides_of(axes.bcs, usual, &Tile::bc)) tiles.push_back({br, bc});
  return tiles;
}

std::vector<TileRequest> requests_of(const SweepAxes& axes, const Case& by_default,
                                     const DeviceProfile& device) {
  const std::vector<Knobs> asked = knob_requests(axes.knobs, *by_default.variant);
  std::vector<Tile> tiles = tiles_of(axes, by_default, device);
  std::vector<TileRequest> requests;
  for (const Tile& tile : tiles)
    for (const Knobs& knobs : asked) {
      requests.push_back({tile.br, tile.bc, tile.knobs});
      for (const Knobs::Value& each : knobs) requests.back().knobs.set(each.name, each.value);
    }
  if (tiles.empty())  // a variant without tiles may have knobs all the same
    for (const Knobs& knobs : asked) requests.push_back({{}, {}, knobs});
  return requests;
}

Contest contest_of(const Case& by_default, const std::vector<TileRequest>& requests,
                   const DeviceProfile& device, int64_t free_bytes) {
  Contest contest{{by_default}};
  for (const TileRequest& request : requests) {
    Case c = by_default;
    c.requested = request;
    resolve(c, device, free_bytes);
    const bool known = std::ranges::any_of(contest.candidates, [&](const Case& other) {
      return other.tile == c.tile && !other.skip && !c.skip;
    });
    if (!known) contest.candidates.push_back(std::move(c));
  }
  return contest;
}

std::string without_numbers(const std::string& text) {
  std::string plain;
  for (char c : text)
    if (c < '0' || c > '9')
      plain += c;
    else if (plain.empty() || plain.back() != '#')
      plain += '#';
  return plain;
}

// Counts reasons, in the order in which they first occur.
class Reasons {
 public:
  void add(const Case& c, const std::string& reason) {
    const auto [entry, added] = index_.try_emplace(without_numbers(reason), all_.size());
    if (added) all_.push_back({0, fmt::format("{}: {}", tile_text(c), reason)});
    ++all_[entry->second].count;
  }
  std::vector<Pruned> all() { return std::move(all_); }

 private:
  std::map<std::string, size_t> index_;
  std::vector<Pruned> all_;
};

}  // namespace

std::string tile_text(const Case& c) {
  const std::string tile = c.tile.br > 0 ? fmt::format("{}x{}", c.tile.br, c.tile.bc) : "no tile";
  return c.tile.knobs.empty() ? tile : tile + " " + to_string(c.tile.knobs);
}

std::vector<Contest> contests_of(const SweepAxes& axes, const DeviceProfile& device, int64_t free_bytes) {
  SweepAxes problems = axes;
  problems.brs.clear(), problems.bcs.clear(), problems.knobs.clear();
  check_axes(axes);
  std::vector<Contest> contests;
  size_t candidates = 0;
  for (const Case& by_default : expand(problems, device, free_bytes)) {
    const auto requests = requests_of(axes, by_default, device);
    candidates += requests.size();
    if (candidates > most_candidates)
      throw UsageError(
          fmt::format("there are over {} candidates; give fewer problems, tiles or knobs", most_candidates));
    contests.push_back(contest_of(by_default, requests, device, free_bytes));
  }
  return contests;
}

std::vector<Pruned> prune_skipped(std::vector<Contest>& contests) {
  Reasons reasons;
  for (Contest& contest : contests)
    std::erase_if(contest.candidates, [&](const Case& c) {
      if (c.skip) reasons.add(c, *c.skip);
      return c.skip.has_value();
    });
  return reasons.all();
}

std::vector<Pruned> prune(std::vector<Contest>& contests,
                          const std::function<std::optional<std::string>(const Case&)>& why_not) {
  Reasons reasons;
  for (Contest& contest : contests)
    std::erase_if(contest.candidates, [&](const Case& c) {
      if (c.requested == TileRequest{}) return false;
      const auto reason = why_not(c);
      if (reason) reasons.add(c, *reason);
      return reason.has_value();
    });
  return reasons.all();
}

}  // namespace attnprof
