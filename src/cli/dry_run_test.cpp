// sweep --dry-run.
#include "base/error.hpp"
#include "cli/sweep_fixture.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(DryRun, RunsAndWritesNothing) {
  const TemporaryFolder folder;
  size_t prepared = 0;
  const Result result =
      run(plan({"-o", folder / "o.csv", "--dry-run", "--br", "64,72"}),
          [&](FakeBackend& backend) { backend.on_prepare = [&](const Case&) { ++prepared; }; });
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(prepared, 0u);
  EXPECT_FALSE(std::filesystem::exists(folder / "o.csv"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("8 cases: 4 to run, 4 skipped. Nothing was run."),
                                HasSubstr("Br = 72 is no multiple of 16"), HasSubstr("flash2.cu flash2 "),
                                HasSubstr("Kernels to compile for sm_90a on a GPU: ")));
}

TEST(DryRun, NamesNoTileWhereALibraryChoosesIt) {
  const Result result = run({"sweep", "--dry-run", "--variant", "standard", "-N", "512", "-d", "64"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("standard d=64 no tile: "), Not(HasSubstr("0x0"))));
}

TEST(DryRun, SaysWhatEveryProblemAsksForSkippedOrNot) {
  const Result result =
      run({"sweep",    "--dry-run", "--backend", "sim", "--target",   "h200", "--variant", "flash2,flash3",
           "--dtype",  "fp32",      "-q",        "2",   "-k",         "5",    "-d",        "64",
           "-b",       "3",         "--heads",   "4",   "--kv-heads", "2",    "--mask",    "causal",
           "--format", "csv"});
  EXPECT_THAT(result.out, HasSubstr("reason,useful_flops,half_square_flops,io_lower_bound_bytes\n"));
  // 4 d (4 + 5) pairs of 12 heads; 4 d 2 x 5 halved; Q and O of 12 heads, K and V of 6, 4 bytes an element.
  EXPECT_THAT(result.out, HasSubstr(",27648,15360,27648\n"));
}

TEST(DryRun, OfAGpuPlanNeedsNoGpu) {
  const BackendOpener none = [](const DeviceChoice&, const MeasureOptions&) -> OpenBackend {
    throw EnvironmentError("no GPU here");
  };
  const Result planned = run_on({"sweep", "--backend", "gpu", "--target", "h200", "--dry-run", "--variant",
                                 "flash2", "--format", "csv"},
                                none);
  EXPECT_EQ(planned.code, 0);
  EXPECT_THAT(planned.out, HasSubstr("flash2 128x128 fp16 full b1 h16 N512 d64 cold,"));
  const Result refused = run_on({"sweep", "--backend", "gpu"}, none);
  EXPECT_EQ(refused.code, 3);
  EXPECT_EQ(refused.err, "attnprof: no GPU here\n");
}

}  // namespace
}  // namespace attnprof
