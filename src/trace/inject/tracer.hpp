// What happens around each launch of the traced program.
#pragma once

#include <cuda.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "measure/gpu/count_turns.hpp"
#include "trace/functions.hpp"
#include "trace/inject/launch_counter.hpp"
#include "trace/inject/trace_output.hpp"

namespace attnprof {

struct TraceSettings {
  std::string folder, kernel, range;
  int limit = 0;  // counted launches of a kernel and configuration; 0: all
};

// A launch as its callback sees it.
struct Launch {
  CUcontext context = nullptr;
  const void* handle = nullptr;  // CUfunction (or CUkernel), or CUgraphExec
  LaunchShape shape;             // as far as the call says
};

// Nothing throws: a failure ends the tracing, not the program, and is written down.
class Tracer {
 public:
  explicit Tracer(const TraceSettings& settings);

  // Asked of every launch, before anything else of it is looked at: the function where it is to be counted,
  // as far as its name says, else null.
  TracedFunction* wanted(const void* handle, const char* symbol);
  void before(const Launch& launch, TracedFunction& function);
  static bool counting();     // this thread is between `before` and `after` of a launch that is counted
  void after(bool launched);  // on the thread of `before`, where counting() says so
  void graph_instantiated(CUgraphExec graph_exec, CUgraph graph);
  void capture_began() { ++captures_; }
  void capture_ended() { captures_ -= captures_ > 0; }
  void module_unloaded() { functions_.forget(); }
  void graph_destroyed(CUgraphExec graph_exec) { functions_.forget_graph(graph_exec); }
  // It is about to be; its address may be given out anew.
  void context_destroyed(CUcontext context);
  void fail(const std::string& sentence);  // nothing is counted from now on
  void finish();                           // the process ends

 private:
  // A kernel in one configuration and range.
  struct Work {
    LaunchRecord record;
    CountTurns turns;
    int counted = 0;
  };
  // Passes of one count may be spread over launches: others of the context are then left alone for a while.
  struct Session {
    std::unique_ptr<LaunchCounter> counter;
    Work* waiting = nullptr;
    size_t waiting_set = 0;
    int passed_by = 0;
  };
  struct Running {
    Session* session = nullptr;
    Work* work = nullptr;
    size_t set = 0;
  };

  void drop_lost_sessions();
  void start(const Launch& launch, const TracedFunction& function);
  void stop(bool launched);
  Session& session_of(CUcontext context);
  Work& work_of(const Launch& launch, const TracedFunction& function, int device);
  bool may_count(Session& session, const Work& work) const;

  TraceSettings settings_;
  Pattern range_;
  TraceOutput output_;
  FunctionTable functions_;
  pid_t pid_;
  std::atomic<bool> failed_ = false, finished_ = false;
  std::atomic<int> captures_ = 0;
  std::mutex counting_;                // one launch of the process is counted at a time
  std::unique_lock<std::mutex> lock_;  // while one is
  std::map<CUcontext, Session> sessions_;
  std::mutex losing_;
  std::vector<CUcontext> lost_;  // destroyed while another thread was counting
  std::map<std::string, Work> works_;
  Running running_;
};

}  // namespace attnprof
