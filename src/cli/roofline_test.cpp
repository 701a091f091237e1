// `attnprof roofline` as a person calls it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/csv.hpp"
#include "cli/run_fixture.hpp"
#include "test_paths.hpp"
#include "testing/gate_files.hpp"
#include "testing/on_terminal.hpp"
#include "testing/roofline_rows.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string defaults = ATTNPROF_SOURCE_DIR "/src/testing/rows/defaults.csv";
const std::string peers = ATTNPROF_SOURCE_DIR "/src/testing/rows/peers.csv";

Result roofline(Args args) {
  args.insert(args.begin(), "roofline");
  return run(args);
}

TEST(RooflineCommand, WritesTheFileOrStandardOutput) {
  const TemporaryFolder folder;
  const Result direct = roofline({defaults});
  EXPECT_EQ(direct.code, 0);
  EXPECT_EQ(direct.err, "");
  const Result written = roofline({defaults, "-o", folder / "roofline.csv"});
  EXPECT_EQ(written.code, 0);
  EXPECT_EQ(written.out, "");
  EXPECT_EQ(text_of(folder / "roofline.csv"), direct.out);
  EXPECT_EQ(parse_csv(direct.out, "stdout").records.size(), 1u + 20 + 4);
  EXPECT_THAT(roofline({defaults, "-o", folder / "roofline.csv"}).err, HasSubstr("exists: add --overwrite"));
  EXPECT_EQ(roofline({defaults, "-o", folder / "roofline.csv", "--overwrite", "--format", "json"}).code, 0);
  EXPECT_THAT(text_of(folder / "roofline.csv"), StartsWith("{"));
}

TEST(RooflineCommand, NeverWritesOverItsRows) {
  const TemporaryFolder folder;
  write_text(folder / "rows.csv", csv_of({roofline_row()}));
  const Result result = roofline({folder / "rows.csv", "-o", folder / "rows.csv", "--overwrite"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("is one of the files to read"));
  EXPECT_EQ(text_of(folder / "rows.csv"), csv_of({roofline_row()}));
}

TEST(RooflineCommand, PlotsAsWideAsColumnsSays) {
  setenv("COLUMNS", "60", 1);
  const Result result = roofline({defaults, peers, "--plot"});
  unsetenv("COLUMNS");
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, StartsWith("Roofline: NVIDIA H200\n"));
  EXPECT_THAT(result.out, HasSubstr("o naive, x standard, * flash1, # flash2, @ flash3"));
  EXPECT_THAT(result.err, HasSubstr("12 of 22 rows have no counted bytes"));
  EXPECT_THAT(result.out, HasSubstr("hbm, nominal 4.8 TB/s")) << "of the peers, whose run measured none";
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 60u) << line;
}

TEST(RooflineCommand, DrawsOnATerminalAndWritesDataIntoAPipe) {
  const OnTerminal drawn({"roofline", defaults}, {"COLUMNS=60"});
  EXPECT_EQ(drawn.code(), 0);
  EXPECT_THAT(drawn.output(), StartsWith("Roofline: NVIDIA H200"));
  const OnTerminal data({"roofline", defaults, "--format", "csv"});
  EXPECT_THAT(data.output(), testing::Not(HasSubstr("Roofline:"))) << "that was asked for";
  EXPECT_THAT(roofline({defaults}).out, testing::Not(HasSubstr("Roofline:"))) << "no terminal";
}

TEST(RooflineCommand, PlotsWithinMemoryWhateverColumnsSays) {
  setenv("COLUMNS", "99999999999", 1);
  const Result result = roofline({defaults, "--plot"});
  unsetenv("COLUMNS");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("Roofline: NVIDIA H200\n"));
}

TEST(RooflineCommand, PeersAloneAreDataButNoPicture) {
  const Result data = roofline({peers});
  EXPECT_EQ(data.code, 0);
  EXPECT_EQ(parse_csv(data.out, "stdout").records.size(), 1u + 12 + 4);
  const Result plot = roofline({peers, "--plot"});
  EXPECT_EQ(plot.code, 3);
  EXPECT_EQ(plot.out, "");
  EXPECT_THAT(plot.err, HasSubstr("no row has counted bytes"));
}

TEST(RooflineCommand, NothingToShowIsThree) {
  const TemporaryFolder folder;
  write_text(folder / "none.csv", csv_of({}));
  const Result none = roofline({folder / "none.csv", "-o", folder / "roofline.csv"});
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, HasSubstr("none.csv has no rows"));
  EXPECT_FALSE(std::filesystem::exists(folder / "roofline.csv"));
  write_text(folder / "skipped.csv", csv_of({row_that_is("skipped")}));
  EXPECT_EQ(roofline({folder / "skipped.csv"}).code, 3);
}

TEST(RooflineCommand, RefusesWhatItCannotRead) {
  const TemporaryFolder folder;
  EXPECT_EQ(roofline({}).code, 2);
  EXPECT_EQ(roofline({folder / "nosuch.csv"}).code, 2);
  EXPECT_THAT(roofline({defaults, "--format", "png"}).err,
              HasSubstr("--format 'png' is none of csv, json, vega-lite"));
  EXPECT_THAT(roofline({defaults, "--plot", "--format", "json"}).err, HasSubstr("give -o FILE for --format"));
  EXPECT_EQ(roofline({defaults, "--overwrite"}).code, 2);
  write_text(folder / "empty.csv", "");
  EXPECT_THAT(roofline({folder / "empty.csv"}).err, HasSubstr("has no whole line"));
  write_text(folder / "rows.csv", csv_of({roofline_row()}));
  write_text(folder / "rows.csv.meta.json", R"({"runs": {"r1": {"peaks": {"hbm_gbps": "fast"}}}})");
  EXPECT_THAT(roofline({folder / "rows.csv"}).err, HasSubstr("the peaks of run r1 are no object of numbers"));
  std::string narrow = csv_of({roofline_row()});
  narrow.replace(narrow.find("hbm_intensity"), 13, "renamed");
  write_text(folder / "narrow.csv", narrow);
  EXPECT_THAT(roofline({folder / "narrow.csv"}).err, HasSubstr("column hbm_intensity is missing"));
}

}  // namespace
}  // namespace attnprof
