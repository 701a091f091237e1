// Plug-ins that misbehave in every way, as a sweep would meet them. The worker is the tests' own, whose
// "device" is the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "base/error.hpp"
#include "cli/run.hpp"
#include "device/device_profiles.hpp"
#include "measure/guard_bands.hpp"
#include "measure/worker.hpp"
#include "plan/skip.hpp"
#include "plan/sweep.hpp"
#include "plugin/own_variants.hpp"
#include "plugin/plugin_host.hpp"
#include "plugin/plugin_library.hpp"
#include "problem/flops.hpp"
#include "problem/rounding.hpp"
#include "row/row_csv.hpp"
#include "run/pipeline.hpp"
#include "test_paths.hpp"
#include "testing/captured.hpp"
#include "testing/temporary_file.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string library(const std::string& behaviour) {
  return std::string(ATTNPROF_TEST_PLUGINS) + "/" + behaviour + ".so";
}

class PluginTest : public testing::Test {
 protected:
  PluginTest() { plugin_host_settings() = {{ATTNPROF_BINARY, "plugin-host"}, 20}; }
  ~PluginTest() override { load_own_variants({}, PluginCode::elsewhere); }

  static void load(const std::string& behaviour) {
    load_own_variants({{}, {library(behaviour)}}, PluginCode::elsewhere);
  }
  static std::string refusal(const std::string& path) {
    try {
      load_own_variants({{}, {path}}, PluginCode::elsewhere);
      return "was taken";
    } catch (const UsageError& error) {
      return error.what();
    }
  }
};

Case hosted_case(Dtype dtype = Dtype::fp32) {
  Case c;
  c.variant = find_variant("hosted");
  c.problem = {.dtype = dtype,
               .mask = Mask::causal,
               .heads = 4,
               .kv_heads = 2,
               .q_len = 40,
               .kv_len = 33,
               .head_dim = 16};
  resolve(c, *find_profile("h200"), int64_t{1} << 40);
  return c;
}

// A worker, and the row that a case becomes in it.
class Measured : public SweepObserver {
 public:
  explicit Measured(double timeout_s = 20) {
    options_.case_timeout_s = timeout_s;
    backend_.emplace(std::vector<std::string>{ATTNPROF_FAKE_WORKER}, options_);
  }
  Row row(const Case& c) {
    run_sweep({c}, *backend_, {.provenance = {}, .options = options_, .observers = {this}});
    return row_;
  }
  WorkerBackend& backend() { return *backend_; }
  void end_case(const Row& row) override { row_ = row; }

 private:
  MeasureOptions options_;
  std::optional<WorkerBackend> backend_;
  Row row_;
};

TEST_F(PluginTest, IsAVariantLikeAnyOther) {
  load("right");
  const Variant* v = find_variant("hosted");
  ASSERT_TRUE(v);
  EXPECT_EQ(v->idea, "attention in plain C");
  EXPECT_EQ(v->needs, "fp32");
  EXPECT_EQ(v->origin, library("right"));
  const Case c = hosted_case();
  EXPECT_EQ(c.skip, std::nullopt);
  EXPECT_EQ(case_operands(*v, c.problem, c.tile)[operand_workspace].bytes(), 33 * 4);
  const Step step = v->steps(c.problem, c.tile, {}).front();
  EXPECT_EQ(std::get<PluginLaunch>(step.launch).library, nullptr) << "its code runs in workers alone";
}

