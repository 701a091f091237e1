#include "gate/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/gate_files.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Texts {
  std::string text, markdown, junit, annotations;
  nlohmann::json json;
};

Texts reports(const std::vector<Row>& baseline, const std::vector<Row>& current,
              const GateOptions& options = {}) {
  std::istringstream old_stream(csv_of(baseline)), new_stream(csv_of(current));
  const Table old_table(old_stream, "base.csv", {}, options.metrics),
      new_table(new_stream, "new.csv", {}, options.metrics);
  const GateResult result = gate({old_table, {}}, {new_table, {}}, options);
  const GateReport report(result, options);
  std::ostringstream json, junit;
  write_gate_junit(junit, report);
  write_gate_json(json, report);
  return {gate_text(report), gate_markdown(report), junit.str(), gate_annotations(report, "."),
          nlohmann::json::parse(json.str())};
}

// One row of every kind.
Texts everything(const GateOptions& options = {}) {
  std::vector<Row> old_rows, new_rows;
  for (int64_t length = 1; length <= 9; ++length) old_rows.push_back(measured_row(length));
  old_rows[6].status = {"failed", "out of memory", ""};
  old_rows[7].status = {"skipped", "too large", ""};
  new_rows = old_rows;
  new_rows[1].counters.sm_total = 102'000'000;
  new_rows[1].resolved.br = 128;
  new_rows[2].status = {"failed", "a <crash> & \"burn\" | @you", ""};
  new_rows[3].counters.hbm_total = 32'000'000;
  new_rows[4].status.flags = "gpu_shared";
  new_rows[4].latency.median_ns = 2e6;
  new_rows[4].latency.ci95_low_ns = 1.99e6;
  new_rows[4].latency.ci95_high_ns = 2.01e6;
  new_rows[5] = measured_row(10);
  return reports(old_rows, new_rows, options);
}

constexpr const char* same_in_all =
    "flash2 fwd fp16 full batch=4 heads=16 kv_heads=16 head_dim=64 auto - cold";

std::string row(int length) {
  return fmt::format(
      "flash2 fwd fp16 full batch=4 heads=16 kv_heads=16 q_len={0} kv_len={0} head_dim=64 auto - cold",
      length);
}

TEST(GateReport, TextIsExactlyThis) {
  EXPECT_EQ(
      everything().text,
      "gate failed: 1 of 10 rows no longer ok, 1 worse, 1 missing, 1 ambiguous, 1 better, 1 new, 1 not ok in "
      "both, 1 skipped in both, 2 the same; 35 values compared\n"
      "  1 of 10 rows no longer ok (q_len=3 kv_len=3): failed: a <crash> & \"burn\" | @you\n"
      "  1 of 10 rows worse (q_len=2 kv_len=2): SM bytes 100 MB -> 102 MB (+2.00 %, more than 0.5 %); tile "
      "64x64 -> 128x64\n"
      "  1 of 10 rows missing (q_len=6 kv_len=6): only in base.csv, line 7\n"
      "  1 of 10 rows ambiguous (q_len=5 kv_len=5): latency 1.00 ms -> 2.00 ms (+100.00 %, the current run "
      "shared its GPU with another process)\n"
      "  1 of 10 rows better (q_len=4 kv_len=4): HBM bytes 64.0 MB -> 32.0 MB (-50.00 %)\n"
      "  1 of 10 rows new (q_len=10 kv_len=10): only in new.csv, line 7\n"
      "  1 of 10 rows not ok in both (q_len=7 kv_len=7): failed: out of memory\n"
      "all rows: " +
          std::string(same_in_all) + "\nwhat to do: the rows that are no longer ok say why\n");
}

TEST(GateReport, TheFirstLineIsTheAnswer) {
  EXPECT_EQ(reports({measured_row()}, {measured_row()}).text,
            "gate passed: 1 of 1 row the same; 7 values compared\nall rows: " + row(1024) + "\n");
  EXPECT_THAT(reports({measured_row()}, {}).text,
              testing::StartsWith("gate compared nothing: 1 of 1 row missing; 0 values compared\n"));
  EXPECT_THAT(reports({measured_row()}, {}).text,
              HasSubstr("what to do: to compare nothing is no pass: do both files"));
}

