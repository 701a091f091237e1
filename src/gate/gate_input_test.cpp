// Files as the gate meets them: torn, reordered, of other tools.
#include "gate/gate_fixture.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

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

}  // namespace
}  // namespace attnprof
