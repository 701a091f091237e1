// The parts of tracing that need no program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/demangled.hpp"
#include "base/error.hpp"
#include "measure/gpu/count_turns.hpp"
#include "testing/temporary_file.hpp"
#include "trace/kernel_name.hpp"
#include "trace/pattern.hpp"
#include "trace/trace_files.hpp"
#include "trace/trace_outcome.hpp"

namespace attnprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(KernelName, LosesWhatSaysLittle) {
  EXPECT_EQ(demangled("_Z3addPfi"), "add(float*, int)");
  EXPECT_EQ(demangled("m"), "m");
  EXPECT_EQ(demangled("cudnn_sm90_flash_fprop"), "cudnn_sm90_flash_fprop");
  EXPECT_EQ(short_kernel_name("add(float*, int)"), "add");
  EXPECT_EQ(short_kernel_name("void at::add<4, float>(int, at::array<char*, 2ul>)"), "at::add<4, float>");
  EXPECT_EQ(short_kernel_name("void (anonymous namespace)::softmax<float (*)(int)>(float*)"),
            "(anonymous namespace)::softmax<float (*)(int)>");
  EXPECT_EQ(short_kernel_name("operator()"), "operator");
  EXPECT_EQ(short_kernel_name(""), "");
  EXPECT_EQ(short_kernel_name(")"), ")");
}

TEST(KernelName, LongOnesStayApart) {
  const std::string arguments(200, 'a');
  const std::string a = short_kernel_name("void f<" + arguments + ", 1>(int)");
  const std::string b = short_kernel_name("void f<" + arguments + ", 2>(int)");
  EXPECT_THAT(a, testing::MatchesRegex("f<#[0-9a-f]{8}>"));
  EXPECT_NE(a, b);
  EXPECT_LE(short_kernel_name(std::string(5000, 'x')).size(), 100u);
}

TEST(Pattern, IsExtendedAndSearches) {
  EXPECT_TRUE(Pattern("--kernel", "flash|fmha").matches("a fmha kernel"));
  EXPECT_FALSE(Pattern("--kernel", "^flash$").matches("flash_fwd"));
  EXPECT_TRUE(Pattern("--kernel", "").matches("anything"));
  EXPECT_THROW(Pattern("--kernel", "a{2,1}"), UsageError);
}

// std::regex would use a stack frame a character.
TEST(Pattern, ALongNameIsNoStackOverflow) {
  EXPECT_FALSE(Pattern("--kernel", "(a|b)*c$").matches(std::string(1 << 20, 'a')));
}

// Three sets as on a GH100: the first with bf16 FLOPs, then SM bytes with the tensor pipe, then fp16 FLOPs
// alone.
const std::vector<CountSet> sets = {{.others = true, .tensor = Dtype::bf16},
                                    {.others = true, .tensor = std::nullopt},
                                    {.others = false, .tensor = Dtype::fp16, .passes = 2}};

std::vector<size_t> turns(const std::vector<LaunchCounts>& counts, size_t count) {
  CountTurns turns;
  std::vector<size_t> taken;
  while (taken.size() < count) {
    const size_t set = turns.next(sets, taken.empty() ? std::nullopt : std::optional(taken.back()));
    taken.push_back(set);
    turns.counted(sets, set, counts[set]);
  }
  return taken;
}

TEST(CountTurns, EverySetOnceTheTypeIsKnownNotItsOthers) {
  const LaunchCounts nothing;
  EXPECT_THAT(turns({{{"tensor_flops_bf16", 8}}, {{"tensor_pipe", 50}}, nothing}, 5),
              ElementsAre(0, 1, 1, 1, 0));
  EXPECT_THAT(turns({{{"tensor_flops_bf16", 0}}, {{"tensor_pipe", 50}}, {{"tensor_flops_fp16", 8}}}, 6),
              ElementsAre(0, 1, 2, 2, 2, 0));
  EXPECT_THAT(turns({{{"tensor_flops_bf16", 0}}, {{"tensor_pipe", 0}}, nothing}, 5),
              ElementsAre(0, 1, 1, 1, 0));
}

TEST(CountTurns, ASetThatIsGivenUpIsNotAskedForAgain) {
  CountTurns turns;
  turns.counted(sets, 0, {{"tensor_flops_bf16", 0}});
  turns.counted(sets, 1, {{"tensor_pipe", 50}});
  EXPECT_EQ(turns.next(sets), 2u);
  turns.give_up(2);
  EXPECT_EQ(turns.next(sets), 0u);
}

LaunchRecord launch_of(const std::string& kernel) {
  LaunchRecord launch;
  launch.kernel = kernel;
  launch.shape.grid = {1, 2, 3};
  launch.counts = {{"hbm_read", 1e15 + 1}};
  return launch;
}

TEST(TraceFiles, RecordsRoundTrip) {
  const LaunchRecord launch = launch_of("f<int, \"x\">(\n)");
  const auto read = parse_line(to_line(launch));
  ASSERT_TRUE(read && std::holds_alternative<LaunchRecord>(*read));
  EXPECT_EQ(std::get<LaunchRecord>(*read).kernel, launch.kernel);
  EXPECT_EQ(std::get<LaunchRecord>(*read).shape, launch.shape);
  EXPECT_EQ(std::get<LaunchRecord>(*read).counts, launch.counts);
  EXPECT_FALSE(parse_line("{\"launch\": {}}"));
  EXPECT_FALSE(parse_line("[1]"));
  EXPECT_FALSE(parse_line("{}"));
}

TEST(TraceFiles, ATornLastLineIsLeftOutAndTold) {
  const TemporaryFolder folder;
  const std::string line = to_line(launch_of("k"));
  write_text(folder / "1.jsonl",
             to_line(ProcessRecord{7, "python"}) + line + line.substr(0, line.size() / 2));
  write_text(folder / "2.jsonl", line + line.substr(0, line.size() - 1));
  write_text(folder / "3.jsonl", "");
  const std::vector<ProcessTrace> traces = read_traces(folder / "");
  ASSERT_THAT(traces, SizeIs(3));
  EXPECT_EQ(traces[0].process.pid, 7);
  EXPECT_THAT(traces[0].launches, SizeIs(1));
  EXPECT_EQ(traces[0].bad_lines, 1u);
  EXPECT_THAT(traces[1].launches, SizeIs(1));
  EXPECT_THAT(trace_sentences({"python", "", "", "out.csv", false}, {}, {}).back(),
              HasSubstr("python used no CUDA: there is no NVIDIA driver"));
  EXPECT_THAT(trace_sentences({"python", "", "", "out.csv"}, traces, {}).back(),
              HasSubstr("2 torn lines of processes that were killed are left out"));
}

TEST(TraceFiles, TenKernelsAtMostAreNamed) {
  ProcessTrace trace;
  for (int i = 0; i < 13; ++i) trace.seen["k" + std::to_string(i)] = i + 1;
  const std::string sentence = trace_sentences({"p", "x", "", "o"}, {trace}, {}).front();
  EXPECT_THAT(sentence, HasSubstr("k12 (13), k11 (12), "));
  EXPECT_THAT(sentence, HasSubstr("k3 (4), and 3 more"));
}

}  // namespace
}  // namespace attnprof