// Twelve kernels of one algorithm, of which ten spill.
std::vector<Row> kernels(int tile, int spilling) {
  std::vector<Row> rows;
  for (int i = 0; i < 12; ++i) {
    rows.push_back(measured_row(1024 + i));
    rows.back().resolved.br = rows.back().resolved.bc = tile;
    rows.back().build.smem_bytes = tile * 768;
    rows.back().build.spill_bytes = i < spilling ? 8 * (i + 1) : 0;
  }
  return rows;
}

TEST(GateReport, OneCauseIsOneLine) {
  const Texts texts = reports(kernels(32, 0), kernels(64, 10));
  EXPECT_EQ(
      texts.text,
      "gate failed: 12 of 12 rows worse; 84 values compared\n"
      "  12 of 12 rows worse: spills in 10, at most 0 -> 80; shared memory in 12, at most 24576 -> 49152 "
      "(+100.00 %); tile 32x32 -> 64x64\n"
      "all rows: " +
          std::string(same_in_all) +
          "\nwhat to do: if this is meant, renew the baseline: attnprof baseline update base.csv "
          "new.csv --accept-regressions\n");
  EXPECT_THAT(
      texts.markdown,
      HasSubstr("\n- **12 of 12 rows worse**: spills in 10, at most 0 -&gt; 80; shared memory in 12,"));
}

// The rows of one cause say what they have in common, and how many there are of that.
TEST(GateReport, ACauseNamesWhatItsRowsShare) {
  std::vector<Row> old_rows, new_rows;
  for (const char* variant : {"flash1", "flash2"})
    for (const char* mask : {"full", "causal"})
      for (const int64_t length : {512, 1024}) {
        old_rows.push_back(measured_row(length));
        old_rows.back().identity.variant = variant;
        old_rows.back().identity.word("mask") = mask;
        new_rows.push_back(old_rows.back());
        if (variant == std::string("flash2") && mask == std::string("causal"))
          new_rows.back().counters.sm_total = 100'000'000 + length * 1000;
      }
  EXPECT_THAT(
      reports(old_rows, new_rows).text,
      testing::StartsWith("gate failed: 2 of 8 rows worse, 6 the same; 56 values compared\n"
                          "  2 of 2 rows worse (flash2 causal): SM bytes in 2, at most 100 MB -> 101 MB "
                          "(+1.02 %)\n"
                          "all rows: fwd fp16 batch=4 "));
}

TEST(GateReport, ColourIsOfTheStateAlone) {
  Row worse = measured_row(), better = measured_row(2), old = measured_row(2);
  worse.counters.sm_total = 200'000'000;
  better.counters.sm_total = 50'000'000;
  std::istringstream old_stream(csv_of({measured_row(), old})), new_stream(csv_of({worse, better}));
  const GateOptions options;
  const Table old_table(old_stream, "base.csv", {}, options.metrics),
      new_table(new_stream, "new.csv", {}, options.metrics);
  const GateResult result = gate({old_table, {}}, {new_table, {}}, options);
  const std::string text = gate_text(GateReport(result, options), /*color=*/true);
  EXPECT_THAT(text, testing::StartsWith("\x1b[31mgate failed\x1b[0m: "));
  EXPECT_THAT(text, HasSubstr("1 of 2 rows \x1b[31mworse\x1b[0m ("));
  EXPECT_THAT(text, HasSubstr("1 of 2 rows \x1b[32mbetter\x1b[0m ("));
  EXPECT_THAT(gate_text(GateReport(result, options)), Not(HasSubstr("\x1b")));
}

TEST(GateReport, SaysWhatToDo) {
  Row other = measured_row();
  other.counters.hbm_total = 100'000'000;
  GateOptions options;
  const auto advice = [&](const Row& before, const Row& now) {
    return reports({before}, {now}, options).json["advice"].get<std::string>();
  };
  EXPECT_EQ(advice(measured_row(), other),
            "if this is meant, renew the baseline: attnprof baseline update base.csv new.csv "
            "--accept-regressions");
  EXPECT_EQ(advice(other, measured_row()),
            "keep the gain in the baseline: attnprof baseline update base.csv new.csv");
  options.given = {"--sm", "3%", "--run", "a b"};
  EXPECT_EQ(advice(other, measured_row()),
            "keep the gain in the baseline: attnprof baseline update base.csv new.csv --sm 3% --run 'a b'");
  options.renewable = false;
  EXPECT_THAT(advice(other, measured_row()), Not(HasSubstr("new.csv")));
}

