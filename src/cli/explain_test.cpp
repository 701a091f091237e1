// `attnprof explain` as a person calls it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "cli/run_fixture.hpp"
#include "test_paths.hpp"
#include "testing/gate_files.hpp"
#include "testing/roofline_rows.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string forward = ATTNPROF_SOURCE_DIR "/src/testing/rows/forward.csv";
const std::string hbm = ATTNPROF_SOURCE_DIR "/src/testing/rows/hbm.csv";

Result explain(Args args) {
  args.insert(args.begin(), "explain");
  return run(args);
}

TEST(ExplainCommand, ALineARowOrAllOfAFew) {
  const Result all = explain({forward});
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.out, StartsWith("line  variant"));
  EXPECT_EQ(all.err, "") << "its run has measured ceilings";
  EXPECT_THAT(explain({hbm}).err, HasSubstr("no measured ceilings"));
  const Result one = explain(
      {forward, "--case", "variant=flash2,N=4k,head_dim=128,batch=1,mask=full", "--against", "naive"});
  EXPECT_EQ(one.code, 0);
  EXPECT_THAT(one.out,
              StartsWith("flash2 128x64, fp16 full, batch 1, heads 16, N 4096, d 128, cold L2: 403 us"));
  EXPECT_THAT(one.out, HasSubstr("remainder"));
}

// Nothing is cut: lines are broken, and what all rows share is said once.
TEST(ExplainCommand, At80ColumnsAllOfItIsThere) {
  const auto at_80 = [](const Args& args) {
    setenv("COLUMNS", "80", 1);
    const Result result = explain(args);
    unsetenv("COLUMNS");
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
    EXPECT_THAT(result.out, Not(HasSubstr("...")));
    return result.out;
  };
  const std::string summary = at_80({forward});
  EXPECT_THAT(
      summary,
      HasSubstr("\n5    flash2   128x128 full   1 512   64  15.6 us latency 10 % 66 % 64x256 1.32x\n"));
  EXPECT_THAT(summary, HasSubstr("\nIn all rows: dtype fp16, h/kv 16/16.\n"));
  EXPECT_THAT(at_80({forward, "--against", "naive"}), HasSubstr("ramps rest\n"));
  const std::string one =
      at_80({forward, "--case", "variant=flash2,N=4k,d=128,batch=1,mask=full", "--against", "naive"});
  for (const char* part :
       {"14.9 us", "mma_fp16_tflops", "theoretical_occupancy_pct", "knobs_used", "ramps: 1"})
    EXPECT_THAT(one, HasSubstr(part));
}

TEST(ExplainCommand, WritesTheFileOrStandardOutput) {
  const TemporaryFolder folder;
  const Args args = {forward, "--case", "variant=flash2,N=1k", "--format", "json"};
  const Result direct = explain(args);
  Args to_file = args;
  to_file.insert(to_file.end(), {"-o", folder / "explain.json"});
  EXPECT_EQ(explain(to_file).out, "");
  EXPECT_EQ(text_of(folder / "explain.json"), direct.out);
  EXPECT_THAT(explain(to_file).err, HasSubstr("exists: add --overwrite"));
  to_file.push_back("--overwrite");
  EXPECT_EQ(explain(to_file).code, 0);
  EXPECT_THAT(explain({forward, "-o", forward, "--overwrite"}).err, HasSubstr("is one of the files to read"));
}

TEST(ExplainCommand, PredictsTheTilesAskedFor) {
  const Result asked =
      explain({forward, "--case", "variant=flash2,N=4k,head_dim=64,batch=1,mask=full", "--tile", "192x80"});
  EXPECT_EQ(asked.code, 0);
  EXPECT_THAT(asked.out, HasSubstr("192x80 "));
  EXPECT_EQ(asked.err, "");
  EXPECT_THAT(explain({forward, "--case", "variant=flash2,N=4k", "--tile", "100x64,128x64"}).err,
              testing::AllOf(HasSubstr("--tile 100x64 is predicted for no row"), Not(HasSubstr("128x64"))));
  EXPECT_THAT(explain({forward, "--tile", "64"}).err, HasSubstr("--tile '64' is no tile"));
  EXPECT_THAT(explain({forward, "--tile", "64xmany"}).err, HasSubstr("--tile 'many'"));
  for (const char* tile : {"0x64", "64x0", "8x64", "64x1024", "128x64,0x64"}) {
    const Result refused = explain({forward, "--tile", tile});
    EXPECT_EQ(refused.code, 2) << tile;
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("cannot be predicted; give sides from 16 to 512")) << tile;
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << "one sentence";
  }
}

TEST(ExplainCommand, NothingToExplainIsThree) {
  const TemporaryFolder folder;
  write_text(folder / "skipped.csv", csv_of({row_that_is("skipped")}));
  const Result skipped = explain({folder / "skipped.csv"});
  EXPECT_EQ(skipped.code, 3);
  EXPECT_THAT(skipped.err, HasSubstr("no row to explain: 1 skipped"));
  write_text(folder / "none.csv", csv_of({}));
  EXPECT_EQ(explain({folder / "none.csv"}).code, 3);
  EXPECT_EQ(explain({forward, "--case", "N=3"}).code, 3);
}

TEST(ExplainCommand, RefusesWhatItCannotRead) {
  const TemporaryFolder folder;
  EXPECT_EQ(explain({}).code, 2);
  EXPECT_EQ(explain({folder / "nosuch.csv"}).code, 2);
  EXPECT_THAT(explain({forward, "--format", "csv"}).err, HasSubstr("--format 'csv' is none of table, json"));
  EXPECT_THAT(explain({forward, "--case", "flash2"}).err, HasSubstr("no COLUMN=VALUE"));
  EXPECT_THAT(explain({forward, "--against", "nosuch"}).err,
              HasSubstr("--against 'nosuch' is no variant of the files"));
  EXPECT_EQ(explain({forward, "--overwrite"}).code, 2);
  write_text(folder / "rows.csv", csv_of({roofline_row()}));
  write_text(folder / "rows.csv.meta.json", R"({"runs": {"r1": {"ceilings": {"hbm_read_gbps": "fast"}}}})");
  const Result torn = explain({folder / "rows.csv"});
  EXPECT_EQ(torn.code, 2);
  EXPECT_THAT(torn.err, HasSubstr("ceilings"));
  write_text(folder / "rows.csv.meta.json",
             R"({"runs": {"r1": {"ceilings": {"hbm_read_gbps": {"median": 0}}}}})");
  const Result zero = explain({folder / "rows.csv"});
  EXPECT_EQ(zero.code, 2) << "no rate is 0";
  EXPECT_THAT(zero.err, HasSubstr("the ceilings of run r1 are not as attnprof writes them"));
  EXPECT_EQ(explain({forward, "-o", folder / "nosuch/explain.json"}).code, 3)
      << "the output cannot be written";
}

}  // namespace
}  // namespace attnprof
