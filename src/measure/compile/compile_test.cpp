#include "measure/compile/compile.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/error.hpp"
#include "base/run_program.hpp"
#include "measure/compile/code_hash.hpp"
#include "measure/compile/compile_fixture.hpp"
#include "measure/compile/nvcc_fixture.hpp"
#include "measure/compile/ptxas_report.hpp"
#include "testing/captured.hpp"

namespace attnprof {
namespace {
namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(CompileTest, ReportsWhatTheCompilerSays) {
  const CompiledKernel kernel = compile(launch_, "sm_90a", options());
  EXPECT_THAT(kernel.cubin, AllOf(HasSubstr("source"), HasSubstr("-DTILE_BR=64")));
  EXPECT_EQ(kernel.registers, 26);
  EXPECT_EQ(kernel.spill_store_bytes, 4);
  EXPECT_EQ(kernel.spill_load_bytes, 12);
  EXPECT_EQ(kernel.stack_bytes, 8);
  EXPECT_EQ(kernel.static_smem_bytes, 128);
  EXPECT_EQ(kernel.dynamic_smem_bytes, 1024);
}

TEST_F(CompileTest, TheSameKernelIsCompiledOnce) {
  const std::string first = compile(launch_, "sm_90a", options()).cubin;
  EXPECT_EQ(compile(launch_, "sm_90a", options()).cubin, first);
  EXPECT_EQ(runs(), 1u);
}

TEST_F(CompileTest, AnotherMacroOrArchIsAnotherKernel) {
  compile(launch_, "sm_90a", options());
  KernelLaunch other = launch_;
  other.macros = {{"TILE_BR", "128"}};
  EXPECT_THAT(compile(other, "sm_90a", options()).cubin, HasSubstr("128"));
  compile(launch_, "sm_80", options());
  EXPECT_EQ(runs(), 3u);
}

TEST_F(CompileTest, AChangedIncludeIsCompiledAgainAndTheOldEntryKept) {
  compile(launch_, "sm_90a", options());
  write(kernels() / "part.h", "two!");
  EXPECT_THAT(compile(launch_, "sm_90a", options()).cubin, HasSubstr("two!"));
  EXPECT_EQ(runs(), 2u);
  write(kernels() / "part.h", "one");
  EXPECT_THAT(compile(launch_, "sm_90a", options()).cubin, HasSubstr("one"));
  EXPECT_EQ(runs(), 2u);
}

TEST_F(CompileTest, ATornEntryIsReplaced) {
  const std::string whole = compile(launch_, "sm_90a", options()).cubin;
  ASSERT_EQ(entries().size(), 1u);
  fs::resize_file(entries().front() / "kernel.cubin", 3);
  EXPECT_EQ(compile(launch_, "sm_90a", options()).cubin, whole);
  EXPECT_EQ(runs(), 2u);
  EXPECT_EQ(compile(launch_, "sm_90a", options()).cubin, whole);
  EXPECT_EQ(runs(), 2u);
}

TEST_F(CompileTest, ConcurrentRunsPublishOneWholeEntryAndLeaveNothingBehind) {
  std::vector<std::string> cubins(8);
  {
    std::vector<std::jthread> runs_at_once;
    for (std::string& cubin : cubins)
      runs_at_once.emplace_back([&] { cubin = compile(launch_, "sm_90a", options()).cubin; });
  }
  for (const std::string& cubin : cubins) EXPECT_EQ(cubin, cubins.front());
  EXPECT_EQ(entries().size(), 1u);
  EXPECT_TRUE(fs::is_empty(cache() / "tmp"));
  const size_t before = runs();
  EXPECT_EQ(compile(launch_, "sm_90a", options()).cubin, cubins.front());
  EXPECT_EQ(runs(), before);
}

TEST_F(CompileTest, ThreadsOfOneCompilerShareOneCompilation) {
  KernelCompiler compiler(options());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) threads.emplace_back([&] { compiler.compile(launch_, "sm_90a"); });
  }
  EXPECT_EQ(runs(), 1u);
}

