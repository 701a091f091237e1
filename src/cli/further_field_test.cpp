// What a field of the problem changes that is added today: nothing of what was measured before it, and
// everything once a case uses it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "cli/sweep_fixture.hpp"
#include "device/device_profiles.hpp"
#include "files/meta.hpp"
#include "model/predict.hpp"
#include "plan/case_json.hpp"
#include "plan/identity.hpp"
#include "plan/seed.hpp"
#include "plan/sweep.hpp"
#include "plugin/own_variants.hpp"
#include "report/table.hpp"
#include "schedule/tiling.hpp"
#include "test_paths.hpp"
#include "testing/gate_files.hpp"
#include "testing/window_field.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string old_rows = ATTNPROF_SOURCE_DIR "/src/testing/rows/first_schema.csv";

// Rows with a time that a gate compares.
void measured(FakeBackend& backend) {
  backend.on_time = [](Latency& latency, Status&) {
    latency.latency_source = "cuda_events";
    latency.ci95_low_ns = latency.ci95_high_ns = latency.median_ns;
  };
}

std::string told(const Result& result) {
  return fmt::format("{}\n{}\n{}", result.code, result.out, result.err);
}

class OldRows : public testing::TestWithParam<Args> {};

TEST_P(OldRows, AreReadAsBeforeTheField) {
  Args args = GetParam();
  for (std::string& arg : args)
    if (arg == "ROWS") arg = old_rows;
  const Result before = run(args);
  EXPECT_EQ(before.code, 0) << before.err;
  EXPECT_THAT(before.out, HasSubstr("flash2")) << "a command that says nothing of them proves nothing";
  const FurtherField with(window_field);
  EXPECT_EQ(told(run(args)), told(before));
}

INSTANTIATE_TEST_SUITE_P(
    FurtherField, OldRows,
    testing::Values(
        Args{"explain", "ROWS"}, Args{"explain", "ROWS", "--format", "json", "--against", "naive"},
        Args{"explain", "ROWS", "--case", "variant=flash2,mask=causal", "--against", "naive"},
        Args{"roofline", "ROWS"}, Args{"roofline", "ROWS", "--plot"},
        Args{"roofline", "ROWS", "--format", "json"}, Args{"roofline", "ROWS", "--format", "vega-lite"},
        Args{"roofline", "ROWS", "--format", "gnuplot"}, Args{"published", "ROWS"},
        Args{"published", "ROWS", "--format", "csv"}, Args{"published", "ROWS", "--format", "json"}));

TEST(FurtherFieldTest, OldRowsMakeTheSameTable) {
  const std::string before = format_table(read_rows(old_rows).rows, {});
  const FurtherField with(window_field);
  EXPECT_EQ(format_table(read_rows(old_rows).rows, {}), before);
}

TEST(FurtherFieldTest, OldRowsAreGatedAsBefore) {
  const TemporaryFolder folder;
  write_text(folder / "slow.csv", [] {
    std::vector<Row> rows = read_rows(old_rows).rows;
    for (Row& row : rows) *row.counters.sm_total *= 2;
    return csv_of(rows);
  }());
  std::filesystem::copy_file(old_rows + ".meta.json", folder / "slow.csv.meta.json");
  const auto gated = [&] {
    const Result result = run({"gate", old_rows, folder / "slow.csv", "--json", folder / "gate.json"});
    return told(result) + text_of(folder / "gate.json");
  };
  const std::string before = gated();
  EXPECT_THAT(before, AllOf(HasSubstr("15 rows"), HasSubstr("sm_bytes"), HasSubstr("flash2 fwd fp16")));
  const FurtherField with(window_field);
  EXPECT_EQ(gated(), before);
}

Case old_case() {
  SweepAxes axes;
  axes.variants = {"flash2"}, axes.seqlens = {512}, axes.fields["head_dim"] = {"64"};
  axes.brs = axes.bcs = {64};
  const DeviceProfile& device = *find_profile("h200");
  return expand(axes, device, device.hbm_bytes).at(0);
}

// The texts that seeds and plan ids are hashes of, as every file so far has them.
TEST(FurtherFieldTest, InputsPlansAndKernelsStayWhatTheyWere) {
  const auto check = [](const Case& c) {
    EXPECT_EQ(describe(c), "flash2 64x64 fp16 full b1 h16 N512 d64 cold");
    EXPECT_EQ(case_seed(c, 1), hash64("flash2 64x64 fp16 full b1 h16 N512 d64 cold -", 1));
    EXPECT_EQ(plan_id({c}, {}),
              hash_text("sampled auto 0.005 0.5 1\nflash2,fwd,fp16,full,1,16,16,512,512,64,64x64,"
                        "-,cold" +
                        std::string(66, ',') + "\n"));
    EXPECT_EQ(kernel_macros(c.problem, 64, 64).size(), 5u);
  };
  check(old_case());
  const FurtherField with(window_field);
  check(old_case());
  Case c = old_case();
  c.problem.further = 128;
  EXPECT_NE(case_seed(c, 1), case_seed(old_case(), 1));
  EXPECT_NE(plan_id({c}, {}), plan_id({old_case()}, {}));
  EXPECT_EQ(kernel_macros(c.problem, 64, 64).back(), (std::pair<std::string, std::string>("WINDOW", "128")));
}

