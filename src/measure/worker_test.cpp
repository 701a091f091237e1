#include "measure/worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "error.hpp"
#include "measure/backend_json.hpp"
#include "test_paths.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

// The fake worker does what tile_reason says, "what@phase".
Case sample(const std::string& order = "") {
  Case c;
  c.variant = find_variant("flash2");
  c.problem.q_len = c.problem.kv_len = 512;
  c.tile = {64, 64};
  c.tile_reason = order;
  return c;
}

MeasureOptions options(double timeout_s = 20) {
  MeasureOptions chosen;
  chosen.case_timeout_s = timeout_s;
  chosen.seed = 5;
  return chosen;
}

struct Worker : WorkerBackend {
  explicit Worker(const MeasureOptions& chosen = options()) : WorkerBackend({ATTNPROF_FAKE_WORKER}, chosen) {}

  // Runs all phases of a case; the disposition and reason the pipeline would give it.
  Status run(const std::string& order) {
    Status status;
    status.disposition = "ok";
    try {
      pid = prepare(sample(order)).ctas.value();
      verify();
      time(status);
      count(status);
    } catch (const CaseSkipped& skipped) {
      return {"skipped", skipped.what(), ""};
    } catch (const CaseFailed& failed) {
      return {"failed", failed.what(), ""};
    }
    return status;
  }

  int64_t pid = 0;  // of the process that prepared the last case
};

TEST(Worker, CarriesOptionsThereAndInformationBack) {
  Worker worker;
  EXPECT_EQ(worker.info().name, "fake");
  EXPECT_EQ(worker.info().device.name, "fake device");
  ASSERT_EQ(worker.info().device.l2_curve.size(), 2u);
  EXPECT_EQ(worker.info().device.l2_curve[1].miss_share, 1);
  EXPECT_THAT(worker.info().environment, Contains(std::pair<std::string, std::string>("seed", "5")));
  EXPECT_THAT(worker.info().notices, testing::ElementsAre("no counters here"));
}

TEST(Worker, CarriesEveryGroupBack) {
  Worker worker;
  Status status;
  EXPECT_EQ(worker.prepare(sample()).kernel_hash, "abc");
  EXPECT_EQ(worker.verify().rel_err, 0.001);
  EXPECT_EQ(worker.time(status).median_ns, 1234.5);
  const Counters counters = worker.count(status);
  EXPECT_EQ(counters.hbm_read, 42);
  EXPECT_EQ(counters.executed_tensor_flops, 1 << 20);
  EXPECT_EQ(counters.sm_cycles, 99);
  EXPECT_EQ(status.flags, "drift;gpu_shared");
}

TEST(Worker, ServesManyCasesInOneProcess) {
  Worker worker;
  EXPECT_EQ(worker.run("-").disposition, "ok");
  const int64_t first = worker.pid;
  EXPECT_EQ(worker.run("skip@prepare").disposition, "skipped");
  EXPECT_EQ(worker.run("-").disposition, "ok");
  EXPECT_EQ(worker.pid, first);
}

TEST(Worker, RunsOutsideTheTerminalsProcessGroup) {
  Worker worker;
  worker.run("-");
  EXPECT_EQ(getpgid(static_cast<pid_t>(worker.pid)), worker.pid);
  EXPECT_NE(getpgrp(), worker.pid);
}

struct Fault {
  const char* order;
  const char* disposition;
  std::vector<const char*> reason;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.order; }

class WorkerFault : public testing::TestWithParam<Fault> {};

TEST_P(WorkerFault, IsARowThatSaysSoAndTheNextCaseRuns) {
  Worker worker;
  worker.run("-");
  const int64_t before = worker.pid;
  const Status status = worker.run(GetParam().order);
  EXPECT_EQ(status.disposition, GetParam().disposition);
  for (const char* words : GetParam().reason) EXPECT_THAT(status.reason, HasSubstr(words));
  EXPECT_EQ(worker.run("-").disposition, "ok");
  EXPECT_EQ(worker.pid == before, status.disposition != "failed");
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, WorkerFault,
    testing::Values(Fault{"crash@time", "failed", {"signal 11", "while timing"}},
                    Fault{"complain_and_crash@verify",
                          "failed",
                          {"signal 11", "while verifying", "its last message: the device is on fire"}},
                    Fault{"exit@prepare", "failed", {"exited with code 7", "while preparing"}},
                    Fault{"garbage@count", "failed", {"\"%!\"", "while counting"}},
                    Fault{"fail@time", "failed", {"CUDA error 700: illegal address"}},
                    Fault{"unexpected@count", "failed", {"nobody expected this"}},
                    Fault{"skip@prepare", "skipped", {"needs 3 bytes, 2 are free"}},
                    Fault{"print@verify", "ok", {}}));

TEST(Worker, WhatItPrintsBecomesNoticesOnce) {
  Worker worker;
  worker.run("print@time");
  worker.run("print@count");
  EXPECT_THAT(worker.info().notices, testing::UnorderedElementsAre("no counters here", "a warning",
                                                                   "{\"ok\": \"this is not an answer\"}"));
}

