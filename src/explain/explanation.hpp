// Why a row is as fast as it is, as data: what `attnprof explain` prints and writes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "explain/selector.hpp"
#include "explain/speedup.hpp"
#include "files/result_rows.hpp"
#include "roofline/resources.hpp"

namespace attnprof {

// Sides of tiles that are predicted: what any kernel of ours can have.
inline constexpr int least_tile_side = 16, most_tile_side = 512;

struct TilePrediction {
  int br = 0, bc = 0;
  double ns = 0;
  double speedup = 1;  // of the row's own time over `ns`
};

struct AgainstRow {
  size_t line = 0;
  std::string file;
  Identity identity;
  SpeedupSplit split;
};

struct CaseExplanation {
  std::string file;
  size_t line = 0;  // of the row in its file, the header being 1
  Row row;
  ResourceTable resources;
  std::string binds;  // of the resources, latency, or unknown
  Real idle_share, waves, occupancy_pct;
  Count reread_bytes;                  // model/reread.hpp
  std::vector<std::string> sentences;  // worst first
  std::vector<TilePrediction> tiles;   // fastest first
  std::optional<AgainstRow> against;
};

struct Explanations {
  std::string against;  // variant; empty: none was asked for
  std::vector<CaseExplanation> cases;
  LeftOut left_out;
  std::vector<std::string> notices;
};

struct ExplainRequest {
  std::vector<Selector> cases;  // rows that one of them takes; none: every row
  std::string against;
  std::vector<TileRequest> tiles;  // predicted beside the neighbours of a row's own; both sides given
};

// Columns beside the identity that a file must have.
std::span<const std::string_view> explain_columns();

// Throws EnvironmentError when no row is ok or none is selected, UsageError for a malformed .meta.json.
Explanations explain(const std::vector<ResultFile>& files, const ExplainRequest& request);

std::string explain_json(const Explanations& explanations);
// For a terminal `width` characters wide: a line a case, or with few cases everything of each.
std::string explain_text(const Explanations& explanations, size_t width);

}  // namespace attnprof
