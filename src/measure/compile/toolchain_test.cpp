#include "measure/compile/toolchain.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "measure/compile/compile_fixture.hpp"
#include "testing/set_variable.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(CompileTest, ACompilerThatIsNamedIsTakenOrNone) {
  const SetVariable named("CUDACXX", nvcc().string());
  EXPECT_EQ(find_toolchain().nvcc, nvcc().string());
  for (const char* wrong : {"/nowhere/nvcc", "no-such-nvcc"}) {
    const SetVariable other("CUDACXX", wrong);
    try {
      FAIL() << find_toolchain().nvcc << " stands in for " << wrong;
    } catch (const EnvironmentError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("CUDACXX names the compiler " + std::string(wrong)),
                                      HasSubstr("there is no such program"), HasSubstr("unset it")));
    }
  }
}

// Of another toolkit it may be too old for what the compiler makes.
TEST_F(CompileTest, TheDisassemblerBesideANamedCompilerComesFirst) {
  std::filesystem::create_directories(scratch_.path() / "home/bin");
  const auto disassembler = [&](const char* name) {
    const std::filesystem::path path = scratch_.path() / name;
    write(path, "#!/bin/sh\n");
    chmod(path.c_str(), 0700);
    return path.string();
  };
  const SetVariable named("CUDACXX", nvcc().string()), path("PATH", "/nowhere"),
      home("CUDA_HOME", (scratch_.path() / "home").string());
  const std::string another = disassembler("home/bin/nvdisasm");
  EXPECT_EQ(find_nvdisasm(), another);
  const std::string beside = disassembler("nvdisasm");
  EXPECT_EQ(find_nvdisasm(), beside);
  const SetVariable unnamed("CUDACXX", "");
  EXPECT_EQ(find_nvdisasm(), another);
}

}  // namespace
}  // namespace attnprof
