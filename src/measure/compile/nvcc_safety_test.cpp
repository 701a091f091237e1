// nvcc hands its arguments to a shell: whatever folders, files and macros are called, none of it gets there.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/error.hpp"
#include "measure/compile/compile.hpp"
#include "measure/compile/compile_fixture.hpp"
#include "measure/compile/nvcc_command.hpp"
#include "measure/compile/nvcc_fixture.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {
namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// What a shell would take for more than a name, between quotes or not. PWNED: a variable with a path, since a
// shell may run in a folder that is removed.
const std::vector<std::string> hostile_names = {"$(touch $PWNED)",
                                                "`touch $PWNED`",
                                                "a b",
                                                "$HOME",
                                                "\"; touch $PWNED; \"",
                                                "'; touch $PWNED; '",
                                                "x;touch $PWNED",
                                                "x&touch $PWNED&",
                                                "x|touch $PWNED",
                                                "x\ntouch $PWNED",
                                                "x\\",
                                                "#x",
                                                "a,b",
                                                "-o x",
                                                "\xC3\xBC"};

class TemporaryVariable {
 public:
  TemporaryVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~TemporaryVariable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
  TemporaryVariable(const TemporaryVariable&) = delete;
  TemporaryVariable& operator=(const TemporaryVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

class NvccSafetyTest : public CompileTest {
 protected:
  // The words nvcc was given last, its TMPDIR and its folder.
  std::string words() const { return text_of(scratch_.path() / "words"); }
  // A folder of kernels, a cache and a toolkit, all called `name`.
  CompileOptions options_in(const std::string& name) const {
    const fs::path folder = scratch_.path() / name;
    fs::create_directories(folder / "toolkit");
    fs::copy(kernels(), folder / "kernels", fs::copy_options::recursive);
    // Its own runs and words are kept where the fixture looks.
    write(folder / "toolkit/nvcc", fmt::format("#!/bin/sh\nexec {} \"$@\"\n", nvcc().string()));
    chmod((folder / "toolkit/nvcc").c_str(), 0700);
    return {(folder / "kernels").string(), (folder / "cache").string(), (folder / "toolkit/nvcc").string()};
  }
};

TEST_F(NvccSafetyTest, FoldersOfAnyNameWorkAndTheirNamesDoNotReachNvcc) {
  for (const std::string& name : hostile_names) {
    SCOPED_TRACE(name);
    const TemporaryVariable temporary("TMPDIR", (scratch_.path() / name).string());
    const TemporaryVariable pwned("PWNED", (scratch_.path() / "pwned").string());
    const CompileOptions options = options_in(name);
    const CompiledKernel kernel = compile(launch_, "sm_90a", options);
    EXPECT_THAT(kernel.cubin, AllOf(HasSubstr("source"), HasSubstr("one"), HasSubstr("-DTILE_BR=64")));
    for (const char c : words())
      EXPECT_TRUE(is_shell_safe_path({&c, 1}) || c == '=' || c == '\n') << c << " in " << words();
    EXPECT_THAT(words(), HasSubstr("TMPDIR=.\n"));
    const size_t before = runs();
    compile(launch_, "sm_90a", options);
    // A list of files, one a line, cannot keep what lies in a folder of two lines.
    EXPECT_TRUE(runs() == before || name.find('\n') != std::string::npos) << "includes are not known";
  }
  EXPECT_FALSE(fs::exists(scratch_.path() / "pwned"));
}

TEST_F(NvccSafetyTest, SourcesOfAnyNameWorkAndTheirNamesDoNotReachNvcc) {
  for (const std::string& name : hostile_names) {
    SCOPED_TRACE(name);
    KernelLaunch launch = launch_;
    launch.file = name + ".cu";
    write(kernels() / launch.file, "source of " + name);
    EXPECT_THAT(compile(launch, "sm_90a", options()).cubin, HasSubstr("source of " + name));
    EXPECT_THAT(words(), Not(HasSubstr(name)));
  }
}

TEST_F(NvccSafetyTest, MessagesNameTheUsersFile) {
  const CompileOptions options = options_in("$(touch $PWNED) attnprof-unit");
  write(fs::path(options.kernels_dir) / "k.cu", "FAIL");
  try {
    compile(launch_, "sm_90a", options);
    FAIL() << "compiled";
  } catch (const CaseFailed& failed) {
    EXPECT_THAT(failed.what(),
                HasSubstr(options.kernels_dir + "/k.cu(3): error: identifier \"nope\" is undefined"));
  }
}

TEST_F(NvccSafetyTest, MacrosBeyondTheGrammarAreRefusedWhoeverGivesThem) {
  std::vector<std::pair<std::string, std::string>> wrong = {
      {"A B", "1"}, {"A$(touch $PWNED)", "1"}, {"", "1"}, {"1A", "1"}, {"A", ""}, {"A", "1,B=2"},
      {"A", "x/y"}};
  for (const std::string& name : hostile_names)
    if (name != "a b" && name != "-o x") wrong.emplace_back("A", name);
  for (const auto& macro : wrong) {
    KernelLaunch launch = launch_;
    launch.macros = {macro};
    EXPECT_THROW(compile(launch, "sm_90a", options()), CaseFailed) << macro.first << "=" << macro.second;
  }
  EXPECT_EQ(runs(), 0u);
  EXPECT_THROW(nvcc_command("nvcc", launch_, "sm_90a;id"), CaseFailed);
  EXPECT_THROW(nvcc_command("nv cc", launch_, "sm_90a"), CaseFailed);
}

TEST_F(NvccSafetyTest, ACompilerOfAFolderThatAnybodyCanWriteToIsNotRun) {
  const CompileOptions options = options_in("toolkits");
  chmod(fs::path(options.nvcc).parent_path().c_str(), 0777);
  try {
    const KernelCompiler compiler(options);
    FAIL() << "was run";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("the compiler " + options.nvcc), HasSubstr("anybody can write to")));
  }
}

