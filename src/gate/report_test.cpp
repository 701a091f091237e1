#include "gate/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/gate_files.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Texts {
  std::string text, markdown, junit;
  nlohmann::json json;
};

Texts reports(const std::vector<Row>& baseline, const std::vector<Row>& current) {
  std::istringstream old_stream(csv_of(baseline)), new_stream(csv_of(current));
  const GateOptions options;
  const Table old_table(old_stream, "base.csv", {}, options.metrics),
      new_table(new_stream, "new.csv", {}, options.metrics);
  const GateResult result = gate({old_table, {}}, {new_table, {}}, options);
  std::ostringstream json, junit;
  write_gate_junit(junit, result, options);
  write_gate_json(json, result, options);
  return {gate_text(result), gate_markdown(result), junit.str(), nlohmann::json::parse(json.str())};
}

// One row of every kind.
Texts everything() {
  std::vector<Row> old_rows, new_rows;
  for (int64_t length = 1; length <= 6; ++length) old_rows.push_back(measured_row(length));
  new_rows = old_rows;
  new_rows[1].counters.sm_total = 102'000'000;
  new_rows[1].resolved.br = 128;
  new_rows[2].status = {"failed", "a <crash> & \"burn\" | @you", ""};
  new_rows[3].counters.hbm_total = 32'000'000;
  new_rows[4].status.flags = "gpu_shared";
  new_rows[4].latency.median_ns = 2e6;
  new_rows[4].latency.ci95_low_ns = 1.99e6;
  new_rows[4].latency.ci95_high_ns = 2.01e6;
  new_rows[5] = measured_row(7);
  return reports(old_rows, new_rows);
}

std::string row(int length) {
  return fmt::format(
      "flash2 fwd fp16 full batch=4 heads=16 kv_heads=16 q_len={0} kv_len={0} head_dim=64 auto - cold",
      length);
}

TEST(GateReport, TextIsExactlyThis) {
  const std::string expected =
      "no longer ok " + row(3) + ": failed: a <crash> & \"burn\" | @you\n" + "worse        " + row(2) +
      ": sm_bytes 100 MB -> 102 MB (+2.00 %, more than 0.5 %)\n" + "missing      " + row(6) +
      ": only in base.csv, line 7\n" + "ambiguous    " + row(5) +
      ": latency_median_ns 1.00 ms -> 2.00 ms (+100.00 %, the current run shared its GPU with another process)\n" +
      "tile         " + row(2) + ": 64x64 -> 128x64\n" + "better       " + row(4) +
      ": hbm_bytes 64.0 MB -> 32.0 MB (-50.00 %)\n" + "new          " + row(7) +
      ": ok, only in new.csv, line 7\n" +
      "gate failed: 5 rows and 28 values compared, 1 worse, 1 ambiguous, 1 better, 1 missing, "
      "1 no longer ok, 1 new; the rows that are no longer ok say why\n";
  EXPECT_EQ(everything().text, expected);
}

TEST(GateReport, ASummaryAloneWhenNothingDiffers) {
  EXPECT_EQ(reports({measured_row()}, {measured_row()}).text, "gate passed: 1 row and 7 values compared\n");
  EXPECT_THAT(reports({measured_row()}, {}).text,
              HasSubstr("gate compared nothing: 0 rows and 0 values compared, 1 missing, which is no pass"));
}

TEST(GateReport, SaysWhatToDo) {
  Row other = measured_row();
  other.counters.hbm_total = 100'000'000;
  EXPECT_THAT(reports({measured_row()}, {other}).text,
              HasSubstr("if this is meant, renew the baseline: attnprof "
                        "baseline update base.csv new.csv --accept-regressions\n"));
  EXPECT_THAT(reports({other}, {measured_row()}).text,
              HasSubstr("keep the gain with attnprof baseline update base.csv new.csv\n"));
}

TEST(GateReport, MarkdownEscapesWhatWouldBreakATable) {
  const std::string markdown = everything().markdown;
  EXPECT_THAT(markdown, testing::StartsWith("### attnprof gate: failed\n\n"));
  EXPECT_THAT(markdown, HasSubstr("\n"
                                  "| verdict | what | row |\n"
                                  "| --- | --- | --- |\n"
                                  "| no longer ok | failed: a &lt;crash&gt; &amp; \"burn\" \\| &#64;you | "));
  EXPECT_THAT(markdown, HasSubstr("| worse | sm\\_bytes 100 MB -&gt; 102 MB (+2.00 %, more than 0.5 %) | "));
}

