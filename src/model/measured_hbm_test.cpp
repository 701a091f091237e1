// The model against bytes counted on real GPUs: results/h200/hbm_*.csv.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "model/device_profiles.hpp"
#include "model/predict.hpp"
#include "report/csv.hpp"
#include "test_paths.hpp"

namespace attnprof {
namespace {

const DeviceProfile& h200() { return *find_profile("h200"); }

std::vector<Row> measured_rows() {
  std::vector<Row> rows;
  for (const char* file : {"hbm_tokens", "hbm_batch1"}) {
    const RowFile read = read_rows(std::string(ATTNPROF_SOURCE_DIR "/results/h200/") + file + ".csv");
    std::ranges::copy_if(read.rows, std::back_inserter(rows),
                         [](const Row& row) { return row.counters.bytes_source == "cupti"; });
  }
  return rows;
}

Case case_of(const Row& row) {
  const Identity& id = row.identity;
  Case c;
  c.variant = find_variant(id.variant);
  c.problem = {.dtype = *parse_dtype(id.dtype),
               .mask = *parse_mask(id.mask),
               .batch = *id.batch,
               .heads = *id.heads,
               .kv_heads = *id.kv_heads,
               .q_len = *id.q_len,
               .kv_len = *id.kv_len,
               .head_dim = *id.head_dim};
  c.cache = *parse_cache_state(id.cache);
  c.tile = {static_cast<int>(row.resolved.br.value_or(0)), static_cast<int>(row.resolved.bc.value_or(0))};
  return c;
}

// What the schedule reads again, over L2's size: S or P; in flash1, whose outer loop reads K and V once, Q
// and fp32 O, l and m; in flash2 K and V. Near 1, bytes hang on when each block happens to run;
// scripts/check_figures.py draws the same line.
int64_t reused_bytes(const Case& c) {
  const Problem& p = c.problem;
  const int64_t heads = p.batch * p.heads, element = bytes_per_element(p.dtype);
  if (c.variant->name == "flash1") return heads * p.q_len * (p.head_dim * (element + 4) + 8);
  if (c.variant->name == "flash2") return heads * 2 * p.kv_len * p.head_dim * element;
  return heads * p.q_len * p.kv_len * element;
}

double reused_share_of_l2(const Case& c) {
  return static_cast<double>(reused_bytes(c)) / static_cast<double>(h200().l2_bytes);
}

TEST(MeasuredHbm, TheModelIsWithinTenPercentWhereL2IsClear) {
  int clear = 0;
  for (const Row& row : measured_rows()) {
    const Case c = case_of(row);
    const double share = reused_share_of_l2(c);
    if (share >= 0.4 && share <= 1.5) continue;
    ++clear;
    const auto modelled = static_cast<double>(predict(c, h200()).hbm_bytes.value_or(0));
    const double ratio = static_cast<double>(*row.counters.hbm_total) / modelled;
    EXPECT_NEAR(ratio, 1, 0.10) << describe(c) << ": measured " << *row.counters.hbm_total;
  }
  EXPECT_GE(clear, 80) << "rows of both sweeps";
}

}  // namespace
}  // namespace attnprof