TEST_F(CompileTest, TheCacheIsPrivateToTheUser) {
  compile(launch_, "sm_90a", options());
  for (const fs::path& path : {cache(), cache() / "kernels", entries().front()})
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all) << path;
}

TEST_F(CompileTest, AnUnusableCacheIsANoticeAndKernelsAreStillCompiled) {
  write(cache(), "a file where the directory should be");
  KernelCompiler compiler(options());
  EXPECT_THAT(compiler.notice(), AllOf(HasSubstr(cache().string()), HasSubstr("--cache-dir")));
  EXPECT_EQ(compiler.compile(launch_, "sm_90a").registers, 26);
}

TEST_F(CompileTest, ACacheThatOthersCanWriteToIsNotTrusted) {
  fs::create_directories(cache());
  fs::permissions(cache(), fs::perms::all);
  EXPECT_THAT(KernelCompiler(options()).notice(), HasSubstr("other users can write to it"));
}

TEST_F(CompileTest, ACompileErrorIsTheFirstErrorLineAndAKeptLog) {
  write(kernels() / "k.cu", "FAIL");
  try {
    compile(launch_, "sm_90a", options());
    FAIL() << "compiled";
  } catch (const CaseFailed& failed) {
    const std::string sentence = failed.what();
    EXPECT_THAT(sentence,
                AllOf(HasSubstr("k.cu does not compile for sm_90a"), HasSubstr("\"nope\" is undefined"),
                      HasSubstr((cache() / "failed").string())));
    const size_t at = sentence.find((cache() / "failed").string());
    EXPECT_THAT(read_file(sentence.substr(at, sentence.rfind(')') - at)),
                HasSubstr("In file included from x"));
  }
}

TEST_F(CompileTest, AMissingSourceOrEntryIsASentence) {
  KernelLaunch missing = launch_;
  missing.file = "absent.cu";
  EXPECT_THROW(compile(missing, "sm_90a", options()), CaseFailed);
  missing = launch_;
  missing.entry = "absent";
  EXPECT_THROW(compile(missing, "sm_90a", options()), CaseFailed);
}

TEST_F(CompileTest, NoNvccIsASentenceThatSaysWhereItLooked) {
  CompileOptions none = options();
  none.nvcc = "/nowhere/nvcc";
  try {
    const KernelCompiler compiler(none);
    FAIL() << "found a compiler";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/nowhere/nvcc"), HasSubstr("CUDACXX")));
  }
}

TEST_F(CompileTest, ABrokenNvccIsASentence) {
  write(nvcc(), "#!/bin/sh\necho 'cannot load libstdc++'; exit 127\n");
  EXPECT_THROW(KernelCompiler compiler(options()), EnvironmentError);
}

TEST_F(CompileTest, KernelsDirectoryMustHoldKernels) {
  CompileOptions wrong = options();
  wrong.kernels_dir = scratch_.path().string();
  EXPECT_THROW(KernelCompiler compiler(wrong), UsageError);
}

TEST_F(CompileTest, ACancelledCompilationEnds) {
  write(nvcc(), "#!/bin/sh\n[ \"$1\" = --version ] && echo 'release 13.0, V13.0.88' && exit 0\nsleep 60\n");
  KernelCompiler compiler(options());
  std::atomic<bool> cancel = false;
  const auto start = std::chrono::steady_clock::now();
  const std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    cancel = true;
  });
  EXPECT_THROW(compiler.compile(launch_, "sm_90a", &cancel), CaseFailed);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Process, ArgumentsAreNotReadByAShell) {
  const ScratchDir scratch;
  const std::string output = scratch.path() / "out";
  EXPECT_EQ(run_program({"/bin/echo", "$HOME; `id`", "a  b"}, output), 0);
  EXPECT_EQ(read_file(output), "$HOME; `id` a  b\n");
  EXPECT_EQ(run_program({"/nowhere/program"}, output), 127);
  EXPECT_THAT(read_file(output), HasSubstr("/nowhere/program cannot be started"));
}

