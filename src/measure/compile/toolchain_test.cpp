#include "measure/compile/toolchain.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <optional>

#include "base/error.hpp"
#include "measure/compile/compile_fixture.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A variable of this process while it lives.
class SetVariable {
 public:
  SetVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~SetVariable() {
    if (old_)
      setenv(name_, old_->c_str(), 1);
    else
      unsetenv(name_);
  }
  SetVariable(const SetVariable&) = delete;
  SetVariable& operator=(const SetVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

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

TEST_F(CompileTest, ADisassemblerLiesBesideItsCompiler) {
  const SetVariable named("CUDACXX", nvcc().string()), path("PATH", "/nowhere"),
      home("CUDA_HOME", "/nowhere");
  const std::string before = find_nvdisasm();
  EXPECT_NE(before, (scratch_.path() / "nvdisasm").string());
  write(scratch_.path() / "nvdisasm", "#!/bin/sh\n");
  chmod((scratch_.path() / "nvdisasm").c_str(), 0700);
  if (!before.empty()) GTEST_SKIP() << before << " comes first";
  EXPECT_EQ(find_nvdisasm(), (scratch_.path() / "nvdisasm").string());
}

}  // namespace
}  // namespace attnprof
