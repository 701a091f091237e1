#include "plan/case_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

Case sample() {
  Case c;
  c.variant = find_variant("flash2");
  c.problem = {.dtype = Dtype::bf16,
               .mask = Mask::causal,
               .batch = 2,
               .heads = 32,
               .kv_heads = 8,
               .q_len = 1000,
               .kv_len = 4096,
               .head_dim = 128};
  c.requested.br = 128;
  c.requested.knobs.set("stages", 3);
  c.cache = CacheState::warm;
  c.tile = {128, 64, {{"stages", 3}, {"warp_rows", 32}}};
  c.tile_reason = "a \"reason\"; with, marks";
  return c;
}

TEST(CaseJson, RoundTrips) {
  const Case c = sample();
  const Case back = case_from_json(nlohmann::json::parse(to_json(c).dump()));
  EXPECT_EQ(back.variant, c.variant);
  EXPECT_EQ(back.problem, c.problem);
  EXPECT_EQ(back.requested, c.requested);
  EXPECT_EQ(back.cache, c.cache);
  EXPECT_EQ(back.tile, c.tile);
  EXPECT_EQ(back.tile_reason, c.tile_reason);
  EXPECT_EQ(back.skip, std::nullopt);
}

TEST(CaseJson, KeepsTheSkipReason) {
  Case c = sample();
  c.skip = "needs 3 bytes, 2 are free";
  EXPECT_EQ(case_from_json(to_json(c)).skip, c.skip);
}

TEST(CaseJson, RefusesWhatIsMissingOrUnknown) {
  for (const char* field : {"variant", "problem", "cache", "br"}) {
    nlohmann::json j = to_json(sample());
    j.erase(field);
    EXPECT_THROW(case_from_json(j), UsageError) << field;
  }
  nlohmann::json j = to_json(sample());
  j["variant"] = "flash9";
  EXPECT_THROW(case_from_json(j), UsageError);
  j = to_json(sample());
  j["knobs"] = {{"turbo", 1}};
  EXPECT_THROW(case_from_json(j), UsageError);
  j = to_json(sample());
  j["problem"]["dtype"] = "fp13";
  EXPECT_THROW(case_from_json(j), UsageError);
}

}  // namespace
}  // namespace attnprof
