#include "plugin/plugin_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace attnprof {
namespace {

constexpr int64_t most_workspace_bytes = int64_t{1} << 50;

// One line, whatever a plug-in says.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return text;
}

// What a plug-in may have written; all zeros before, and with a 0 at the end whatever it does.
struct Message {
  std::array<char, ATTNPROF_MESSAGE_SIZE> bytes{};

  std::string text() {
    bytes.back() = 0;
    return one_line(bytes.data());
  }
};

// What a plug-in's function returns; one that throws has failed, and said why.
template <class Call>
int returned(Message& message, Call call) {
  const auto say = [&](const char* why) {
    fmt::format_to_n(message.bytes.data(), message.bytes.size() - 1, "it threw an exception: {}", why);
    return -1;
  };
  try {
    return call(message.bytes.data());
  } catch (const std::exception& error) {
    return say(error.what());
  } catch (...) {
    return say("of no kind that says why");
  }
}

attnprof_problem problem_of(const Problem& p) {
  return {.dtype = static_cast<int32_t>(p.dtype),
          .mask = p.mask == Mask::causal ? ATTNPROF_CAUSAL : ATTNPROF_FULL,
          .batch = p.batch,
          .heads = p.heads,
          .kv_heads = p.kv_heads,
          .q_len = p.q_len,
          .kv_len = p.kv_len,
          .head_dim = p.head_dim};
}
static_assert(static_cast<int>(Dtype::fp32) == ATTNPROF_FP32 &&
              static_cast<int>(Dtype::fp16) == ATTNPROF_FP16 &&
              static_cast<int>(Dtype::bf16) == ATTNPROF_BF16 && static_cast<int>(Dtype::fp8) == ATTNPROF_FP8);

attnprof_device device_of(const DeviceProfile& device) {
  return {.name = device.name.c_str(),
          .arch = device.arch.c_str(),
          .sms = device.sms,
          .smem_per_block_bytes = device.smem_per_block_bytes,
          .memory_bytes = device.hbm_bytes};
}

attnprof_strides strides_of(const Operand& o) {
  return {.batch = o.heads * o.rows * o.row_pitch, .head = o.rows * o.row_pitch, .row = o.row_pitch};
}

std::string failure(const std::string& path, const char* function, int code, Message& message) {
  const std::string said = message.text();
  return said.empty() ? fmt::format("plug-in {}: {} returned {} and no message", path, function, code)
                      : fmt::format("plug-in {}: {} says: {}", path, function, said);
}

const attnprof_plugin_api* load(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* const why = dlerror();
    throw UsageError(
        fmt::format("plug-in {} cannot be loaded: {}; build it as a shared library for this machine", path,
                    why ? why : "no reason is given"));
  }
  using Entry = const attnprof_plugin_api* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, "attnprof_plugin"));
  if (!entry)
    throw UsageError(fmt::format(
        "plug-in {} has no function attnprof_plugin(); export it, as attnprof_plugin.h says", path));
  const attnprof_plugin_api* const api = entry();
  if (!api)
    throw UsageError(fmt::format("plug-in {}: attnprof_plugin() returns null; return its functions", path));
  if (api->abi != ATTNPROF_PLUGIN_ABI)
    throw UsageError(fmt::format(
        "plug-in {} is built for version {} of attnprof_plugin.h, this attnprof takes version {}; "
        "build it against this attnprof's header",
        path, api->abi, ATTNPROF_PLUGIN_ABI));
  return api;
}

void require_functions(const std::string& path, const attnprof_plugin_api& api) {
  const std::pair<const char*, bool> required[] = {{"describe", api.describe != nullptr},
                                                   {"supports", api.supports != nullptr},
                                                   {"workspace", api.workspace != nullptr},
                                                   {"prepare", api.prepare != nullptr},
                                                   {"launch", api.launch != nullptr}};
  for (const auto& [name, present] : required)
    if (!present)
      throw UsageError(
          fmt::format("plug-in {} has no function {}; only model and release may be null", path, name));
}

std::string text_or(const char* text, const char* otherwise) { return one_line(text ? text : otherwise); }

std::optional<int64_t> stated(int64_t value) { return value < 0 ? std::nullopt : std::optional(value); }

}  // namespace

