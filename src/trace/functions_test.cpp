#include "trace/functions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace attnprof {
namespace {

using testing::ElementsAre;
using testing::Pair;

const std::array<char, 4096> handles{};
const void* handle(size_t i) { return &handles[i]; }

class Functions : public testing::Test {
 protected:
  TracedFunction& launch(const void* at, const std::string& name) {
    TracedFunction* function = table.find(at);
    if (!function) function = &table.add(at, name);
    ++function->launches;
    return *function;
  }
  FunctionTable table{Pattern("--kernel", "flash")};
};

TEST_F(Functions, AreKnownByTheirHandle) {
  EXPECT_EQ(table.find(handle(0)), nullptr);
  TracedFunction& flash = launch(handle(0), "_Z9flash_fwdPf");
  EXPECT_TRUE(flash.wanted);
  EXPECT_EQ(flash.kernel, "flash_fwd(float*)");
  EXPECT_FALSE(launch(handle(1), "add").wanted);
  EXPECT_EQ(table.find(handle(0)), &flash);
  launch(handle(0), "");
  EXPECT_THAT(table.launches(), ElementsAre(Pair("add", 1), Pair("flash_fwd(float*)", 2)));
}

// The same handle, remembered by this thread, is another kernel's after a module was unloaded.
TEST_F(Functions, AHandleThatIsGivenOutAnewIsAskedForAgain) {
  launch(handle(0), "flash");
  ASSERT_NE(table.find(handle(0)), nullptr) << "from now on it is remembered";
  table.forget();
  EXPECT_EQ(table.find(handle(0)), nullptr);
  EXPECT_FALSE(launch(handle(0), "add").wanted);
  EXPECT_FALSE(table.find(handle(0))->wanted);
  EXPECT_THAT(table.launches(), ElementsAre(Pair("add", 1), Pair("flash", 1))) << "what was launched stays";
}

TEST_F(Functions, AGraphReplacesWhatHadItsHandleAndIsNotForgotten) {
  table.add_graph(handle(0), {"add", "mul"});
  EXPECT_FALSE(table.find(handle(0))->wanted);
  table.add_graph(handle(0), {"add", "flash"});
  TracedFunction* graph = table.find(handle(0));
  EXPECT_TRUE(graph->wanted);
  EXPECT_EQ(graph->kernel, "flash");
  EXPECT_EQ(graph->graph_kernels, 2);
  table.forget();
  EXPECT_EQ(table.find(handle(0)), graph) << "no module's";
  table.add_graph(handle(0), {"flash", "ncclAllReduce"});
  EXPECT_FALSE(table.find(handle(0))->wanted) << "it would wait for ever";
}

TEST_F(Functions, AGraphThatIsDestroyedGivesItsHandleBack) {
  table.add_graph(handle(0), {"flash"});
  ASSERT_EQ(table.find(handle(0))->graph_kernels, 1) << "from now on it is remembered";
  table.forget_graph(handle(0));
  EXPECT_EQ(table.find(handle(0)), nullptr);
  EXPECT_EQ(launch(handle(0), "add").graph_kernels, 0);
  table.forget_graph(handle(1));
  EXPECT_NE(table.find(handle(0)), nullptr) << "another's";
}

// Programs that unload and load for hours must not fill the memory.
TEST_F(Functions, OfOneNameAreKeptOnce) {
  size_t told = 0;
  table.on_new = [&](const std::string&) { ++told; };
  TracedFunction* first = &launch(handle(0), "flash");
  for (size_t i = 1; i < 1000; ++i) {
    table.forget();
    EXPECT_EQ(&launch(handle(i), "flash"), first);
  }
  EXPECT_EQ(told, 1u);
  EXPECT_EQ(first->launches, 1000);
}

TEST_F(Functions, AnotherTablesAnswersAreNotTaken) {
  launch(handle(0), "flash");
  ASSERT_NE(table.find(handle(0)), nullptr) << "from now on it is remembered";
  const FunctionTable other{Pattern("--kernel", "")};
  EXPECT_EQ(other.find(handle(0)), nullptr);
}

// More handles than a thread remembers, while another forgets them.
TEST_F(Functions, EveryLaunchOfEveryThreadIsCounted) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (size_t i = 0; i < 20'000; ++i) {
        const size_t which = 16 * (i % 100);
        EXPECT_EQ(launch(handle(which), "k" + std::to_string(which)).kernel, "k" + std::to_string(which));
        if (i % 512 == 0) table.forget();
      }
    });
  for (std::thread& thread : threads) thread.join();
  const auto launches = table.launches();
  EXPECT_EQ(launches.size(), 100u);
  for (const auto& [kernel, count] : launches) EXPECT_EQ(count, 4 * 200) << kernel;
}

}  // namespace
}  // namespace attnprof
