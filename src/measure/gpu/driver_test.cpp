#include "measure/gpu/driver.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <iostream>

#include "base/error.hpp"
#include "base/installation.hpp"
#include "base/run_program.hpp"
#include "base/scratch.hpp"
#include "measure/gpu/gpu_backend.hpp"
#include "measure/gpu/gpu_device.hpp"
#include "measure/gpu/nvml.hpp"
#include "test_paths.hpp"
#include "testing/processes.hpp"

namespace attnprof {
namespace {
namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::string sentence_of(const std::string& library) {
  try {
    open_driver(library);
    return "";
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

// The toolkit's stub of libcuda; where only wheels are installed, one that answers the same.
fs::path stub_library() {
  for (const fs::path& root : toolkit_roots())
    for (const char* folder : {"lib64/stubs", "lib/stubs"})
      if (const fs::path stub = root / folder / "libcuda.so"; fs::exists(stub)) return fs::canonical(stub);
  return ATTNPROF_STUB_DRIVER;
}

TEST(Driver, NoDriverIsASentence) {
  EXPECT_THAT(sentence_of("/nowhere/libcuda.so.1"),
              AllOf(HasSubstr("no NVIDIA driver: /nowhere/libcuda.so.1"), HasSubstr("--backend sim")));
}

TEST(Driver, ALibraryThatIsNoDriverIsASentence) {
  EXPECT_THAT(sentence_of("libm.so.6"), AllOf(HasSubstr("libm.so.6"), HasSubstr("lacks cuInit")));
}

TEST(Driver, TheToolkitsStubIsASentence) {
  EXPECT_THAT(sentence_of(stub_library()),
              AllOf(HasSubstr("is the CUDA toolkit's stub"), HasSubstr("LD_LIBRARY_PATH")));
}

// Not a test of its own: what the child process of the next test runs.
TEST(Driver, DISABLED_OpenTheBackend) {
  try {
    make_gpu_backend({});
    std::cout << "opened\n";
  } catch (const EnvironmentError& error) {
    std::cout << "refused: " << error.what() << "\n";
  }
}

TEST(Driver, TheStubFirstInTheLibraryPathIsASentenceAndNoCrash) {
  const ScratchDir scratch;
  fs::create_symlink(stub_library(), scratch.path() / "libcuda.so.1");
  const std::string output = scratch.path() / "output";
  const char* before = getenv("LD_LIBRARY_PATH");
  const std::string saved = before ? before : "";
  setenv("LD_LIBRARY_PATH", scratch.path().c_str(), 1);
  const int code = run_program(own_disabled_test("Driver.DISABLED_OpenTheBackend"), output);
  before ? setenv("LD_LIBRARY_PATH", saved.c_str(), 1) : unsetenv("LD_LIBRARY_PATH");
  EXPECT_EQ(code, 0);
  EXPECT_THAT(read_file(output), AllOf(HasSubstr("refused: "), HasSubstr("is the CUDA toolkit's stub")));
}

// What a test that needs a GPU becomes on a machine whose driver is a stub.
TEST(Driver, WhereAGpuIsExpectedASkipIsAFailure) {
  const ScratchDir scratch;
  fs::create_symlink(stub_library(), scratch.path() / "libcuda.so.1");
  const std::vector<std::string> command = own_disabled_test("GpuTest.InfoDescribesTheDevice");
  RunPlace place;
  place.variables = {{"LD_LIBRARY_PATH", scratch.path()}, {"ATTNPROF_EXPECT_GPU", ""}};
  const std::string output = scratch.path() / "output";
  EXPECT_EQ(run_program(command, output, nullptr, place), 0);
  EXPECT_THAT(read_file(output), AllOf(HasSubstr("[  SKIPPED ]"), HasSubstr("is the CUDA toolkit's stub")));
  place.variables.back().second = "1";
  EXPECT_EQ(run_program(command, output, nullptr, place), 1);
  EXPECT_THAT(read_file(output), AllOf(HasSubstr("[  FAILED  ]"),
                                       HasSubstr("ATTNPROF_EXPECT_GPU is set, but"), HasSubstr("stub")));
}

TEST(Driver, ArchitecturesAreNamedAsNvccNamesThem) {
  EXPECT_EQ(arch_of(8, 0), "sm_80");
  EXPECT_EQ(arch_of(8, 9), "sm_89");
  EXPECT_EQ(arch_of(9, 0), "sm_90a");
  EXPECT_EQ(arch_of(10, 0), "sm_100a");
  EXPECT_EQ(arch_of(12, 0), "sm_120a");
}

TEST(Management, WithoutTheLibraryEveryValueIsAbsent) {
  const Nvml nvml("0000:00:00.0", "/nowhere/libnvidia-ml.so.1");
  EXPECT_FALSE(nvml.available());
  EXPECT_FALSE(nvml.driver_version() || nvml.sm_clock_mhz() || nvml.throttled() || nvml.ecc() || nvml.mig() ||
               nvml.power_limit_w() || nvml.processes());
}

TEST(Neighbours, TheProcessThatAppearedIsUs) {
  using Pids = std::vector<uint32_t>;
  const GpuNeighbours in_container(Pids{70, 900}, Pids{70, 812, 900}, 12);
  EXPECT_EQ(in_container.others({70, 812, 900}), 2u);
  EXPECT_EQ(in_container.others({812}), 0u);
  const GpuNeighbours on_host(Pids{12}, Pids{12}, 12);  // a retained context of an earlier backend
  EXPECT_EQ(on_host.others({12}), 0u);
  EXPECT_EQ(on_host.others({11, 12}), 1u);
  const GpuNeighbours unknown(Pids{}, Pids{}, 12);  // the driver hides ids: nothing to flag
  EXPECT_EQ(unknown.others({}), 0u);
  EXPECT_EQ(unknown.others({5}), 0u);
  EXPECT_EQ(unknown.others({5, 6}), 1u);
}

}  // namespace
}  // namespace attnprof