PluginLibrary::PluginLibrary(const std::string& path) : path_(path), api_(load(path)) {
  require_functions(path_, *api_);
}

PluginDescription PluginLibrary::describe() {
  attnprof_description description{};
  Message message;
  if (const int code = returned(message, [&](char* text) { return api_->describe(&description, text); });
      code != 0)
    throw UsageError(failure(path_, "describe", code, message));
  return {text_or(description.name, ""), text_or(description.idea, "a plug-in"),
          text_or(description.takes, "")};
}

PluginAnswer PluginLibrary::ask(const Problem& p, const DeviceProfile& d) {
  const attnprof_problem problem = problem_of(p);
  const attnprof_device device = device_of(d);
  PluginAnswer answer;
  Message message;
  if (const int code = returned(message, [&](char* text) { return api_->supports(&problem, &device, text); });
      code != 0) {
    answer.unsupported = failure(path_, "supports", code, message);
    return answer;
  }
  try {
    answer.workspace_bytes = workspace_bytes(p);
  } catch (const CaseFailed& failed) {
    answer.unsupported = failed.what();
  }
  attnprof_model model{-1, -1, -1, -1};
  if (answer.unsupported.empty() && api_->model &&
      returned(message, [&](char* text) { return api_->model(&problem, &device, &model, text); }) == 0)
    answer.model = {stated(model.sm_bytes), stated(model.intermediate_bytes), stated(model.hbm_bytes),
                    stated(model.tensor_flops)};
  return answer;
}

int64_t PluginLibrary::workspace_bytes(const Problem& p) {
  const attnprof_problem problem = problem_of(p);
  int64_t bytes = 0;
  Message message;
  if (const int code = returned(message, [&](char* text) { return api_->workspace(&problem, &bytes, text); });
      code != 0)
    throw CaseFailed(failure(path_, "workspace", code, message));
  if (bytes < 0 || bytes > most_workspace_bytes)
    throw CaseFailed(fmt::format("plug-in {}: workspace asks for {} bytes", path_, bytes));
  return bytes;
}

std::unique_ptr<PluginOperation> PluginLibrary::prepare(const Problem& problem,
                                                        const DeviceProfile& device) const {
  return std::make_unique<PluginOperation>(path_, *api_, problem, device);
}

PluginOperation::PluginOperation(const std::string& path, const attnprof_plugin_api& api,
                                 const Problem& problem, const DeviceProfile& profile)
    : path_(path), api_(api), problem_(problem_of(problem)) {
  const attnprof_device device = device_of(profile);
  Message message;
  if (const int code =
          returned(message, [&](char* text) { return api_.prepare(&problem_, &device, &state_, text); });
      code != 0)
    throw CaseFailed(failure(path_, "prepare", code, message));
}

PluginOperation::~PluginOperation() {
  if (api_.release) api_.release(state_);
}

void PluginOperation::launch(const OperandList& operands, std::span<void* const> addresses,
                             void* stream) const {
  const auto address = [&](OperandId id) {
    return operands.has(id) ? addresses[operands.place(id)] : nullptr;
  };
  const auto scale_of = [&](OperandId id) { return static_cast<const float*>(address(id)); };
  const bool has_workspace = operands.has(operand_workspace);
  const attnprof_params params{
      .problem = &problem_,
      .q = address(operand_q),
      .k = address(operand_k),
      .v = address(operand_v),
      .o = address(operand_o),
      .q_strides = strides_of(operands[operand_q]),
      .k_strides = strides_of(operands[operand_k]),
      .v_strides = strides_of(operands[operand_v]),
      .o_strides = strides_of(operands[operand_o]),
      .q_scale = scale_of(operand_q_scale),
      .k_scale = scale_of(operand_k_scale),
      .v_scale = scale_of(operand_v_scale),
      .workspace = address(operand_workspace),
      .workspace_bytes = has_workspace ? operands[operand_workspace].bytes() : 0,
      .scale = 1.0f / std::sqrt(static_cast<float>(problem_.head_dim)),
  };
  Message message;
  if (const int code =
          returned(message, [&](char* text) { return api_.launch(state_, &params, stream, text); });
      code != 0)
    throw CaseFailed(failure(path_, "launch", code, message));
}

}  // namespace attnprof