TEST(GateReport, MarkdownStaysBelowAJobSummarysLimit) {
  std::vector<Row> old_rows, new_rows;
  for (int64_t length = 1; length <= 6000; ++length) {
    old_rows.push_back(measured_row(length));
    old_rows.back().identity.knobs = std::string(400, '|');
    new_rows.push_back(old_rows.back());
    new_rows.back().counters.sm_total = 200'000'000;
  }
  const std::string markdown = reports(old_rows, new_rows).markdown;
  EXPECT_LT(markdown.size(), 1'000'000u);
  EXPECT_THAT(markdown, HasSubstr("\n... and "));
}

TEST(GateReport, JunitHasOneCaseARow) {
  const std::string junit = everything().junit;
  EXPECT_THAT(junit, HasSubstr("<testsuites tests=\"7\" failures=\"3\" errors=\"0\" skipped=\"1\">"));
  size_t cases = 0;
  for (size_t at = junit.find("<testcase "); at != std::string::npos; at = junit.find("<testcase ", at + 1))
    ++cases;
  EXPECT_EQ(cases, 7u);
  EXPECT_THAT(junit, HasSubstr("<failure type=\"no longer ok\" message=\"failed: "
                               "a &lt;crash&gt; &amp; &quot;burn&quot; | @you\"/>"));
  EXPECT_THAT(junit, HasSubstr("<failure type=\"missing\" message=\"missing\"/>"));
  EXPECT_THAT(junit,
              HasSubstr("<system-out>better: hbm_bytes 64.0 MB -&gt; 32.0 MB (-50.00 %)</system-out>"));
  EXPECT_THAT(reports({measured_row()}, {}).junit, HasSubstr("errors=\"1\""));
}

TEST(GateReport, JunitHoldsNoByteThatXmlCannot) {
  Row row = measured_row();
  row.identity.variant = "a\x01\xff\xed\xa0\x80\xef\xbf\xbf\xc3\xa4z";
  std::string replaced;
  for (int i = 0; i < 6; ++i) replaced += "\xef\xbf\xbd";
  EXPECT_THAT(reports({row}, {row}).junit, HasSubstr("name=\"a" + replaced + "\xc3\xa4z fwd "));
}

TEST(GateReport, JsonHasEverything) {
  const nlohmann::json json = everything().json;
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["compared"], 28);
  EXPECT_EQ(json["rows"].size(), 7u);
  EXPECT_EQ(json["metrics"].size(), 7u);
  const nlohmann::json& worse = json["rows"][1];
  EXPECT_EQ(worse["state"], "worse");
  EXPECT_EQ(worse["failed"], true);
  EXPECT_EQ(worse["baseline_line"], 3);
  EXPECT_EQ(worse["metrics"].size(), 7u);
  EXPECT_EQ(worse["metrics"][2]["column"], "sm_bytes");
  EXPECT_EQ(worse["metrics"][2]["baseline"], 100'000'000);
  EXPECT_EQ(worse["metrics"][2]["current"], 102'000'000);
  EXPECT_EQ(worse["metrics"][2]["verdict"], "worse");
  EXPECT_NEAR(worse["metrics"][2]["worsening"].get<double>(), 0.02, 1e-12);
  EXPECT_NEAR(worse["metrics"][1]["uncertainty"].get<double>(), 0.00119, 1e-5) << "of two rows' HBM counts";
  EXPECT_FALSE(worse["metrics"][2].contains("uncertainty"));
  EXPECT_EQ(json["rows"][2]["reason"], "a <crash> & \"burn\" | @you");
}

// Rows are written as text: what needs escapes must still be JSON.
TEST(GateReport, JsonEscapesWhatRowsHold) {
  Row row = measured_row();
  row.identity.variant = "a \"b\"\\\n\x01\xff";
  Row slow = row;
  slow.counters.sm_total = 0;
  const nlohmann::json json = reports({slow}, {row}).json;
  EXPECT_THAT(json["rows"][0]["row"].get<std::string>(), HasSubstr("a \"b\"\\\n\x01\xef\xbf\xbd fwd"));
  EXPECT_TRUE(json["rows"][0]["metrics"][2]["worsening"].is_null()) << "from 0";
}

TEST(GateReport, AGateWithoutAVerdictIsRedEverywhere) {
  const EnvironmentError error("not comparable: device (A in the baseline, B now)");
  EXPECT_EQ(gate_error_markdown(error),
            "### attnprof gate: no verdict\n\nnot comparable: device (A in the baseline, B now)\n");
  EXPECT_THAT(gate_error_junit(error),
              HasSubstr("<error type=\"no verdict\" message=\"not comparable: device"));
  EXPECT_EQ(nlohmann::json::parse(gate_error_json(error))["exit_code"], 3);
}

}  // namespace
}  // namespace attnprof
