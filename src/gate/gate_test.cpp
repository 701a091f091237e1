#include "gate/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/schema.hpp"
#include "testing/gate_files.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Change = std::function<void(Row&)>;

Row changed(const Change& change) {
  Row row = measured_row();
  change(row);
  return row;
}

// One row against itself after `change`.
Outcome after(const Change& change, const GateOptions& options = {}) {
  return gate_texts(csv_of({measured_row()}), csv_of({changed(change)}), options);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Gate, EveryColumnItReadsIsInTheSchema) {
  for (const Metric& metric : default_metrics()) EXPECT_TRUE(find_column(metric.column)) << metric.column;
  for (size_t i = 0; i < static_cast<size_t>(Extra::count); ++i)
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

// OpenFAST#1156: NaN compares false and passes. alfresco-benchmark#123: a decimal comma.
TEST(Gate, MalformedCellsAreErrorsWithTheirPlace) {
  const std::string good = csv_of({measured_row()});
  for (const char* bad : {"nan", "NaN", "inf", "-inf", "\"64,5\"", "64e6", "0x10", " 64000000", "+64000000",
                          "-1", "64000000;", "99999999999999999999"}) {
    const std::string text = replaced(good, "64000000", bad);
    for (const Outcome& outcome : {gate_texts(good, text), gate_texts(text, good), gate_texts(text, text)}) {
      EXPECT_EQ(outcome.code, 2) << bad;
      EXPECT_THAT(outcome.error, HasSubstr("line 2, column hbm_bytes: ")) << bad;
    }
  }
  for (const char* bad : {"nan", "inf", "\"9,99\"", "1e999"})
    EXPECT_THAT(gate_texts(good, replaced(good, "1e+06", bad)).error,
                HasSubstr("new.csv, line 2, column latency_median_ns: "))
        << bad;
  EXPECT_THAT(gate_texts(good, replaced(good, ",ok,", ",o,")).error,
              HasSubstr("column disposition: 'o' is none"));
}

TEST(Gate, EmptyWhereAValueIsRequiredIsAnError) {
  const auto error = [](const Change& change) { return after(change).error; };
  EXPECT_THAT(error([](Row& row) { row.identity.cache = ""; }),
              HasSubstr("line 2, column cache: it is empty"));
  EXPECT_THAT(error([](Row& row) { row.status.disposition = ""; }), HasSubstr("line 2, column disposition"));
  EXPECT_THAT(error([](Row& row) { row.latency.median_ns = {}; }),
              HasSubstr("line 2, column latency_median_ns"));
  EXPECT_THAT(
      error([](Row& row) { row.counters.hbm_total = {}; }),
      HasSubstr("new.csv, line 2, column hbm_bytes: it is empty, though the row is ok and was counted"));
  EXPECT_THAT(
      error([](Row& row) { row.counters.executed_tensor_flops = {}; }),
      HasSubstr(
          "new.csv, line 2, column executed_tensor_flops: it is empty, but base.csv, line 2 has 1000000000"));
  EXPECT_THAT(error([](Row& row) { row.provenance.env_id = ""; }), HasSubstr("line 2, column env_id"));
}

// aiter PR 5268: a torn last line spoils the file.
TEST(Gate, ATornLastLineIsAnErrorWithItsPlace) {
  const std::string good = csv_of({measured_row(), measured_row(2048)});
  const size_t second = good.find('\n', good.find('\n') + 1) + 1;
  for (size_t cut = second + 1; cut < good.size(); ++cut) {
    const Outcome without = gate_texts(good, good.substr(0, cut));
    EXPECT_EQ(without.code, 2) << cut;
    EXPECT_THAT(without.error, HasSubstr("new.csv, line 3, column ")) << cut;
  }
  const size_t last_comma = good.rfind(',');  // a cut in the last cell and its line end look whole
  for (size_t cut = second + 1; cut <= last_comma; ++cut) {
    const Outcome with = gate_texts(good, good.substr(0, cut) + "\n");
    EXPECT_EQ(with.code, 2) << cut;
    EXPECT_THAT(with.error, HasSubstr("new.csv, line 3, column ")) << cut;
  }
  EXPECT_THAT(gate_texts(good.substr(0, 30), good).error, HasSubstr("base.csv, line 1"));
  EXPECT_EQ(gate_texts("", good).code, 2);
}

// pandas#4793 BOM, PapaParse#974 mixed CRLF, PRScs#28 column order.
TEST(Gate, ByteOrderMarkLineEndsAndColumnOrderDoNotMatter) {
  const std::string good = csv_of({measured_row(), measured_row(2048)});
  std::string mixed = "\xEF\xBB\xBF" + good;
  mixed.insert(mixed.find('\n'), "\r");
  EXPECT_EQ(gate_texts(good, mixed).code, 0) << gate_texts(good, mixed).error;
  std::string returns = good;
  std::ranges::replace(returns, '\n', '\r');
  EXPECT_EQ(gate_texts(good, returns).code, 0) << gate_texts(good, returns).error;
  EXPECT_THAT(gate_texts(good, returns + "torn").error, HasSubstr("new.csv, line 4, column variant"));
  std::vector<const Column*> reversed = all_columns();
  std::ranges::reverse(reversed);
  const std::string other_order =
      csv_header(reversed) + csv_row(reversed, measured_row(2048)) + csv_row(reversed, measured_row());
  EXPECT_EQ(gate_texts(good, other_order).code, 0);
  EXPECT_EQ(gate_texts(good, other_order).verdicts, "");
}

// google/benchmark PR 107: names with commas and quotes.
TEST(Gate, NamesWithCommasQuotesAndLineEndsMatch) {
  const auto named = [](const std::string& name, int64_t hbm) {
    return csv_of({changed([&](Row& row) {
      row.identity.variant = name;
      row.counters.hbm_total = hbm;
    })});
  };
  for (const char* name : {"a,b", "say \"a\"", "two\nlines", "crlf\r\n", "a\x1f", ",", "\""}) {
    EXPECT_EQ(gate_texts(named(name, 64'000'000), named(name, 64'000'000)).code, 0) << name;
    EXPECT_EQ(gate_texts(named(name, 64'000'000), named(name, 90'000'000)).code, 1) << name;
  }
  EXPECT_EQ(gate_texts(named("a,b", 1), named("a;b", 1)).code, 3) << "no row in common";
}

// dqx#1487: duplicate keys.
TEST(Gate, DuplicateRowsOfOneRunNameBothLines) {
  const std::string twice = csv_of({measured_row(), measured_row(2048), measured_row()});
  const Outcome outcome = gate_texts(twice, csv_of({measured_row()}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("base.csv, lines 2 and 4: both are 'flash2 fwd"));
  EXPECT_EQ(gate_texts(csv_of({measured_row()}), twice).code, 2);
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

TEST(Gate, ColumnsUnknownMissingAndTwice) {
  const std::string good = csv_of({measured_row()});
  std::string extra = good;
  extra.insert(extra.rfind('\n'), ",x");
  extra.insert(extra.find('\n'), ",mood");
  EXPECT_EQ(gate_texts(good, extra).code, 0);
  EXPECT_EQ(gate_texts(good, extra).summary, "new.csv: unknown column mood is not compared\n");
  for (const char* name : {"cache", "env_id", "hbm_bytes", "disposition", "latency_ci95_low_ns"}) {
    const Outcome outcome = gate_texts(replaced(good, std::string(",") + name + ",", ",other,"), good);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.error, HasSubstr(fmt::format("base.csv, line 1: column {} is missing", name)));
  }
  EXPECT_THAT(gate_texts(good, replaced(good, ",cache,", ",tile,")).error,
              HasSubstr("new.csv, line 1, column tile: it stands twice"));
  EXPECT_THAT(gate_texts(good, good + "a,b\n").error, HasSubstr("new.csv, line 3, column "));
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

TEST(Gate, OtherPeoplesFiles) {
  GateOptions options;
  options.key = {"kernel", "size"};
  options.metrics = {parse_metric("seconds:lower:1%:0.01"), parse_metric("gflops:higher:2%:0")};
  const std::string base = "size,kernel,seconds,gflops\n1,\"a,b\",1.0,100\n2,c,2.0,50\n";
  EXPECT_EQ(gate_texts(base, "kernel,size,gflops,seconds\nc,2,50,2.0\n\"a,b\",1,99,1.0\n", options).code, 0);
  const Outcome slower =
      gate_texts(base, "kernel,size,gflops,seconds\n\"a,b\",1,97,1.1\nc,2,50,2.0\n", options);
  EXPECT_EQ(slower.code, 1);
  EXPECT_EQ(slower.verdicts, "worse seconds\nworse gflops\n");
  EXPECT_EQ(gate_texts(base, "kernel,size,gflops,seconds\n\"a,b\",1,100,1\n", options).code, 1)
      << "one is missing";
  EXPECT_THAT(gate_texts(base, "kernel,size,gflops,seconds\n\"a,b\",1,,1\n", options).error,
              HasSubstr("new.csv, line 2, column gflops: it is empty"));
  EXPECT_THAT(gate_texts(base, "kernel,size,gflops,seconds\n\"a,b\",1,nan,1\n", options).error,
              HasSubstr("column gflops: 'nan' is not a finite number"));
  EXPECT_THAT(gate_texts(base, "kernel,gflops,seconds\na,1,1\n", options).error,
              HasSubstr("column size is missing"));
}

// A line of attnprof compile -o.
std::string built(const char* tile, int br, int registers, int spills, const char* error = "") {
  const std::string figures = *error ? ",,0," : fmt::format("{},{},0,49152", registers, spills);
  return fmt::format("flash2,fwd,sm_90a,fp16,full,1,16,16,512,512,64,{},-,{},64,-,128,{},h,f.cu,e,{}\n", tile,
                     br, figures, error);
}

constexpr const char* build_header =
    "variant,step,arch,dtype,mask,batch,heads,kv_heads,q_len,kv_len,head_dim,tile,knobs,br,bc,knobs_used,"
    "threads_per_cta,registers,spill_bytes,stack_bytes,smem_bytes,code_hash,file,entry,error\n";

TEST(Gate, BuildFiles) {
  const auto kernel = [](int registers, int spills, const char* error = "") {
    return build_header + built("auto", 128, registers, spills, error);
  };
  EXPECT_EQ(gate_texts(kernel(128, 0), kernel(128, 0)).code, 0);
  EXPECT_EQ(gate_texts(kernel(128, 0), kernel(130, 16)).verdicts, "worse spill_bytes\nworse registers\n");
  EXPECT_EQ(gate_texts(kernel(128, 0), kernel(0, 0, "syntax error")).code, 3)
      << "no kernel compiles: nothing compared";
  EXPECT_EQ(gate_texts(kernel(128, 0), csv_of({measured_row()})).code, 2);
  EXPECT_THAT(gate_texts("variant,step,arch,entry\nflash2,fwd,sm_90a,e\n", kernel(128, 0)).error,
              HasSubstr("make the file again with this version's attnprof compile -o"));
}

TEST(Gate, AChangedDefaultTileOfABuildIsReportedAndCompared) {
  const auto file = [](const char* tile, int br, int registers) {
    return build_header + built(tile, br, registers, 0);
  };
  const Outcome smaller = gate_texts(file("auto", 128, 200), file("auto", 64, 128));
  EXPECT_EQ(smaller.code, 0);
  EXPECT_EQ(smaller.verdicts, "better registers\ntile\n");
  EXPECT_EQ(gate_texts(file("auto", 64, 128), file("auto", 128, 200)).verdicts, "worse registers\ntile\n");
  EXPECT_EQ(gate_texts(file("64x64", 64, 128), file("128x64", 128, 128)).code, 3)
      << "tiles asked for are other rows: nothing compared";
}

}  // namespace
}  // namespace attnprof
