// The command around a program: streams, exit codes, signals, the output file. None of these programs uses
// CUDA.
#include "test_paths.hpp"
#include "trace/trace_fixture.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class TraceWithoutCuda : public TraceProgram {};

TEST_F(TraceWithoutCuda, AProgramThatUsesNoneIsSaidToAndLeavesNoFile) {
  EXPECT_EQ(trace({}, {"true"}), 3);
  EXPECT_THAT(said(), HasSubstr("attnprof trace: nothing was traced: true used no CUDA"));
  EXPECT_FALSE(has_file());
}

TEST_F(TraceWithoutCuda, ThePrograKeepsItsExitCode) {
  EXPECT_EQ(trace({}, {"sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(trace({}, {"sh", "-c", "kill -TERM $$"}), 128 + SIGTERM);
  EXPECT_EQ(trace({}, {"sh", "-c", "kill -KILL $$"}), 128 + SIGKILL);
}

TEST_F(TraceWithoutCuda, ThePrograKeepsItsStreams) {
  EXPECT_EQ(trace({}, {"sh", "-c", "read line; echo \"out $line\"; echo err >&2; exit 4"}), 4);
  EXPECT_THAT(said(), AllOf(StartsWith("out "), HasSubstr("err\n")));
}

TEST_F(TraceWithoutCuda, ItsArgumentsAreNotOurs) {
  EXPECT_EQ(trace({}, {"echo", "--limit", "-1", "--", "-o"}), 3);
  EXPECT_THAT(said(), StartsWith("--limit -1 -- -o\n"));
}

TEST_F(TraceWithoutCuda, SignalsOfOtherProcessesReachTheProgram) {
  for (const auto& [number, code] : {std::pair{SIGINT, 41}, std::pair{SIGTERM, 42}}) {
    const pid_t pid = start(trace_of({"--overwrite"}, {ATTNPROF_FAKE_TARGET, "wait"}));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (said().find("waiting") == std::string::npos && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(pid, number);
    EXPECT_EQ(end_of(pid), code) << number;
  }
}

TEST_F(TraceWithoutCuda, AProgramThatCannotStartIsASentence) {
  EXPECT_EQ(trace({}, {"/nowhere/train.py"}), 2);
  EXPECT_THAT(said(), HasSubstr("cannot start /nowhere/train.py: No such file or directory"));
  EXPECT_FALSE(has_file());
}

TEST_F(TraceWithoutCuda, WrongUsageRunsNothing) {
  EXPECT_EQ(run({"trace", "-o", csv()}), 2);
  EXPECT_THAT(said(), HasSubstr("give it last, after --"));
  EXPECT_EQ(run({"trace", "--", "echo", "ran"}), 2);
  EXPECT_THAT(said(), AllOf(HasSubstr("-o FILE is missing"), Not(HasSubstr("ran\n"))));
  EXPECT_EQ(trace({"--kernel", "flash("}, {"echo", "ran"}), 2);
  EXPECT_THAT(said(), AllOf(HasSubstr("--kernel 'flash(' is no extended regular expression"),
                            Not(HasSubstr("ran\n"))));
  EXPECT_EQ(trace({"--range", "["}, {"echo", "ran"}), 2);
  EXPECT_THAT(said(), HasSubstr("--range '['"));
  EXPECT_EQ(trace({"--per-kernel", "--per-name"}, {"echo", "ran"}), 2);
  EXPECT_EQ(trace({"--limit", "-1"}, {"echo", "ran"}), 2);
  EXPECT_EQ(trace({"--append", "--overwrite"}, {"echo", "ran"}), 2);
  EXPECT_FALSE(has_file());
}

TEST_F(TraceWithoutCuda, AFileThatIsThereIsNotTouched) {
  write_text(csv(), "mine");
  EXPECT_EQ(trace({}, {"echo", "ran"}), 2);
  EXPECT_THAT(said(), AllOf(HasSubstr("exists: add --append"), Not(HasSubstr("ran\n"))));
  EXPECT_EQ(trace({"--append"}, {"echo", "ran"}), 2);
  EXPECT_EQ(trace({"--overwrite"}, {"true"}), 3) << "nothing was traced";
  EXPECT_EQ(text_of(csv()), "mine");
}

TEST_F(TraceWithoutCuda, AnotherProfilersLibraryIsNotReplaced) {
  EXPECT_EQ(trace({}, {"echo", "ran"}, {"CUDA_INJECTION64_PATH=/opt/nsys/libToolsInjection64.so"}), 3);
  EXPECT_THAT(said(), AllOf(HasSubstr("another profiler is there"), Not(HasSubstr("ran\n"))));
  EXPECT_EQ(trace({}, {"echo", "ran"}, {"NVTX_INJECTION64_PATH=/opt/x.so"}), 3);
  EXPECT_THAT(said(), HasSubstr("ran\n")) << "ranges are not asked for";
  EXPECT_EQ(trace({"--range", "x"}, {"echo", "ran"}, {"NVTX_INJECTION64_PATH=/opt/x.so"}), 3);
  EXPECT_THAT(said(), Not(HasSubstr("ran\n")));
}

}  // namespace
}  // namespace attnprof