TEST_F(PluginTest, IsVerifiedInAWorkerAndItsFiguresAreInTheRow) {
  load("right");
  const Row row = Measured().row(hosted_case());
  EXPECT_EQ(row.status.disposition, "ok") << row.status.reason;
  EXPECT_EQ(row.verify.verified, "yes");
  EXPECT_LT(row.verify.rel_err.value_or(1), 1e-5);
  EXPECT_EQ(row.model.sm_bytes, 40'000);
  EXPECT_EQ(row.model.tensor_flops, 0);
  EXPECT_EQ(row.model.hbm_bytes, std::nullopt);
  EXPECT_EQ(row.model.useful_flops, useful_flops(hosted_case().problem));
}

TEST_F(PluginTest, WhatItDoesNotTakeIsSkippedWithItsSentence) {
  load("right");
  EXPECT_THAT(hosted_case(Dtype::fp16).skip.value_or(""),
              AllOf(HasSubstr("right.so"), HasSubstr("fp32 alone, on sm_90a")));
  Case c = hosted_case();
  c.requested.br = 64;
  resolve(c, *find_profile("h200"), int64_t{1} << 40);
  EXPECT_THAT(c.skip.value_or(""), HasSubstr("takes no tile"));
}

struct Fault {
  const char* behaviour;
  std::vector<const char*> words;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.behaviour; }
std::string name_of(const testing::TestParamInfo<Fault>& info) { return info.param.behaviour; }

class PluginThatIsNone : public PluginTest, public testing::WithParamInterface<Fault> {};
TEST_P(PluginThatIsNone, IsRefusedInOneSentence) {
  plugin_host_settings().limit_s = 1;
  const std::string path = library(GetParam().behaviour), text = refusal(path);
  EXPECT_THAT(text, HasSubstr("plug-in " + path));
  EXPECT_EQ(text.find('\n'), std::string::npos);
  for (const char* words : GetParam().words) EXPECT_THAT(text, HasSubstr(words));
}
INSTANTIATE_TEST_SUITE_P(
    Kinds, PluginThatIsNone,
    testing::Values(Fault{"another_abi", {"version 77", "takes version 1", "build it against"}},
                    Fault{"lacks_launch", {"no function launch"}}, Fault{"returns_null", {"returns null"}},
                    Fault{"lacks_the_symbol", {"no function attnprof_plugin()"}},
                    Fault{"hangs_in_describe",
                          {"did not answer within 1 s", "describe itself", "leave --plugin out"}},
                    Fault{"fails_in_describe", {"describe says: it is Sunday"}},
                    Fault{"has_a_bad_name", {"'Not a name'", "no name of a variant"}}),
    name_of);

TEST_F(PluginTest, AFileThatIsNoLibraryIsRefused) {
  const TemporaryFolder folder;
  write_text(folder / "text.so", "no library");
  EXPECT_THAT(refusal(folder / "text.so"),
              AllOf(HasSubstr("text.so cannot be loaded"), HasSubstr("build it as")));
  EXPECT_THAT(refusal(folder / "none.so"), AllOf(HasSubstr("--plugin"), HasSubstr("cannot be read")));
  EXPECT_THAT(refusal(folder / "."), HasSubstr("cannot be read"));
}

TEST_F(PluginTest, ALibraryThatAnybodyCouldHavePutThereIsNotLoaded) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(library("right"), folder / "right.so");
  std::filesystem::permissions(folder / ".", std::filesystem::perms::all);
  for (const PluginCode code : {PluginCode::elsewhere, PluginCode::here}) try {
      load_own_variants({{}, {folder / "right.so"}}, code);
      ADD_FAILURE() << "was loaded";
    } catch (const EnvironmentError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("the plug-in "), HasSubstr("anybody can write to "),
                                      HasSubstr("ATTNPROF_TRUST")));
    }
}

// A program's current folder may be anybody's.
TEST_F(PluginTest, ANameWithoutASlashIsNeverAFileOfTheCurrentFolder) {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  for (const char* name : {"no_such_vendor", "no_such_vendor.so"})
    std::filesystem::copy_file(library("right"), folder / name);
  std::filesystem::current_path(folder / ".");
  const std::string bare = refusal("no_such_vendor"), file = refusal("no_such_vendor.so");
  const std::string path = refusal("./no_such_vendor.so");
  std::filesystem::current_path(before);
  EXPECT_THAT(bare, AllOf(HasSubstr("no plug-in of that name came with"), HasSubstr("(./no_such_vendor)")));
  EXPECT_THAT(file, HasSubstr("(./no_such_vendor.so)"));
  EXPECT_EQ(path, "was taken");
}

TEST_F(PluginTest, ACrashInSupportsIsASkipAndTheNextQuestionIsAsked) {
  load("crashes_in_supports");
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16})
    EXPECT_THAT(
        hosted_case(dtype).skip.value_or(""),
        AllOf(HasSubstr("crashes_in_supports.so died from signal 11"), HasSubstr("say what it supports")));
}