TEST(Worker, AHangEndsWithinTheTimeOutAndItsProcessIsGone) {
  Worker worker(options(0.5));
  worker.run("-");
  const pid_t hung = static_cast<pid_t>(worker.pid);
  const auto start = std::chrono::steady_clock::now();
  const Status status = worker.run("hang@time");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(status.disposition, "failed");
  EXPECT_THAT(status.reason, AllOf(HasSubstr("--case-timeout 0.5 s"), HasSubstr("while timing")));
  EXPECT_EQ(kill(hung, 0), -1);
  EXPECT_EQ(worker.run("-").disposition, "ok");
}

TEST(Worker, TheTimeOutStartsAnewWithEachCase) {
  Worker worker(options(1));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(worker.run("slow@verify").disposition, "ok");
}

TEST(Worker, AnEnvironmentErrorOfAPhaseEndsTheRun) {
  Worker worker;
  EXPECT_THROW(worker.run("environment@prepare"), EnvironmentError);
}

TEST(Worker, OpeningPassesTheBackendsErrorOn) {
  MeasureOptions refused = options();
  refused.kernels_dir = "no environment";
  try {
    Worker worker(refused);
    FAIL() << "opened";
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "there is no GPU here");
  }
}

TEST(Worker, ACrashOnOpeningIsAnEnvironmentError) {
  MeasureOptions crashing = options();
  crashing.kernels_dir = "crash";
  try {
    Worker worker(crashing);
    FAIL() << "opened";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("signal 11"), HasSubstr("while starting"), HasSubstr("on fire")));
  }
}

TEST(Worker, AProgramThatIsNoneIsASentence) {
  try {
    WorkerBackend worker({"/no/such/program"}, options());
    FAIL() << "opened";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/no/such/program"), HasSubstr("No such file")));
  }
}

TEST(Worker, AProgramThatIsNoWorkerIsASentence) {
  EXPECT_THROW(WorkerBackend({"/bin/true"}, options()), EnvironmentError);
}

TEST(Worker, ASignalToTheParentDoesNotDisturbACase) {
  struct sigaction handler {};
  handler.sa_handler = [](int) {};  // no SA_RESTART: calls in progress are interrupted
  struct sigaction old {};
  sigaction(SIGALRM, &handler, &old);
  const itimerval often = {{0, 20'000}, {0, 20'000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  Worker worker;
  EXPECT_EQ(worker.run("slow@verify").disposition, "ok");
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &old, nullptr);
}

// The worker hangs where it cannot see its stdin end, and its parent is killed.
TEST(Worker, DiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    Worker worker;
    worker.run("-");
    if (write(ends[1], &worker.pid, sizeof worker.pid) < 0) _exit(1);
    worker.run("hang@time");
    _exit(0);
  }
  int64_t pid = 0;
  ASSERT_EQ(read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(kill(static_cast<pid_t>(pid), 0), 0);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  // An orphan is reaped by init; until then a zombie still has its number.
  const std::string stat = "/proc/" + std::to_string(pid) + "/cmdline";
  const auto gone = [&] {
    FILE* file = std::fopen(stat.c_str(), "r");
    const bool none = !file || std::fgetc(file) == EOF;
    if (file) std::fclose(file);
    return none;
  };
  for (int i = 0; i < 500 && !gone(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(gone());
}

TEST(BackendJson, OptionsRoundTrip) {
  MeasureOptions given;
  given.verify = VerifyMode::full;
  given.counters = CounterMode::on;
  given.precision = 0.01;
  given.max_time_s = 0.123456789012345;
  given.seed = 1ull << 63;
  given.input = InputKind::outliers;
  given.device = 3;
  given.kernels_dir = "/a b/\"c\"";
  const MeasureOptions back = options_from_json(nlohmann::json::parse(to_json(given).dump()));
  EXPECT_EQ(to_json(back), to_json(given));
  EXPECT_EQ(back.seed, given.seed);
  EXPECT_EQ(back.max_time_s, given.max_time_s);
  EXPECT_EQ(back.verify, VerifyMode::full);
  EXPECT_EQ(back.input, InputKind::outliers);
  EXPECT_EQ(back.kernels_dir, given.kernels_dir);
}

TEST(BackendJson, InformationRoundTrips) {
  BackendInfo given;
  given.device.title = "a title";
  given.device.hbm_gbps = 4.8e3;
  given.device.l2_curve = {{24, 0.25}};
  given.free_bytes = 1ll << 40;
  given.comparable = {"driver"};
  const BackendInfo back = info_from_json(nlohmann::json::parse(to_json(given).dump()));
  EXPECT_EQ(to_json(back), to_json(given));
  EXPECT_EQ(back.device.hbm_gbps, 4.8e3);
  EXPECT_EQ(back.comparable, given.comparable);
}

TEST(BackendJson, RefusesAnUnknownColumnAndAMissingField) {
  EXPECT_THROW(cells_from_json({{"no_such_column", "1"}}), UsageError);
  EXPECT_THROW(options_from_json(nlohmann::json::object()), UsageError);
}

}  // namespace
}  // namespace attnprof