TEST(Process, OutputAndErrorsGoWhereTheyAreWanted) {
  const ScratchDir scratch;
  const std::string output = scratch.path() / "out", errors = scratch.path() / "errors";
  const std::vector<std::string> both = {"/bin/sh", "-c", "echo said; echo failed >&2; pwd"};
  EXPECT_EQ(run_program(both, output, nullptr, {.folder = "/", .errors = errors}), 0);
  EXPECT_EQ(read_file(output), "said\n/\n");
  EXPECT_EQ(read_file(errors), "failed\n");
  std::vector<int> codes;
  const Printed printed = printed_by([&] {
    codes = {run_program(both, "", nullptr, {.folder = "/"}), run_program({"/nowhere/program"}, "")};
  });
  EXPECT_EQ(codes, (std::vector<int>{0, 127}));
  EXPECT_EQ(printed.err,
            "said\nfailed\n/\nerror: /nowhere/program cannot be started: No such file or directory\n");
}

TEST(Ptxas, EveryEntryHasItsOwnReport) {
  const std::string log =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'two' for 'sm_90a'\n"
      "ptxas info    : Function properties for two\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers\n"
      "ptxas info    : Function properties for _Z6calleef\n"
      "    72 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
      "ptxas info    : Compiling entry function 'one' for 'sm_90a'\n"
      "ptxas info    : Function properties for one\n"
      "    16 bytes stack frame, 20 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size, 1024 bytes "
      "smem\n";
  EXPECT_EQ(parse_ptxas(log, "two")->registers, 8);
  EXPECT_EQ(parse_ptxas(log, "two")->stack_bytes, 0);
  EXPECT_EQ(parse_ptxas(log, "one")->registers, 255);
  EXPECT_EQ(parse_ptxas(log, "one")->spill_load_bytes, 24);
  EXPECT_EQ(parse_ptxas(log, "one")->static_smem_bytes, 1024);
  EXPECT_FALSE(parse_ptxas(log, "on"));
}

TEST(Nvcc, VersionIsParsed) {
  EXPECT_EQ(parse_nvcc_version("nvcc: NVIDIA (R)\nCuda compilation tools, release 13.0, V13.0.88\nBuild x"),
            "13.0.88");
  EXPECT_EQ(parse_nvcc_version("clang version 14"), "");
}

// The rest runs the real compiler on the project's own device code.
const KernelLaunch harness_launch{.file = "lib/harness.cu", .entry = "evict_read", .macros = {}, .grid = {}};

TEST_F(NvccTest, HarnessKernelsCompileForEveryGeneration) {
  KernelCompiler compiler(options());
  for (const char* arch : {"sm_80", "sm_90a"}) {
    const CompiledKernel kernel = compiler.compile(harness_launch, arch);
    EXPECT_GT(kernel.registers, 0);
    EXPECT_EQ(kernel.spill_load_bytes, 0);
  }
}

TEST_F(NvccTest, TheCodeHashDoesNotDependOnPathsButOnCode) {
  const ScratchDir scratch;
  const auto compile_at = [&](const std::string& place, const std::string& factor) {
    const fs::path kernels = scratch.path() / place;
    fs::create_directories(kernels);
    write(kernels / "attention_params.h", "");
    write(kernels / "k.cu", "static __device__ __noinline__ float f(float x) { return x * " + factor +
                                "; }\nextern \"C\" __global__ void k(float* p) { *p = f(*p); }\n");
    KernelLaunch launch = harness_launch;
    launch.file = "k.cu", launch.entry = "k";
    return compile(launch, "sm_90a", {kernels, scratch.path() / "cache", ""}).code_hash;
  };
  const std::string hash = compile_at("a", "2.0f");
  EXPECT_EQ(compile_at("b", "2.0f"), hash);
  EXPECT_NE(compile_at("c", "3.0f"), hash);
}

}  // namespace
}  // namespace attnprof