// There is no baseline to renew, and no gain to keep.
TEST(GateReport, OfAPullRequestItSaysOtherThings) {
  Row other = measured_row();
  other.counters.hbm_total = 100'000'000;
  GateOptions options;
  options.against = Against::merge_base;
  const Texts worse = reports({measured_row()}, {other}, options);
  EXPECT_THAT(worse.text, HasSubstr("what to do: if this is meant, let this pull request pass with --fail-on "
                                    "latency,flops,build,missing\n"));
  options.fail_on = {FailOn::latency, FailOn::flops, FailOn::build, FailOn::missing};
  const Texts allowed = reports({measured_row()}, {other}, options);
  EXPECT_THAT(allowed.text,
              testing::StartsWith("gate passed: 1 of 1 row worse (allowed); 7 values compared\n"));
  for (const Texts& texts : {worse, allowed, reports({other}, {measured_row()}, options)})
    for (const std::string& text : {texts.text, texts.markdown, texts.junit})
      EXPECT_THAT(text, Not(HasSubstr("baseline update")));
}

TEST(GateReport, MarkdownReadsLikeThis) {
  Row worse = measured_row(2);
  worse.counters.sm_total = 102'000'000;
  EXPECT_EQ(
      reports({measured_row(1), measured_row(2)}, {measured_row(1), worse}).markdown,
      "### attnprof gate: failed\n"
      "\n"
      "gate failed: 1 of 2 rows worse, 1 the same; 14 values compared\n"
      "\n"
      "- **1 of 2 rows worse** (q\\_len=2 kv\\_len=2): SM bytes 100 MB -&gt; 102 MB (+2.00 %, more than 0.5 "
      "%)\n"
      "\n"
      "All rows: flash2 fwd fp16 full batch=4 heads=16 kv\\_heads=16 head\\_dim=64 auto - cold\n"
      "\n"
      "| row | verdict | SM bytes |\n"
      "| --- | --- | ---: |\n"
      "| q\\_len=2 kv\\_len=2 | **worse** | **100 MB -&gt; 102 MB (+2.00 %)** |\n"
      "\n"
      "What to do: if this is meant, renew the baseline\n"
      "\n"
      "~~~sh\n"
      "attnprof baseline update base.csv new.csv --accept-regressions\n"
      "~~~\n"
      "\n"
      "<details><summary>All 2 rows</summary>\n"
      "\n"
      "| row | verdict | latency | HBM bytes | SM bytes | executed FLOPs | registers | spills | shared "
      "memory |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
      "| q\\_len=1 kv\\_len=1 | same | 1.00 ms | 64.0 MB | 100 MB | 1.00 GFLOP | 128 | 0 | 49152 |\n"
      "| q\\_len=2 kv\\_len=2 | **worse** | 1.00 ms | 64.0 MB | **100 MB -&gt; 102 MB (+2.00 %)** | 1.00 GFLOP "
      "| 128 | 0 | 49152 |\n"
      "\n"
      "</details>\n");
}

TEST(GateReport, MarkdownEscapesWhatWouldBreakATable) {
  const std::string markdown = everything().markdown;
  EXPECT_THAT(markdown, HasSubstr("failed: a &lt;crash&gt; &amp; \"burn\" \\| &#64;you** | "));
  EXPECT_THAT(markdown, Not(HasSubstr("@you")));
}

TEST(GateReport, MarkdownStaysBelowAJobSummarysLimit) {
  std::vector<Row> old_rows, new_rows;
  for (int64_t length = 1; length <= 6000; ++length) {
    old_rows.push_back(measured_row(length));
    old_rows.back().identity.knobs = std::string(400, '|') + std::to_string(length);
    new_rows.push_back(old_rows.back());
    new_rows.back().counters.sm_total = 200'000'000;
  }
  const std::string markdown = reports(old_rows, new_rows).markdown;
  EXPECT_LT(markdown.size(), 1'000'000u);
  EXPECT_THAT(markdown, HasSubstr("\nand "));
  EXPECT_THAT(markdown, testing::EndsWith("</details>\n"));
}

