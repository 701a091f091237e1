// What fails a gate, and what does not.
#include "gate/gate_fixture.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Gate, EveryColumnItReadsIsInTheSchema) {
  for (const Metric& metric : default_metrics())
    EXPECT_TRUE(metric.category == Category::build || find_column(metric.column)) << metric.column;
  for (const char* of_both : {"registers", "spill_bytes", "smem_bytes", "threads_per_cta"})
    EXPECT_TRUE(find_column(of_both)) << of_both;
  for (size_t i = 0; i < static_cast<size_t>(Extra::ctas_per_sm); ++i)
    EXPECT_TRUE(find_column(column_of(static_cast<Extra>(i)))) << column_of(static_cast<Extra>(i));
  for (size_t i = 0; i < static_cast<size_t>(Fact::error); ++i)
    EXPECT_TRUE(find_column(column_of(static_cast<Fact>(i)))) << column_of(static_cast<Fact>(i));
}

TEST(Gate, EachMetricFailsByItself) {
  const auto verdicts = [](const Change& change) {
    const Outcome outcome = after(change);
    return fmt::format("{} {}", outcome.code, outcome.verdicts);
  };
  EXPECT_EQ(verdicts([](Row&) {}), "0 ");
  EXPECT_EQ(verdicts([](Row& row) { row.counters.hbm_total = 65'280'000; }), "1 worse hbm_bytes\n");
  EXPECT_EQ(verdicts([](Row& row) { row.counters.sm_total = 101'000'000; }), "1 worse sm_bytes\n");
  EXPECT_EQ(verdicts([](Row& row) { row.counters.executed_tensor_flops = 1'002'000'000; }),
            "1 worse executed_tensor_flops\n");
  EXPECT_EQ(verdicts([](Row& row) { row.build.registers = 129; }), "1 worse registers\n");
  EXPECT_EQ(verdicts([](Row& row) { row.build.spill_bytes = 8; }), "1 worse spill_bytes\n");
  EXPECT_EQ(verdicts([](Row& row) { row.build.smem_bytes = 50000; }), "1 worse smem_bytes\n");
  EXPECT_EQ(verdicts([](Row& row) {
              row.latency.median_ns = 1.2e6;
              row.latency.ci95_low_ns = 1.19e6;
              row.latency.ci95_high_ns = 1.21e6;
              row.counters.sm_cycles = 2'376'000;
            }),
            "1 worse latency_median_ns\n");
}

TEST(Gate, RowsWhoseHbmBytesScatterAreNamed) {
  const auto scattering = [](int64_t bytes) {
    return csv_of({measured_row(512), changed([&](Row& row) {
                     row.counters.hbm_total = bytes;
                     row.counters.hbm_spread_pct = 20;
                     row.counters.hbm_counts = 16;
                   })});
  };
  const Outcome outcome = gate_texts(scattering(64'000'000), scattering(66'000'000));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.verdicts, "ambiguous hbm_bytes\n");
  EXPECT_THAT(outcome.summary, AllOf(HasSubstr("hbm_bytes of 1 row scatters by more than the threshold"),
                                     HasSubstr("q_len=1024"), HasSubstr("no change under 8.8 % is certain")));
  EXPECT_EQ(gate_texts(scattering(64'000'000), scattering(80'000'000)).verdicts, "worse hbm_bytes\n");
}

// Files from before the column: a spread is taken for that of two counts.
TEST(Gate, FilesWithoutHbmCountsAreRead) {
  std::vector<const Column*> columns = all_columns();
  std::erase_if(columns, [](const Column* column) { return column->name == "hbm_counts"; });
  const auto old_file = [&](int64_t bytes, Real spread) {
    const Row row = changed([&](Row& changing) {
      changing.counters.hbm_total = bytes;
      changing.counters.hbm_spread_pct = spread;
    });
    return csv_header(columns) + csv_row(columns, row);
  };
  EXPECT_EQ(gate_texts(old_file(64'000'000, {}), old_file(65'280'000, {})).verdicts, "worse hbm_bytes\n");
  EXPECT_EQ(gate_texts(old_file(64'000'000, 0.5), old_file(65'280'000, 0.5)).verdicts,
            "ambiguous hbm_bytes\n");
}

TEST(Gate, FailOnChoosesWhatFails) {
  GateOptions only_flops;
  only_flops.fail_on = {FailOn::flops};
  EXPECT_EQ(after([](Row& row) { row.counters.sm_total = 200'000'000; }, only_flops).code, 0);
  EXPECT_EQ(after([](Row& row) { row.counters.executed_tensor_flops = 2'000'000'000; }, only_flops).code, 1);
  const Change shared = [](Row& row) {
    row.latency.median_ns = 1.2e6;
    row.latency.ci95_low_ns = 1.19e6;
    row.latency.ci95_high_ns = 1.21e6;
    row.status.flags = "gpu_shared";
  };
  EXPECT_EQ(after(shared).code, 0);
  EXPECT_EQ(after(shared).verdicts, "ambiguous latency_median_ns\n");
  GateOptions strict;
  strict.fail_on = {FailOn::ambiguous};
  EXPECT_EQ(after(shared, strict).code, 1);
}

// cccl#10636: an older tool exits non-zero when everything got faster.
TEST(Gate, ImprovementsNeverFail) {
  const Outcome outcome = after([](Row& row) {
    row.counters.hbm_total = 1'000'000;
    row.build.registers = 10;
    row.latency.median_ns = 0.5e6;
    row.latency.ci95_low_ns = 0.49e6;
    row.latency.ci95_high_ns = 0.51e6;
  });
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.verdicts, AllOf(HasSubstr("better hbm_bytes"), HasSubstr("better latency_median_ns"),
                                      HasSubstr("better registers")));
}

TEST(Gate, ModelledTimeIsNeverGated) {
  const auto modelled = [](double ns) {
    return csv_of({changed([&](Row& row) {
      row.latency = {};
      row.latency.latency_source = "model";
      row.latency.median_ns = ns;
    })});
  };
  const Outcome outcome = gate_texts(modelled(1e6), modelled(9e6));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.verdicts, "");
}

// MetaMask#45450: nothing was compared, and the gate was green.
TEST(Gate, NothingComparedIsNoPass) {
  const std::string good = csv_of({measured_row()});
  EXPECT_EQ(gate_texts(good, csv_of({})).code, 3);
  EXPECT_EQ(gate_texts(csv_of({}), good).code, 3);
  EXPECT_EQ(gate_texts(csv_of({}), csv_of({})).code, 3);
  EXPECT_EQ(gate_texts(good, csv_of({measured_row(4096)})).code, 3);
  const std::string skipped = csv_of({changed([](Row& row) { row.status.disposition = "skipped"; })});
  EXPECT_EQ(gate_texts(skipped, skipped).code, 3);
  GateOptions lenient;
  lenient.allow_missing = true;
  EXPECT_EQ(gate_texts(good, csv_of({}), lenient).code, 3);
  // The only row broke: that is a regression, unless it may, and then nothing is left to compare.
  const std::string broken = csv_of({changed([](Row& row) {
    row.status.disposition = "incorrect";
    row.status.reason = "because";
  })});
  EXPECT_EQ(gate_texts(good, broken).code, 1);
  GateOptions blind;
  blind.fail_on = {FailOn::bytes};
  EXPECT_EQ(gate_texts(good, broken, blind).code, 3);
}

TEST(Gate, MissingAndNoLongerOkRowsAreNoPass) {
  const std::string two = csv_of({measured_row(), measured_row(2048)});
  const auto with = [](const char* disposition) {
    Row row = measured_row(2048);
    row.status.disposition = disposition;
    row.status.reason = "because";
    return csv_of({measured_row(), row});
  };
  GateOptions lenient;
  lenient.allow_missing = true;
  GateOptions blind;
  blind.fail_on = {FailOn::bytes};
  EXPECT_EQ(gate_texts(two, csv_of({measured_row()})).code, 1);
  EXPECT_EQ(gate_texts(two, csv_of({measured_row()})).verdicts, "missing\n");
  EXPECT_EQ(gate_texts(two, csv_of({measured_row()}), lenient).code, 0);
  for (const char* disposition : {"skipped", "incorrect", "failed"}) {
    EXPECT_EQ(gate_texts(two, with(disposition)).code, 1) << disposition;
    EXPECT_EQ(gate_texts(two, with(disposition)).verdicts, "no longer ok\n");
    EXPECT_EQ(gate_texts(two, with(disposition), blind).code, 0);
    EXPECT_EQ(gate_texts(with(disposition), two).code, 0) << "it was repaired";
    EXPECT_EQ(gate_texts(with(disposition), two).verdicts, "now ok\n");
    EXPECT_EQ(gate_texts(with(disposition), csv_of({measured_row()})).code, 0) << "it never worked";
  }
  EXPECT_EQ(gate_texts(two, with("skipped"), lenient).code, 0);
  EXPECT_EQ(gate_texts(two, with("incorrect"), lenient).code, 1) << "a wrong kernel is not merely missing";
  EXPECT_EQ(gate_texts(csv_of({measured_row()}), two).code, 0);
  EXPECT_EQ(gate_texts(csv_of({measured_row()}), two).verdicts, "new\n");
}

TEST(Gate, AChangedDefaultTileIsReportedAndCompared) {
  const Outcome outcome = after([](Row& row) {
    row.resolved.br = 128;
    row.counters.sm_total = 150'000'000;
  });
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.verdicts, "worse sm_bytes\ntile\n");
  EXPECT_EQ(after([](Row& row) { row.resolved.br = 128; }).code, 0);
}

TEST(Gate, RunsOfAFile) {
  Row old_row = measured_row(), new_row = measured_row();
  new_row.provenance.run = "20260102T000000Z-00000002";
  new_row.counters.hbm_total = 90'000'000;
  const std::string good = csv_of({old_row}), both = csv_of({old_row, new_row});
  EXPECT_EQ(gate_texts(good, both).code, 1) << "the last run";
  GateOptions first;
  first.run = old_row.provenance.run;
  EXPECT_EQ(gate_texts(good, both, first).code, 0);
  first.run = "newest";
  EXPECT_EQ(
      gate_texts(csv_of({old_row, measured_row(2)}), csv_of({measured_row(2), new_row}), first).verdicts,
      "worse hbm_bytes\n");
  first.run = "nosuch";
  EXPECT_THAT(gate_texts(good, both, first).error, HasSubstr("new.csv has no run nosuch"));
  EXPECT_EQ(gate_texts(both, good).code, 0) << "a baseline's newest row counts: an improvement";
  EXPECT_EQ(gate_texts(both, good).verdicts, "better hbm_bytes\n");
}

// gooey PR 25: tiny cases vary by 25 %.
TEST(Gate, TinyCasesHaveAFloor) {
  const auto tiny = [](int64_t hbm, double ns) {
    return csv_of({changed([&](Row& row) {
      row.counters.hbm_total = hbm;
      row.latency.median_ns = ns;
      row.latency.ci95_low_ns = ns * 0.999;
      row.latency.ci95_high_ns = ns * 1.001;
    })});
  };
  EXPECT_EQ(gate_texts(tiny(1'000'000, 5000), tiny(1'250'000, 6250)).code, 0);
  EXPECT_EQ(gate_texts(tiny(1'000'000, 5000), tiny(1'250'000, 6250)).verdicts, "");
}

}  // namespace
}  // namespace attnprof
