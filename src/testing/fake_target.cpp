// A program to trace: does what its arguments say, in their order.
//   many:KERNEL:COUNT (launches of one block)   threads:KERNEL:COUNT (the same from each of 4 threads)
//   contexts:KERNEL:COUNT (2 threads, each with a context that it destroys COUNT times after 3 launches)
//   destroy (the context)
//   launch:KERNEL:BLOCKS   launch-ex:KERNEL:BLOCKS (with a cluster of 2)   graph:KERNEL,KERNEL (its launch)
//   push:RANGE   pop   capture   end-capture   print:TEXT   child (a process that does the rest)   fork (the
//   same, of a process that is forked off only)   exit:CODE   kill:SIGNAL   wait (for a signal)
#include <cuda.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <set>
#include <string>
#include <thread>
#include <vector>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define ATTNPROF_HAS_NVTX 1
#endif

namespace {

template <class Function>
Function* find(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* const found = library ? dlsym(library, name) : nullptr;
  if (!found) {
    std::fprintf(stderr, "fake target: %s\n", dlerror());
    std::exit(99);
  }
  return reinterpret_cast<Function*>(found);
}

void check(CUresult result) {
  if (result != CUDA_SUCCESS) std::printf("launch failed with %d\n", static_cast<int>(result));
}

// A name lives as long as the program: it is its own handle.
void* handle(const std::string& name) {
  static auto* const names = new std::set<std::string>;
  return const_cast<char*>(names->insert(name).first->c_str());
}

void launch(const std::string& kernel, unsigned blocks) {
  check(find<decltype(cuLaunchKernel)>("cuLaunchKernel")(static_cast<CUfunction>(handle(kernel)), blocks, 1,
                                                         1, 128, 1, 1, 2048, nullptr, nullptr, nullptr));
}

void launch_many(const std::string& kernel, unsigned count) {
  const auto function = static_cast<CUfunction>(handle(kernel));
  auto* const call = find<decltype(cuLaunchKernel)>("cuLaunchKernel");
  for (unsigned i = 0; i < count; ++i)
    check(call(function, 1, 1, 1, 128, 1, 1, 0, nullptr, nullptr, nullptr));
}

void launch_from_threads(const std::string& kernel, unsigned count) {
  handle(kernel);
  find<decltype(cuLaunchKernel)>("cuLaunchKernel");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(launch_many, kernel, count);
  for (std::thread& thread : threads) thread.join();
}

void destroy_context(CUcontext context) { check(find<CUresult(CUcontext)>("cuCtxDestroy_v2")(context)); }

void launch_on_contexts(const std::string& kernel, unsigned count) {
  static int addresses[2];
  handle(kernel);
  std::vector<std::thread> threads;
  for (int& address : addresses)
    threads.emplace_back([&kernel, count, context = reinterpret_cast<CUcontext>(&address)] {
      check(find<CUresult(CUcontext)>("cuCtxSetCurrent")(context));
      for (unsigned i = 0; i < count; ++i) {
        launch_many(kernel, 3);
        destroy_context(context);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

void launch_ex(const std::string& kernel, unsigned blocks) {
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = blocks;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 256;
  config.attrs = &cluster;
  config.numAttrs = 1;
  check(find<decltype(cuLaunchKernelEx)>("cuLaunchKernelEx")(&config, static_cast<CUfunction>(handle(kernel)),
                                                             nullptr, nullptr));
}

void launch_graph(const std::string& list) {
  static auto* const graphs = new std::list<std::vector<void*>>;
  std::vector<void*>* const nodes = &graphs->emplace_back();  // the graph
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    nodes->push_back(handle(list.substr(begin, end - begin)));
    begin = end + 1;
  }
  nodes->push_back(nullptr);
  CUgraphExec graph_exec = nullptr;
  check(find<CUresult(CUgraphExec*, CUgraph, unsigned long long)>("cuGraphInstantiateWithFlags")(
      &graph_exec, reinterpret_cast<CUgraph>(nodes->data()), 0));
  check(find<CUresult(CUgraphExec, CUstream)>("cuGraphLaunch")(graph_exec, nullptr));
}

void end_with(int status) { std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98); }

void child(char** rest) {
  const pid_t pid = fork();
  if (pid == 0) {
    *--rest = const_cast<char*>("fake_target");
    execv("/proc/self/exe", rest);
    _exit(97);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  end_with(status);
}

void forked() {
  const pid_t pid = fork();
  if (pid == 0) return;
  int status = 0;
  waitpid(pid, &status, 0);
  end_with(status);
}

void push([[maybe_unused]] const std::string& name) {
#ifdef ATTNPROF_HAS_NVTX
  nvtxRangePushA(name.c_str());
#endif
}

void pop() {
#ifdef ATTNPROF_HAS_NVTX
  nvtxRangePop();
#endif
}

void wait_for_signal() {
  signal(SIGINT, [](int) { _exit(41); });
  signal(SIGTERM, [](int) { _exit(42); });
  std::printf("waiting\n");
  std::fflush(stdout);
  while (true) pause();
}

void act(const std::string& what, const std::string& kernel, unsigned count, char** rest) {
  if (what == "init") check(find<CUresult(unsigned)>("cuInit")(0));
  if (what == "launch") launch(kernel, count);
  if (what == "many") launch_many(kernel, count);
  if (what == "threads") launch_from_threads(kernel, count);
  if (what == "contexts") launch_on_contexts(kernel, count);
  if (what == "destroy") destroy_context(nullptr);
  if (what == "launch-ex") launch_ex(kernel, count);
  if (what == "graph") launch_graph(kernel);
  if (what == "push") push(kernel);
  if (what == "pop") pop();
  if (what == "capture") check(find<CUresult(CUstream, int)>("cuStreamBeginCapture_v2")(nullptr, 0));
  if (what == "end-capture")
    check(find<CUresult(CUstream, CUgraph*)>("cuStreamEndCapture")(nullptr, nullptr));
  if (what == "print") std::printf("%s\n", kernel.c_str());
  if (what == "child") child(rest);
  if (what == "fork") forked();
  if (what == "exit") std::exit(std::atoi(kernel.c_str()));
  if (what == "kill") raise(std::atoi(kernel.c_str()));
  if (what == "wait") wait_for_signal();
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const size_t first = argument.find(':'), last = argument.rfind(':');
    const bool numbered = last != first;
    const std::string name =
        first == std::string::npos
            ? ""
            : argument.substr(first + 1, numbered ? last - first - 1 : std::string::npos);
    act(argument.substr(0, first), name, numbered ? std::stoul(argument.substr(last + 1)) : 1,
        arguments + i + 1);
  }
}