TEST_F(NvccSafetyTest, KernelsThatAnybodyCanWriteToAreNotCompiled) {
  chmod(kernels().c_str(), 0777);
  EXPECT_THROW(KernelCompiler compiler(options()), EnvironmentError);
  chmod(kernels().c_str(), 0755);
  chmod((kernels() / "k.cu").c_str(), 0666);
  EXPECT_THROW(compile(launch_, "sm_90a", options()), EnvironmentError);
  chmod((kernels() / "k.cu").c_str(), 0644);
  chmod((kernels() / "part.h").c_str(), 0666);
  try {
    compile(launch_, "sm_90a", options());
    FAIL() << "was compiled";
  } catch (const CaseFailed& failed) {
    EXPECT_THAT(failed.what(), AllOf(HasSubstr("k.cu is not used: it includes"), HasSubstr("part.h, and")));
  }
}

TEST_F(NvccSafetyTest, ACacheThatOthersCouldReplaceIsNotUsed) {
  const fs::path open = scratch_.path() / "open";
  fs::create_directories(open / "cache");
  chmod(open.c_str(), 0777);
  CompileOptions there = options();
  there.cache_dir = (open / "cache").string();
  EXPECT_THAT(KernelCompiler(there).notice(), HasSubstr("anybody can write to " + open.string()));
}

TEST_F(NvccSafetyTest, AnotherUsersKernelsAreNotCompiled) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  ASSERT_EQ(chown((kernels() / "k.cu").c_str(), 54321, 0), 0);
  EXPECT_THROW(compile(launch_, "sm_90a", options()), EnvironmentError);
  const TemporaryVariable trust("ATTNPROF_TRUST", "54321");
  EXPECT_EQ(compile(launch_, "sm_90a", options()).registers, 26);
}

// The rest runs the real compiler, which gives the real path of what it compiles to a shell.
class RealNvccSafetyTest : public NvccTest {
 protected:
  static constexpr const char* text =
      "#include \"beside.h\"\n#include \"../above.h\"\n#include <attention_params.h>\n"
      "#include \"deep/inner.h\"\nextern \"C\" __global__ void k(float* p) { *p = *p * BESIDE + ABOVE + "
      "INNER * FACTOR + THERE; }\n";
  // A kernel that includes from everywhere, in folders called `name`.
  CompiledKernel compiled_in(const std::string& name, const std::string& source) {
    const fs::path folder = fs::path(folder_ / "x").parent_path() / name, own = folder / "own";
    fs::create_directories(own / "deep");
    fs::create_directories(folder / "kernels");
    write_text(folder / "kernels/attention_params.h", "#define THERE 5\n");
    write_text(own / source, text);
    write_text(own / "beside.h", "#define BESIDE 2\n");
    write_text(own / "math.h", "#error a header beside the source is none of the system's\n");
    write_text(folder / "above.h", "#define ABOVE 3\n");
    write_text(own / "deep/inner.h", "#include \"sibling.h\"\n");
    write_text(own / "deep/sibling.h", "#define INNER 4\n");
    const KernelLaunch launch{
        .file = (own / source).string(), .entry = "k", .macros = {{"FACTOR", "(1 + 2)"}}, .grid = {}};
    return compile(launch, "sm_90a", {(folder / "kernels").string(), (folder / "cache").string(), ""});
  }
  TemporaryFolder folder_;
};

TEST_F(RealNvccSafetyTest, FoldersAndFilesOfAnyNameCompileToTheSameCode) {
  const std::string hash = compiled_in("plain", "k.cu").code_hash;
  // All at once: a compilation takes a second.
  std::string all;
  for (const std::string& name : hostile_names) all += name + "_";
  std::erase(all, '/');
  const TemporaryVariable temporary("TMPDIR", folder_ / all.substr(0, 200));
  const TemporaryVariable pwned("PWNED", folder_ / "pwned");
  EXPECT_EQ(compiled_in(all.substr(0, 200), "k.cu").code_hash, hash);
  EXPECT_EQ(compiled_in("$(touch $PWNED)`touch $PWNED`", "\"$(touch $PWNED)`touch $PWNED`'.cu").code_hash,
            hash);
  EXPECT_FALSE(fs::exists(folder_ / "pwned"));
}

TEST_F(RealNvccSafetyTest, MessagesNameTheUsersFileAndLine) {
  const fs::path kernels = fs::path(folder_ / "$(touch $PWNED)");
  fs::create_directories(kernels);
  write_text(kernels / "attention_params.h", "");
  write_text(kernels / "k.cu", "#include \"part.h\"\n");
  write_text(kernels / "part.h", "\nextern \"C\" __global__ void k() { nope(); }\n");
  const KernelLaunch launch{.file = "k.cu", .entry = "k", .macros = {}, .grid = {}};
  const CompileOptions options{kernels.string(), folder_ / "cache", ""};
  const auto sentence = [&] {
    try {
      compile(launch, "sm_90a", options);
      return std::string("compiled");
    } catch (const CaseFailed& failed) {
      return std::string(failed.what());
    }
  };
  EXPECT_THAT(sentence(), HasSubstr((kernels / "part.h").string() + "(2): error: identifier \"nope\""));
  write_text(kernels / "k.cu", "#include \"absent.h\"\n");
  EXPECT_THAT(sentence(), HasSubstr((kernels / "k.cu").string() + ":1:10: fatal error: absent.h"));
}

}  // namespace
}  // namespace attnprof