TEST_F(PluginTest, AHangInSupportsIsWaitedForOnce) {
  plugin_host_settings().limit_s = 1;
  load("hangs_in_supports");
  const auto start = std::chrono::steady_clock::now();
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16})
    EXPECT_THAT(hosted_case(dtype).skip.value_or(""),
                HasSubstr("hangs_in_supports.so did not answer within 1 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(2500));
}

class PluginFault : public PluginTest, public testing::WithParamInterface<Fault> {};
TEST_P(PluginFault, IsAFailedRowAndTheNextCaseRuns) {
  load(GetParam().behaviour);
  Measured measured(1);
  const Row row = measured.row(hosted_case());
  EXPECT_EQ(row.status.disposition, "failed");
  for (const char* words : GetParam().words) EXPECT_THAT(row.status.reason, HasSubstr(words));
  Case sound = hosted_case();
  sound.variant = find_variant("naive");
  sound.tile = {64, 64};
  EXPECT_EQ(measured.backend().prepare(sound).kernel_hash, "abc");
}
INSTANTIATE_TEST_SUITE_P(
    Kinds, PluginFault,
    testing::Values(
        Fault{"crashes_in_prepare", {"died from signal 11", "while preparing", "crashes_in_prepare.so"}},
        Fault{"hangs_in_prepare", {"--case-timeout 1 s", "while preparing", "hangs_in_prepare.so"}},
        Fault{"fails_in_prepare", {"fails_in_prepare.so: prepare says: no plan for head_dim 16"}},
        Fault{"fails_in_launch", {"fails_in_launch.so: launch returned 4"}},
        Fault{"writes_beyond_o", {"wrote 24 bytes beyond O, which has 10240 bytes"}},
        Fault{"writes_before_workspace", {"wrote 1 bytes before workspace"}}),
    name_of);

TEST_F(PluginTest, ALibraryThatHasChangedMeanwhileIsNotMeasured) {
  const TemporaryFolder folder;
  const std::string mine = folder / "mine.so";
  std::filesystem::copy_file(library("right"), mine);
  load_own_variants({{}, {mine}}, PluginCode::elsewhere);
  std::filesystem::copy_file(library("fails_in_launch"), mine,
                             std::filesystem::copy_options::overwrite_existing);
  try {
    Measured().row(hosted_case());
    FAIL() << "measured";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("mine.so"), HasSubstr("has changed since the run began")));
  }
}

TEST_F(PluginTest, TheSimulatorSkipsIt) {
  const TemporaryFolder folder;
  int code = 0;
  const Printed printed = printed_by([&] {
    code = run_command_line({"sweep", "--plugin", library("right"), "--dtype", "fp32", "-N", "64", "-d", "16",
                             "--backend", "sim", "-o", folder / "o.csv"});
  });
  EXPECT_EQ(code, 3) << printed.err;
  const Row row = read_rows(folder / "o.csv").rows.at(0);
  EXPECT_EQ(row.identity.variant, "hosted");
  EXPECT_EQ(row.status.disposition, "skipped");
  EXPECT_THAT(row.status.reason, HasSubstr("hosted has no schedule that could be simulated"));
  EXPECT_EQ(row.model.sm_bytes, 64'000);
}

TEST(GuardBands, CountWhatChanged) {
  std::vector<uint8_t> band(100, guard_byte);
  EXPECT_EQ(overwritten_bytes(band), 0);
  band[0] = 0, band[99] = 1;
  EXPECT_EQ(overwritten_bytes(band), 2);
  EXPECT_EQ(guard_sentence("O", 64, 0, 0), "");
  EXPECT_THAT(guard_sentence("O", 64, 3, 0), HasSubstr("wrote 3 bytes before O"));
  EXPECT_THAT(guard_sentence("O", 64, 3, 5), HasSubstr("wrote 5 bytes beyond O"));
}

TEST(GuardBands, AreNaNInEveryDtype) {
  const std::vector<uint8_t> band(64, guard_byte);
  using enum ElementType;
  for (const ElementType type : {fp32, fp16, bf16, e4m3})
    for (const size_t begin : {0, 1, 2, 3})  // an operand may end at any byte
      EXPECT_TRUE(std::isnan(load_element(type, band.data() + begin, 5))) << to_string(type) << begin;
}

}  // namespace
}  // namespace attnprof
