// The CSV that a sweep writes and the .meta.json beside it.
#include <sys/stat.h>

#include <thread>

#include "cli/sweep_fixture.hpp"
#include "files/env_id.hpp"
#include "files/meta.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(SweepCommand, AnExistingFileIsNeverTouchedUnasked) {
  const TemporaryFolder folder;
  write_text(folder / "o.csv", "something else");
  const Result result = run(plan({"-o", folder / "o.csv"}));
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("--append"), HasSubstr("--resume"), HasSubstr("--overwrite")));
  for (const char* how : {"--append", "--resume"})
    EXPECT_EQ(run(plan({"-o", folder / "o.csv", how})).code, 2) << how;
  EXPECT_EQ(text_of(folder / "o.csv"), "something else");
  EXPECT_FALSE(std::filesystem::exists(folder / "o.csv.meta.json"));
  EXPECT_EQ(run(plan({"-o", folder / "o.csv", "--overwrite"})).code, 0);
  EXPECT_EQ(read_rows(folder / "o.csv").rows.size(), 4u);
}

TEST(SweepCommand, AFileThatCannotBeWrittenIsRefusedBeforeAnythingRuns) {
  size_t prepared = 0;
  const Result result = run(plan({"-o", "/nonexistent/folder/o.csv"}), [&](FakeBackend& backend) {
    backend.on_prepare = [&](const Case&) { ++prepared; };
  });
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(prepared, 0u);
  EXPECT_THAT(result.err, HasSubstr("/nonexistent/folder/o.csv cannot be written"));
}

TEST(SweepCommand, AFolderIsNoFile) {
  const TemporaryFolder folder;
  for (const std::string& name : {folder / "", folder / "."}) {
    const Result result = run(plan({"-o", name, "--overwrite"}));
    EXPECT_EQ(result.code, 3) << name;
    EXPECT_THAT(result.err, HasSubstr("cannot be written: Is a directory"));
  }
}

TEST(SweepCommand, ADeviceOrPipeIsWrittenThroughAndHasNoEarlierRows) {
  const TemporaryFolder folder;
  EXPECT_EQ(run(plan({"-o", "/dev/zero"})).code, 0);
  EXPECT_FALSE(std::filesystem::exists("/dev/zero.meta.json"));
  for (const char* how : {"--append", "--resume"}) {
    const Result result = run(plan({"-o", "/dev/zero", how}));
    EXPECT_EQ(result.code, 2) << how;
    EXPECT_THAT(result.err, HasSubstr("holds no earlier rows"));
  }
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = text_of(folder / "pipe"); });
  EXPECT_EQ(run(plan({"-o", folder / "pipe"})).code, 0);
  reader.join();
  EXPECT_EQ(parse_rows(read, "pipe").rows.size(), 4u);
}

TEST(SweepCommand, LinksAreFollowedAndStay) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink(folder / "new.csv", folder / "new");
  EXPECT_EQ(run(plan({"-o", folder / "new"})).code, 0) << "it is not there yet";
  EXPECT_EQ(read_rows(folder / "new.csv").rows.size(), 4u);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "new"));
  std::filesystem::create_symlink(folder / "o.csv", folder / "link.csv");
  write_text(folder / "o.csv", "");
  EXPECT_EQ(run(plan({"-o", folder / "link.csv", "--append"})).code, 0);
  EXPECT_EQ(read_rows(folder / "o.csv").rows.size(), 4u);
}

TEST(SweepCommand, RowsStayWhereTheMetaFileCannotBeWritten) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(plan({"-o", folder / "o.csv"})).code, 0);
  const std::string rows = text_of(folder / "o.csv");
  std::filesystem::remove(folder / "o.csv.meta.json");
  std::filesystem::create_directories(folder / "o.csv.meta.json");
  EXPECT_EQ(run(plan({"-o", folder / "o.csv", "--overwrite"})).code, 3);
  EXPECT_EQ(text_of(folder / "o.csv"), rows);
  std::filesystem::create_directories(folder / "new.csv.meta.json");
  EXPECT_EQ(run(plan({"-o", folder / "new.csv"})).code, 3);
  EXPECT_FALSE(std::filesystem::exists(folder / "new.csv")) << "nothing is left of a sweep that never began";
}

TEST(SweepCommand, AppendAddsARunAndItsMeta) {
  const TemporaryFolder folder;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(run(plan({"-o", folder / "o.csv", "--append"})).code, 0);
  const RowFile file = read_rows(folder / "o.csv");
  ASSERT_EQ(file.rows.size(), 8u);
  EXPECT_NE(file.rows[0].provenance.run, file.rows[7].provenance.run);
  const std::string meta = text_of(folder / "o.csv.meta.json");
  for (const Row& row : file.rows) EXPECT_TRUE(find_run(meta, row.provenance.run, "meta"));
  const std::string text = text_of(folder / "o.csv");
  write_text(folder / "o.csv", text.substr(0, text.size() - 5));
  const Result torn = run(plan({"-o", folder / "o.csv", "--append"}));
  EXPECT_EQ(torn.code, 2);
  EXPECT_THAT(torn.err, HasSubstr("line 9"));
  EXPECT_EQ(text_of(folder / "o.csv"), text.substr(0, text.size() - 5));
}

TEST(SweepCommand, MetaDescribesTheRun) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(plan({"-o", folder / "o.csv", "--seed", "9"})).code, 0);
  const std::string meta = text_of(folder / "o.csv.meta.json");
  const Row row = read_rows(folder / "o.csv").rows.front();
  const auto record = find_run(meta, row.provenance.run, "meta");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->env_id, row.provenance.env_id);
  EXPECT_EQ(record->env_id, env_id(FakeBackend().info()));
  EXPECT_THAT(record->command_line, HasSubstr("--seed 9"));
  for (const char* part :
       {"\"seed\": 9", "\"version\": \"" ATTNPROF_VERSION "\"", "\"commit\"", "\"hbm_gbps\": 1000",
        "\"input\"", "\"driver\": \"1.2\"", "\"tensor_16bit_tflops\""})
    EXPECT_THAT(meta, HasSubstr(part));
}

TEST(SweepCommand, MetaNamesTheInputs) {
  const TemporaryFolder folder;
  const auto input_of = [&](const std::vector<std::string>& options) {
    std::vector<std::string> args = {"-o", folder / "i.csv", "--overwrite"};
    args.insert(args.end(), options.begin(), options.end());
    EXPECT_EQ(run(plan(args)).code, 0);
    return text_of(folder / "i.csv.meta.json");
  };
  EXPECT_THAT(input_of({}), HasSubstr("\"input\": \"random, near N(0, 1)\""));
  EXPECT_THAT(input_of({"--input", "outliers"}), HasSubstr("Bernoulli(0.001)"));
}

}  // namespace
}  // namespace attnprof
