// cuDNN's fused attention (cudnn-frontend's SDPA node) as a plug-in: the vendor's variant `cudnn`. cuDNN and
// the CUDA runtime are opened at run time, by their names or where the build found cuDNN's headers.
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/trusted_path.hpp"
#include "plugin/attnprof_plugin.h"

// After the system's headers: the frontend's own uses dlopen.
#include <cudnn_frontend.h>

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;
}

namespace {

namespace fe = cudnn_frontend;

enum Tensor : int64_t { tensor_q = 1, tensor_k, tensor_v, tensor_o };

struct Failure {
  std::string why;
};

void require(fe::error_t status) {
  if (status.is_bad()) throw Failure{status.get_message()};
}

// By its name, as the loader finds it, or by a path, where nobody else could have put it.
void* open_library(const std::string& name) {
  if (name.find('/') != std::string::npos)
    if (const std::string refusal = attnprof::examine_trust(name).refusal; !refusal.empty())
      throw Failure{name + " is not used: " + refusal};
  return dlopen(name.c_str(), RTLD_NOW);
}

// The runtime of the headers that this was built with: a process may find another first.
void choose_runtime() {
  const std::string name = "libcudart.so." + std::to_string(CUDART_VERSION / 1000);
  for (const std::string& each : {name, "/usr/local/cuda/lib64/" + name})
    if (open_library(each)) {
      setenv("CUDNN_FRONTEND_CUDART_LIB_NAME", each.c_str(), 0);
      return;
    }
}

void open_cudnn() {
  if (fe::cudnn_dlhandle) return;
  choose_runtime();
  for (const char* name : {"libcudnn.so.9", ATTNPROF_CUDNN_LIBRARY})
    if ((fe::cudnn_dlhandle = open_library(name))) return;
  throw Failure{"libcudnn.so.9 cannot be opened; install cuDNN 9 or put its folder into LD_LIBRARY_PATH"};
}

// One of a process; it is never destroyed, since the device may be gone by then.
cudnnHandle_t handle() {
  static cudnnHandle_t the_one = nullptr;
  if (the_one) return the_one;
  open_cudnn();
  const cudnnStatus_t status = fe::detail::create_handle(&the_one);
  if (status == CUDNN_STATUS_SUCCESS) return the_one;
  the_one = nullptr;
  throw Failure{"cuDNN finds no GPU that it can use (cudnnCreate returned " + std::to_string(int(status)) +
                ")"};
}

struct Plan {
  fe::graph::Graph graph;
  int64_t workspace_bytes = 0;
};

fe::graph::Tensor_attributes tensor(const char* name, Tensor uid, int64_t batch, int64_t heads, int64_t rows,
                                    int64_t cols) {
  return fe::graph::Tensor_attributes()
      .set_name(name)
      .set_uid(uid)
      .set_dim({batch, heads, rows, cols})
      .set_stride({heads * rows * cols, rows * cols, cols, 1});
}

fe::graph::SDPA_attributes attention(const attnprof_problem& p) {
  auto options = fe::graph::SDPA_attributes()
                     .set_name("attention")
                     .set_generate_stats(false)
                     .set_attn_scale(1.0f / std::sqrt(static_cast<float>(p.head_dim)));
  if (p.mask == ATTNPROF_CAUSAL)
    options
        .set_diagonal_alignment(p.q_len == p.kv_len ? fe::DiagonalAlignment_t::TOP_LEFT
                                                    : fe::DiagonalAlignment_t::BOTTOM_RIGHT)
        .set_diagonal_band_right_bound(0);
  return options;
}

std::shared_ptr<Plan> make_plan(const attnprof_problem& p) {
  const cudnnHandle_t cudnn =
      handle();  // before anything else: the frontend asks the library for its version
  auto plan = std::make_shared<Plan>();
  fe::graph::Graph& graph = plan->graph;
  graph.set_io_data_type(p.dtype == ATTNPROF_FP16 ? fe::DataType_t::HALF : fe::DataType_t::BFLOAT16)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  const auto q = graph.tensor(tensor("Q", tensor_q, p.batch, p.heads, p.q_len, p.head_dim));
  const auto k = graph.tensor(tensor("K", tensor_k, p.batch, p.kv_heads, p.kv_len, p.head_dim));
  const auto v = graph.tensor(tensor("V", tensor_v, p.batch, p.kv_heads, p.kv_len, p.head_dim));
  const auto o = graph.sdpa(q, k, v, attention(p))[0];
  o->set_output(true).set_uid(tensor_o).set_dim({p.batch, p.heads, p.q_len, p.head_dim});
  o->set_stride({p.heads * p.q_len * p.head_dim, p.q_len * p.head_dim, p.head_dim, 1});
  require(graph.build(cudnn, {fe::HeurMode_t::A}));
  require(graph.get_workspace_size(plan->workspace_bytes));
  return plan;
}

// supports, workspace and prepare ask for the same problem one after another.
std::shared_ptr<Plan> plan_of(const attnprof_problem& p) {
  static attnprof_problem last_problem;
  static std::shared_ptr<Plan> last;
  if (last && std::memcmp(&last_problem, &p, sizeof p) == 0) return last;
  last.reset();
  last = make_plan(p);
  last_problem = p;
  return last;
}

// Runs `work`; its failure becomes the message.
template <class Work>
int guarded(char* message, Work work) {
  try {
    work();
    return 0;
  } catch (const Failure& failure) {
    std::snprintf(message, ATTNPROF_MESSAGE_SIZE, "%s", failure.why.c_str());
  } catch (const std::exception& error) {
    std::snprintf(message, ATTNPROF_MESSAGE_SIZE, "%s", error.what());
  }
  return 1;
}

int describe(attnprof_description* description, char*) {
  description->name = "cudnn";
  description->idea = "cuDNN's fused attention, by the plan that its heuristics choose";
  description->takes = "fp16, bf16; what cuDNN takes on the device";
  return 0;
}

int supports(const attnprof_problem* p, const attnprof_device*, char* message) {
  return guarded(message, [&] {
    if (p->dtype != ATTNPROF_FP16 && p->dtype != ATTNPROF_BF16) throw Failure{"it takes fp16 and bf16"};
    plan_of(*p);
  });
}

int workspace(const attnprof_problem* p, int64_t* bytes, char* message) {
  return guarded(message, [&] { *bytes = plan_of(*p)->workspace_bytes; });
}

int prepare(const attnprof_problem* p, const attnprof_device*, void** state, char* message) {
  return guarded(message, [&] { *state = new std::shared_ptr<Plan>(plan_of(*p)); });
}

int launch(void* state, const attnprof_params* p, void* stream, char* message) {
  return guarded(message, [&] {
    std::unordered_map<int64_t, void*> tensors = {{tensor_q, const_cast<void*>(p->q)},
                                                  {tensor_k, const_cast<void*>(p->k)},
                                                  {tensor_v, const_cast<void*>(p->v)},
                                                  {tensor_o, p->o}};
    if (fe::detail::set_stream(handle(), static_cast<cudaStream_t>(stream)) != CUDNN_STATUS_SUCCESS)
      throw Failure{"cudnnSetStream failed"};
    require((*static_cast<std::shared_ptr<Plan>*>(state))->graph.execute(handle(), tensors, p->workspace));
  });
}

void release(void* state) { delete static_cast<std::shared_ptr<Plan>*>(state); }

const attnprof_plugin_api api = {
    ATTNPROF_PLUGIN_ABI, describe, supports, workspace, prepare, launch, nullptr, release};

}  // namespace

const attnprof_plugin_api* attnprof_plugin(void) { return &api; }
