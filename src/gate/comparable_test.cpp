// Which runs may be compared. nvbench#186: a baseline from another GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_names.hpp"
#include "problem/inputs.hpp"
#include "testing/gate_files.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const Json h200_facts = {{"gpu", "H200"}, {"driver", "580.1"}, {"cuda_driver", "13.0"},  {"nvcc", "13.0"},
                         {"ecc", "on"},   {"mig", "off"},      {"power_limit_w", "700"}, {"input", "normal"}};

constexpr const char* old_run = "20260101T000000Z-00000001";
constexpr const char* new_run = "20260102T000000Z-00000002";

std::string current_csv(const std::function<void(Row&)>& change = {}) {
  Row row = measured_row();
  row.provenance.run = new_run;
  row.provenance.env_id = "e2";
  if (change) change(row);
  return csv_of({row});
}

// The baseline's environment after `change`, in which the current run was made.
Outcome in(const Json& change, const std::set<std::string>& allowed = {},
           const std::function<void(Row&)>& change_row = {}) {
  Json facts = h200_facts;
  facts.update(change);
  GateOptions options;
  options.allow_different = allowed;
  return gate_texts(csv_of({measured_row()}), current_csv(change_row), options, meta_of(old_run, h200_facts),
                    meta_of(new_run, facts));
}

TEST(Comparable, EveryDifferingFactIsNamed) {
  for (const auto& [name, value] : std::map<std::string, std::string>{{"nvcc", "13.1"},
                                                                      {"ecc", "off"},
                                                                      {"mig", "on"},
                                                                      {"power_limit_w", "500"},
                                                                      {"input", "zeros"},
                                                                      {"cuda_driver", "14.0"}}) {
    const Outcome outcome = in({{name, value}});
    EXPECT_EQ(outcome.code, 3) << name;
    EXPECT_THAT(outcome.error,
                AllOf(HasSubstr(name), HasSubstr(value + " now"), HasSubstr("--allow-different " + name)));
    EXPECT_EQ(in({{name, value}}, {name}).code, 0) << name;
  }
  EXPECT_THAT(in({{"gpu", "H100"}, {"ecc", "off"}}).error,
              HasSubstr("device (H200 in the baseline, H100 now), ecc (on in the baseline, off now)"));
  EXPECT_EQ(in({{"gpu", "H100"}}, {"device"}).code, 0);
  EXPECT_EQ(in({{"gpu", "H100"}}, {"env_id"}).code, 0);
  for (const char* of_kernels : {"nvcc_flags", "compiler", "block", "dynamic_smem"})
    EXPECT_EQ(in({{"nvcc", "13.1"}}, {"nvcc", of_kernels}).code, 0)
        << of_kernels << " is known, whatever the files list";
}

TEST(Comparable, ANewDriverBlocksTimeAndWarnsForBytes) {
  const auto slow = [](Row& row) {
    row.latency.median_ns = 2e6;
    row.latency.ci95_low_ns = 1.99e6;
    row.latency.ci95_high_ns = 2.01e6;
    row.counters.sm_cycles = 3'960'000;
  };
  const Outcome outcome = in({{"driver", "590.2"}, {"cuda_driver", "13.1"}}, {}, slow);
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.verdicts, "");
  EXPECT_THAT(outcome.summary,
              HasSubstr("another driver: cuda_driver (13.0 in the baseline, 13.1 now), driver"));
  EXPECT_EQ(in({{"driver", "590.2"}}, {}, [](Row& row) { row.counters.sm_total = 200'000'000; }).verdicts,
            "worse sm_bytes\n");
  EXPECT_EQ(in({{"driver", "590.2"}}, {"driver"}, slow).verdicts, "worse latency_median_ns\n");
}

TEST(Comparable, TheSeedCountsThoughItIsNotInEnvId) {
  Row row = measured_row();
  row.provenance.run = new_run;
  const Outcome outcome = gate_texts(csv_of({measured_row()}), csv_of({row}), {},
                                     meta_of(old_run, h200_facts, 1), meta_of(new_run, h200_facts, 2));
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.error, HasSubstr("seed (1 in the baseline, 2 now)"));
}

