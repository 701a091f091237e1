#include "run/run_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"
#include "device/device_profiles.hpp"
#include "plan/identity.hpp"
#include "plan/sweep.hpp"
#include "row/row_csv.hpp"
#include "run/recorded_run.hpp"
#include "testing/fake_backend.hpp"
#include "testing/temporary_file.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using testing::ElementsAre;

std::vector<Case> two_cases() {
  std::vector<Case> cases(2);
  for (size_t i = 0; i < cases.size(); ++i) {
    cases[i].variant = find_variant("naive");
    cases[i].problem.q_len = cases[i].problem.kv_len = i == 0 ? 512 : 1024;
    resolve(cases[i], *find_profile("h200"), find_profile("h200")->hbm_bytes);
  }
  return cases;
}

class RunFileTest : public testing::Test {
 protected:
  std::vector<std::string> runs() const {
    std::vector<std::string> all;
    for (const Row& row : read_rows(path).rows) all.push_back(row.provenance.run);
    return all;
  }
  RunFacts facts() const { return new_run("attnprof", {}, cases); }
  Row row_of(const RunFacts& run) const {
    Row row;
    row.identity = identity_of(cases[0]);
    row.provenance = provenance_of(run, backend.info());
    return row;
  }
  void keep(Existing existing, const RunFacts& run, int rows) {
    RunFile file(path, existing);
    SweepObserver& writer = file.begin(run, backend.info());
    for (int i = 0; i < rows; ++i) writer.end_case(row_of(run));
  }

  const TemporaryFolder folder;
  const std::string path = folder / "o.csv";
  const std::vector<Case> cases = two_cases();
  FakeBackend backend;
};

TEST_F(RunFileTest, OneThatWasMadeForNothingIsGone) {
  { const RunFile file(path, Existing::refuse); }
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::create_directories(meta_path(path));  // so that it cannot be written
  EXPECT_THROW(keep(Existing::refuse, facts(), 1), EnvironmentError);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(RunFileTest, OneThatWasThereStaysAsItIsUntilARunBegins) {
  const RunFacts first = facts();
  keep(Existing::refuse, first, 2);
  const std::string text = text_of(path), meta = text_of(meta_path(path));
  for (const Existing existing : {Existing::append, Existing::resume, Existing::overwrite}) {
    { const RunFile file(path, existing); }
    EXPECT_EQ(text_of(path), text);
    EXPECT_EQ(text_of(meta_path(path)), meta);
  }
}

TEST_F(RunFileTest, KeepsTheRunsThatWereAskedFor) {
  const RunFacts first = facts(), second = facts(), third = facts();
  keep(Existing::refuse, first, 2);
  keep(Existing::append, second, 1);
  EXPECT_THAT(runs(), ElementsAre(first.run, first.run, second.run));
  EXPECT_TRUE(find_run(text_of(meta_path(path)), first.run, "meta"));
  keep(Existing::overwrite, third, 1);
  EXPECT_THAT(runs(), ElementsAre(third.run));
  EXPECT_FALSE(find_run(text_of(meta_path(path)), first.run, "meta"));
}

TEST_F(RunFileTest, SeveralRunsOfOneCommandStayTogether) {
  keep(Existing::refuse, facts(), 2);
  const RunFacts first = facts(), second = facts();
  RunFile file(path, Existing::overwrite);
  for (const RunFacts& run : {first, second}) file.begin(run, backend.info()).end_case(row_of(run));
  EXPECT_THAT(runs(), ElementsAre(first.run, second.run));
}

TEST_F(RunFileTest, GoesOnWithTheLastRun) {
  const std::atomic<bool> stop = false;
  RunFacts first = facts(), again = facts();
  {
    RunFile file(path, Existing::refuse);
    EXPECT_TRUE(file.resume(cases, backend, first).empty()) << "not asked for";
    EXPECT_EQ(RecordedRun(backend, first, &file, stop).measure({cases[0]}), ExitCode::ok);
  }
  write_text(path, text_of(path) + "torn");
  RunFile file(path, Existing::resume);
  const std::vector<Row> done = file.resume(cases, backend, again);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(again.run, first.run);
  RecordedRun run(backend, again, &file, stop, done);
  EXPECT_EQ(run.measure(cases), ExitCode::ok);
  EXPECT_EQ(run.rows().size(), 2u);
  EXPECT_THAT(runs(), ElementsAre(first.run, first.run));
}

}  // namespace
}  // namespace attnprof