TEST(GateReport, AnnotationsAreALineACause) {
  EXPECT_EQ(
      everything().annotations,
      "::error title=attnprof gate::1 of 10 rows no longer ok (q_len=3 kv_len=3): failed: a <crash> & "
      "\"burn\" | @you\n"
      "::error title=attnprof gate::1 of 10 rows worse (q_len=2 kv_len=2): SM bytes 100 MB -> 102 MB "
      "(+2.00 %25, more than 0.5 %25); tile 64x64 -> 128x64\n"
      "::error title=attnprof gate::1 of 10 rows missing (q_len=6 kv_len=6): only in base.csv, line 7\n"
      "::warning title=attnprof gate::1 of 10 rows ambiguous (q_len=5 kv_len=5): latency 1.00 ms -> 2.00 "
      "ms (+100.00 %25, the current run shared its GPU with another process)\n"
      "::warning title=attnprof gate::1 of 10 rows not ok in both (q_len=7 kv_len=7): failed: out of "
      "memory\n");
  EXPECT_EQ(reports({measured_row()}, {measured_row()}).annotations, "");
}

// GitHub shows ten errors and ten warnings of a step.
TEST(GateReport, AnnotationsAreNoMoreThanAreShown) {
  std::vector<Row> old_rows, new_rows;
  for (int i = 1; i <= 14; ++i) {
    old_rows.push_back(measured_row(i));
    new_rows.push_back(old_rows.back());
    new_rows.back().status = {"failed", fmt::format("reason {}\n::warning::forged", i), ""};
  }
  old_rows.push_back(measured_row(100));
  new_rows.push_back(measured_row(100));
  const std::string text = reports(old_rows, new_rows).annotations;
  EXPECT_EQ(std::ranges::count(text, '\n'), 10);
  EXPECT_THAT(text, testing::EndsWith("::error title=attnprof gate::and 5 more, which the report of the gate "
                                      "lists\n"));
  EXPECT_THAT(text, Not(HasSubstr("\n::warning")));
}

TEST(GateReport, JunitHasOneCaseARow) {
  const std::string junit = everything().junit;
  EXPECT_THAT(junit, HasSubstr("<testsuites tests=\"10\" failures=\"3\" errors=\"0\" skipped=\"3\">"));
  size_t cases = 0;
  for (size_t at = junit.find("<testcase "); at != std::string::npos; at = junit.find("<testcase ", at + 1))
    ++cases;
  EXPECT_EQ(cases, 10u);
  EXPECT_THAT(junit, HasSubstr("<failure type=\"no longer ok\" message=\"failed: "
                               "a &lt;crash&gt; &amp; &quot;burn&quot; | @you\"/>"));
  EXPECT_THAT(junit, HasSubstr("<failure type=\"missing\" message=\"missing\"/>"));
  EXPECT_THAT(junit, HasSubstr("<skipped message=\"not ok in both, failed: out of memory\"/>"));
  EXPECT_THAT(junit,
              HasSubstr("<system-out>better: hbm_bytes 64.0 MB -&gt; 32.0 MB (-50.00 %)</system-out>"));
  EXPECT_THAT(junit, HasSubstr("    <system-out>gate failed: 1 of 10 rows no longer ok, "));
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
  EXPECT_EQ(json["compared"], 35);
  EXPECT_EQ(json["row_counts"]["not ok in both"], 1);
  EXPECT_EQ(json["causes"].size(), 7u);
  EXPECT_EQ(json["causes"][1]["rows"], 1);
  EXPECT_EQ(json["causes"][1]["shared"], "q_len=2 kv_len=2");
  EXPECT_EQ(json["shared_identity"], same_in_all);
  EXPECT_EQ(json["rows"].size(), 10u);
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
  EXPECT_EQ(gate_error_annotation(error),
            "::error title=attnprof gate%3A no verdict::not comparable: device (A in the baseline, B now)\n");
  EXPECT_EQ(nlohmann::json::parse(gate_error_json(error))["exit_code"], 3);
}

}  // namespace
}  // namespace attnprof