// Of simulated rows the input is no fact of the environment: options say it, and files older than it do not.
TEST(Comparable, RowsOfOtherInputsAreOtherRows) {
  Row row = measured_row();
  row.provenance.run = new_run;
  const auto with_input = [](const char* run, std::optional<std::string_view> input) {
    Json meta = Json::parse(meta_of(run, {{"target", "h200"}}));
    if (input) meta["runs"][run]["options"]["input"] = *input;
    return meta.dump();
  };
  const auto gated = [&](std::optional<std::string_view> before, std::optional<std::string_view> now) {
    return gate_texts(csv_of({measured_row()}), csv_of({row}), {}, with_input(old_run, before),
                      with_input(new_run, now));
  };
  const std::string_view normal = describe(InputKind::normal), outliers = describe(InputKind::outliers);
  EXPECT_EQ(gated(normal, normal).code, 0);
  EXPECT_EQ(gated(std::nullopt, normal).code, 0);
  EXPECT_EQ(gated(outliers, outliers).code, 0);
  const Outcome refused = gated(normal, outliers);
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.error, HasSubstr("input (normal in the baseline, outliers now)"));
  EXPECT_THAT(gated(outliers, std::nullopt).error, HasSubstr("input (outliers in the baseline, normal now)"));
}

TEST(Comparable, WithoutMetaOnlyEqualEnvironmentsCompare) {
  const std::string base = csv_of({measured_row()});
  EXPECT_EQ(gate_texts(base, base).code, 0);
  const Outcome no_base = gate_texts(base, current_csv(), {}, {}, meta_of(new_run, h200_facts));
  EXPECT_EQ(no_base.code, 3);
  EXPECT_THAT(no_base.error, HasSubstr("base.csv.meta.json is missing"));
  EXPECT_THAT(gate_texts(base, current_csv(), {}, meta_of(old_run, h200_facts), {}).error,
              HasSubstr("new.csv.meta.json is missing"));
  EXPECT_THAT(
      gate_texts(base, current_csv(), {}, meta_of("other", h200_facts), meta_of(new_run, h200_facts)).error,
      HasSubstr("base.csv.meta.json has no run 20260101T000000Z-00000001"));
  EXPECT_EQ(gate_texts(base, current_csv(), {}, "[]", meta_of(new_run, h200_facts)).code, 2);
  EXPECT_THAT(
      gate_texts(base, current_csv(), {}, meta_of(old_run, h200_facts), meta_of(new_run, h200_facts)).error,
      HasSubstr("env_id (e1 in the baseline, e2 now)"))
      << "another schema, say";
}

TEST(Comparable, MeasuredAndSimulatedRowsNeverMix) {
  GateOptions everything;
  everything.allow_different = {"env_id", "device", "bytes_source"};
  const Outcome outcome = gate_texts(
      csv_of({measured_row()}), current_csv([](Row& row) { row.provenance.backend = "sim"; }), everything);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.error, HasSubstr("backend (gpu in the baseline, sim now)"));
}

TEST(Comparable, BytesOfAnotherSourceAreNotCompared) {
  const auto uncounted = [](Row& row) {
    row.counters = {};
    row.counters.bytes_source = "none";
    row.provenance.env_id = "e1";
  };
  const Outcome refused = gate_texts(csv_of({measured_row()}), current_csv(uncounted));
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.error, HasSubstr("bytes_source (cupti in the baseline, none now"));
  GateOptions allowed;
  allowed.allow_different = {"bytes_source"};
  const Outcome outcome = gate_texts(csv_of({measured_row()}), current_csv(uncounted), allowed);
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_THAT(outcome.summary, HasSubstr("bytes and FLOPs are not compared"));
}

}  // namespace
}  // namespace attnprof
