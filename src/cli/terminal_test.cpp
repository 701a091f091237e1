// What a cell or a name holds commands no terminal, hides nothing and forges no line, whichever command shows
// it; and every report is UTF-8.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/safe_text.hpp"
#include "cli/run.hpp"
#include "testing/captured.hpp"
#include "testing/fake_backend.hpp"
#include "testing/gate_files.hpp"
#include "testing/roofline_rows.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using Args = std::vector<std::string>;

// Red, a title, C1's way to say it, DEL, a line of its own, a turn of direction and bytes that are no UTF-8.
const std::string evil =
    "x\x1b[31m\x1b]0;t\x07\xc2\x9b"
    "1m\x7f\n::error::forged\r\u202e\u2066\xff\xc3(";

class Terminal : public testing::Test {
 protected:
  void SetUp() override {
    Row row = roofline_row(evil, "H200" + evil);
    row.identity.word("mask") = row.identity.tile = row.identity.knobs = evil;
    Row slower = row;
    slower.counters.sm_total = 170'000'000;
    slower.resolved.br = slower.resolved.bc = 64;
    slower.resolved.knobs_used = evil;
    Row failed = roofline_row("other" + evil);
    Row gone = failed;
    failed.status = {"failed", "because " + evil, ""};
    write_text(base, csv_of({row, gone}));
    write_text(now, csv_of({slower, failed}));
  }

  int run(const Args& args) {
    int code = 0;
    const Printed printed = printed_by([&] { code = run_command_line(args, opener()); });
    out = printed.out, err = printed.err;
    return code;
  }
  static void is_safe(const std::string& text, const std::string& what) {
    EXPECT_EQ(text, printable_lines(text)) << what;
    EXPECT_THAT(text, Not(HasSubstr("\n::error"))) << what;
    EXPECT_FALSE(text.starts_with("::error")) << what;
  }
  void shows_it_safely(const Args& args) {
    run(args);
    is_safe(out, args.front());
    is_safe(err, args.front());
    EXPECT_THAT(out + err, HasSubstr("\\x1b[31m")) << args.front() << ": it is shown";
  }

  const TemporaryFolder folder;
  const std::string base = folder / "base.csv", now = folder / "now.csv";
  std::string out, err;
};

TEST_F(Terminal, NoCommandPrintsWhatATerminalObeys) {
  shows_it_safely({"gate", base, now});
  shows_it_safely({"explain", base});
  shows_it_safely({"explain", base, base, base, base});
  shows_it_safely({"roofline", base, "--plot"});
  shows_it_safely({"roofline", base, "--format", "gnuplot"});
  shows_it_safely({"baseline", "update", base, now});
}

TEST_F(Terminal, NoErrorPrintsWhatATerminalObeys) {
  const std::string absent = folder / evil;
  shows_it_safely({"gate", base, absent});
  shows_it_safely({"explain", base, "--against", evil});
  shows_it_safely({"roofline", absent});
  shows_it_safely({"sweep", "--variant", evil});
  shows_it_safely({"sweep", "-N", evil});
  shows_it_safely({evil});
  shows_it_safely({"list", "--" + evil});
  shows_it_safely({"compile", "--arch", evil});
}

TEST_F(Terminal, EveryReportIsUtf8) {
  const auto is_utf8 = [](const std::string& text) { return text == valid_utf8(text); };
  run({"gate", base, now, "--markdown", folder / "m", "--junit", folder / "j", "--json", folder / "json"});
  for (const char* name : {"m", "j", "json"}) {
    EXPECT_FALSE(text_of(folder / name).empty());
    EXPECT_TRUE(is_utf8(text_of(folder / name))) << name;
  }
  EXPECT_THAT(text_of(folder / "m"), HasSubstr("\ufffd"));
  EXPECT_THAT(text_of(folder / "j"), HasSubstr("\ufffd"));
  EXPECT_TRUE(nlohmann::json::accept(text_of(folder / "json")));
  for (const Args& args : {Args{"explain", base, "--format", "json"},
                           {"roofline", base, "--format", "json"},
                           {"roofline", base, "--format", "vega-lite"}}) {
    EXPECT_EQ(run(args), 0) << err;
    EXPECT_TRUE(is_utf8(out)) << args.front();
    EXPECT_TRUE(nlohmann::json::accept(out)) << args.front();
  }
}

TEST_F(Terminal, AGateWithoutAVerdictIsUtf8Too) {
  const std::string absent = folder / "\xff\x1b.csv";
  run({"gate", base, absent, "--markdown", folder / "m", "--junit", folder / "j", "--json", folder / "json"});
  for (const char* name : {"m", "j", "json"}) {
    EXPECT_THAT(text_of(folder / name), HasSubstr("\ufffd")) << name;
    EXPECT_EQ(text_of(folder / name), valid_utf8(text_of(folder / name))) << name;
  }
}

// Data stays as it is where it is no terminal that reads it.
TEST_F(Terminal, CsvKeepsItsCells) {
  run({"roofline", base});
  EXPECT_THAT(out, HasSubstr("\x1b[31m"));
}

}  // namespace
}  // namespace attnprof
