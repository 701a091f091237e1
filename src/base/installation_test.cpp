#include "base/installation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/run_program.hpp"
#include "test_paths.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {
namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

void make_tree(const fs::path& tree) {
  fs::create_directories(tree / "kernels");
  write_text(tree / "kernels/attention_params.h", "");
}

TEST(Places, ABuildsHomeIsTheTreeThatItNotes) {
  const TemporaryFolder folder;
  const fs::path head = folder / "head", build = head / "build/base-build";
  fs::create_directories(build);
  write_text(build / "source_tree.txt", "../base\n");
  EXPECT_EQ(program_home(build).kernels, head / "build/base/kernels");
  EXPECT_EQ(program_home(build).python_environment, head / "build/base/.venv");
}

TEST(Places, AnInstalledProgramsHomeIsItsPrefix) {
  const TemporaryFolder folder;
  EXPECT_EQ(program_home(folder / "prefix/bin").kernels, folder / "prefix/share/attnprof/kernels");
}

// As after `pip install 'attnprof[cuda]'` into an environment, or beside a distribution's packages.
TEST(Places, AnInstalledProgramsToolkitIsInTheWheelsOfItsPrefix) {
  const TemporaryFolder folder;
  const fs::path prefix = folder / "prefix";
  for (const char* toolkit :
       {"lib/python3.11/site-packages/nvidia/cu13", "lib/python3.12/dist-packages/nvidia/cuda_nvcc"})
    fs::create_directories(prefix / toolkit);
  fs::create_directories(prefix / "lib/python3.11/site-packages/numpy");
  EXPECT_THAT(wheel_toolkits(program_home(prefix / "bin").python_environment),
              ElementsAre(prefix / "lib/python3.11/site-packages/nvidia/cu13",
                          prefix / "lib/python3.12/dist-packages/nvidia/cuda_nvcc"));
}

TEST(Places, ThisBuildsKernelsAreItsSourceTrees) {
  EXPECT_EQ(find_kernels_dir(""), fs::canonical(ATTNPROF_SOURCE_DIR "/kernels"));
}

// As a merge base's program lies in the tree of the head that it is compared with.
TEST(Places, AProgramInAnotherTreeTakesNothingOfIt) {
  const TemporaryFolder folder;
  const fs::path head = folder / "head", build = head / "build/base-build";
  make_tree(head);
  fs::create_directories(head / ".venv/lib/python3/site-packages/nvidia/cu13/bin");
  fs::create_directories(build);
  fs::copy_file(ATTNPROF_BINARY, build / "attnprof");
  const auto doctor = [&] {
    run_program({build / "attnprof", "doctor"}, folder / "said");
    return text_of(folder / "said");
  };
  EXPECT_THAT(doctor(), AllOf(HasSubstr((head / "build/share/attnprof/kernels").string() + "; name their"),
                              Not(HasSubstr((head / "kernels").string()))));
  write_text(build / "source_tree.txt", "../base\n");
  EXPECT_THAT(doctor(), AllOf(HasSubstr((head / "build/base/kernels").string() + "; name their"),
                              Not(HasSubstr((head / "kernels").string()))));
  make_tree(head / "build/base");
  EXPECT_THAT(doctor(),
              AllOf(HasSubstr((head / "build/base/kernels").string()), Not(HasSubstr("name their"))));
}

TEST(Places, ToolkitsAreOfTheHomeAndOfTheEnvironment) {
  const fs::path own = program_home(program_folder()).python_environment;
  for (const fs::path& root : toolkit_roots()) {
    EXPECT_TRUE(root.is_absolute()) << root;
    const std::string text = root.string();
    const char* environment = std::getenv("VIRTUAL_ENV");
    if (text.find("site-packages") == std::string::npos) continue;
    EXPECT_TRUE(text.starts_with(own.string()) || (environment && text.starts_with(environment))) << text;
  }
}

}  // namespace
}  // namespace attnprof