// The first two of four rows, as a sweep that was killed before the field was added left them.
class OldFile : public testing::Test {
 protected:
  OldFile() {
    EXPECT_EQ(run(plan({"-o", file_}), measured).code, 0);
    whole_ = text_of(file_);
    size_t end = 0;
    for (int line = 0; line < 3; ++line) end = whole_.find('\n', end) + 1;
    write_text(file_, whole_.substr(0, end));
  }
  TemporaryFolder folder_;
  std::string file_ = folder_ / "old.csv", whole_;
};

TEST_F(OldFile, IsCompletedByResume) {
  const FurtherField with(window_field);
  const Result resumed = run(plan({"-o", file_, "--resume"}), measured);
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(without_run(text_of(file_)), without_run(whole_)) << "in the columns it began with";
}

TEST_F(OldFile, TakesRowsThatDoNotNeedTheColumnAndNoOthers) {
  const FurtherField with(window_field);
  const std::string before = text_of(file_);
  const Result refused = run(plan({"-o", file_, "--append", "--window", "0,128"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("old.csv has no column window, which 'naive 128x128 fp16 full b1 h16 N512 d64 "
                        "window128 cold' needs; give another -o or --overwrite"));
  EXPECT_EQ(text_of(file_), before);
  EXPECT_EQ(run(plan({"-o", file_, "--append"})).code, 0);
  EXPECT_EQ(read_rows(file_).rows.size(), 6u);
}

TEST_F(OldFile, IsABaselineForTheNewProgram) {
  const FurtherField with(window_field);
  write_text(file_, whole_);
  const Result gated = run(plan({"-o", folder_ / "new.csv", "--gate", file_}), measured);
  EXPECT_EQ(gated.code, 0) << gated.err << gated.out;
  EXPECT_THAT(gated.out, HasSubstr("gate passed: 4 of 4 rows the same"));
  EXPECT_EQ(run({"baseline", "update", file_, folder_ / "new.csv"}).code, 0);
  EXPECT_EQ(read_rows(file_).rows.at(0).identity.count("window"), 0);
  EXPECT_EQ(run({"gate", file_, folder_ / "new.csv"}).code, 0) << "the joined file has the column";
}

class NewField : public testing::Test {
 protected:
  // A variant that heeds the field: it launches other blocks for it.
  NewField() {
    write_text(folder_ / "mine.json",
               R"({"attnprof_variant": 1, "name": "mine", "idea": "heeds the window",
                   "supports": {"dtypes": ["fp16"], "window": {"max": 512}},
                   "steps": [{"file": "mine.cu", "entry": "mine", "threads": 128, "macros": {"W": "{window}"},
                              "grid": ["1 + window / 128", "heads", "batch"]}]})");
    write_text(folder_ / "mine.cu", "");
  }
  ~NewField() override { load_own_variants({}, PluginCode::elsewhere); }
  Args sweep(const Args& more) const {
    Args args = {"sweep", "--variant", "mine,flash2", "--variant-file", folder_ / "mine.json", "-N",
                 "512",   "-d",        "64"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }

  const FurtherField with_{window_field};
  TemporaryFolder folder_;
};

TEST_F(NewField, IsAnOptionAnAxisAndAColumn) {
  const std::string file = folder_ / "o.csv";
  EXPECT_THAT(run({"sweep", "--help"}).out, AllOf(HasSubstr("--window"), HasSubstr("Keys before its own")));
  const Result swept = run(sweep({"--window", "0,64,128", "-o", file}));
  EXPECT_EQ(swept.code, 0) << swept.err;
  EXPECT_THAT(swept.err, HasSubstr("mine fp16 full b1 h16 N512 d64 window128 cold"));
  EXPECT_THAT(text_of(file), HasSubstr(",window,tile,"));
  std::vector<std::string> rows;
  for (const Row& row : read_rows(file).rows)
    rows.push_back(fmt::format("{} {} {} {}", row.identity.variant, *row.identity.count("window"),
                               row.status.disposition, row.status.reason));
  EXPECT_THAT(rows, ElementsAre("mine 0 ok ", "flash2 0 ok ", "mine 64 ok ",
                                "flash2 64 skipped flash2 does not have window = 64", "mine 128 ok ",
                                "flash2 128 skipped flash2 does not have window = 128"));
  EXPECT_THAT(run(sweep({"--window", "1024"})).out, HasSubstr("mine takes window up to 512, not 1024"));
  EXPECT_EQ(run(sweep({"--window", "-1"})).code, 2);
}

TEST_F(NewField, IsInEveryOutput) {
  const std::string file = folder_ / "o.csv";
  EXPECT_EQ(run(sweep({"--window", "0,128", "-o", file})).code, 0);
  EXPECT_THAT(run(sweep({"--window", "128", "--format", "json"})).out, HasSubstr("\"window\": 128"));
  EXPECT_THAT(run(sweep({"--window", "128", "--dry-run"})).out, HasSubstr("window128"));
  EXPECT_THAT(run(sweep({"--window", "0,128"})).out, HasSubstr("  window  "));
  const Result columns = run({"list", "--columns", "--format", "json"});
  const nlohmann::json json = nlohmann::json::parse(columns.out);
  std::map<std::string, nlohmann::json> by_name;
  for (const auto& column : json) by_name[column.at("column")] = column;
  EXPECT_EQ(by_name["window"]["absent"], "0");
  EXPECT_EQ(by_name["window"]["group"], "identity");
  EXPECT_EQ(by_name["kv_heads"]["absent_as"], "heads");
  EXPECT_EQ(by_name["pass"]["absent"], "fwd");
  EXPECT_TRUE(by_name["q_len"]["absent"].is_null() && by_name["q_len"]["absent_as"].is_null());
}

TEST_F(NewField, TellsRowsApartInGates) {
  const std::string file = folder_ / "o.csv", old = folder_ / "old.csv";
  EXPECT_EQ(run(sweep({"--window", "0,128", "-o", file}), measured).code, 0);
  EXPECT_EQ(run({"gate", file, file}).code, 0) << "two rows of one run that differ in it alone";
  EXPECT_EQ(run(sweep({"-o", old}), measured).code, 0);
  const Result gated = run({"gate", old, file});
  EXPECT_THAT(gated.out,
              AllOf(HasSubstr("gate passed: 2 of 4 rows new, 2 the same"), HasSubstr("window=128")));
}

TEST_F(NewField, TellsRowsApartInExplanationsAndPictures) {
  std::vector<Row> rows = read_rows(old_rows).rows;
  for (Row& row : rows) row.identity.count("window") = row.identity.variant == "flash2" ? 128 : 0;
  const std::string file = folder_ / "rows.csv";
  write_text(file, csv_of(rows));
  std::filesystem::copy_file(old_rows + ".meta.json", file + ".meta.json");
  EXPECT_THAT(run({"explain", file}).out, HasSubstr(" window "));
  EXPECT_THAT(run({"explain", file, "--case", "window=128,N=512"}).out,
              HasSubstr("d 128, window 128, cold L2"));
  EXPECT_THAT(run({"explain", file, "--case", "window=128", "--format", "json"}).out,
              HasSubstr("\"window\": \"128\""));
  EXPECT_THAT(run({"explain", file, "--case", "variant=flash2", "--against", "naive"}).err,
              HasSubstr("have no row of naive of the same problem"));
  EXPECT_THAT(run({"roofline", file}).out, HasSubstr(",head_dim,window,tile,"));
  EXPECT_THAT(run({"roofline", file, "--format", "vega-lite"}).out, HasSubstr("\"field\": \"window\""));
  EXPECT_THAT(run({"published", file, "--format", "csv"}).out,
              AllOf(HasSubstr("\nflash3,fwd"), Not(HasSubstr("\nflash2,fwd"))))
      << "no figure was published of a window";
}

TEST_F(NewField, IsInMessagesAndMemos) {
  Case c = old_case();
  c.problem.further = 128;
  EXPECT_EQ(problem_from_json(problem_to_json(c.problem)), c.problem);
  Variant heeding = *find_variant("flash2");
  heeding.steps = [steps = heeding.steps](Problem p, const Tile& tile, const DeviceProfile& device) {
    if (p.further > 0) p.kv_len = p.further;
    return steps(p, tile, device);
  };
  c.variant = &heeding;
  const DeviceProfile& device = *find_profile("h200");
  set_launches(c, device);
  const Model narrow = predict(c, device);
  c.problem.further = 0;
  set_launches(c, device);
  EXPECT_GT(predict(c, device).sm_bytes, narrow.sm_bytes) << "not the numbers of the case before";
}

}  // namespace
}  // namespace attnprof
