// For tests: a plug-in that computes on the host (test_plugin.c), its tensors between guard bands as on a
// GPU.
#pragma once

#include <cstring>

#include "base/error.hpp"
#include "measure/guard_bands.hpp"
#include "plugin/plugin_library.hpp"
#include "problem/inputs.hpp"
#include "schedule/case.hpp"
#include "schedule/tiling.hpp"
#include "verify/reference.hpp"

namespace attnprof {

class HostedPlugin {
 public:
  HostedPlugin(const Case& c, const PluginLibrary& library)
      : problem_(c.problem), operands_(c.operands), operation_(library.prepare(c.problem, {})) {
    for (size_t i = 0; i < operands_.size(); ++i) {
      memory_.emplace_back(static_cast<size_t>(operands_[i].bytes() + 2 * guard_bytes), guard_byte);
      addresses_.push_back(memory_[i].data() + guard_bytes);
      if (operands_[i].role == Role::input) {
        const std::vector<float> values = elements(static_cast<int>(i));
        std::memcpy(addresses_[i], values.data(), values.size() * sizeof(float));
      }
    }
  }

  // fp32 alone. Throws CaseFailed for what the plug-in says or does wrong.
  Verification verify() const {
    operation_->launch(operands_, addresses_, nullptr);
    check_guards();
    ErrorMeter meter(problem_.head_dim);
    const std::vector<float> q = elements(operand_q), k = elements(operand_k), v = elements(operand_v);
    const auto d = static_cast<size_t>(problem_.head_dim);
    for (const SampledRow& row : rows_to_verify(problem_, 1, true)) {
      const auto at = static_cast<size_t>(row.slice * problem_.q_len + row.row) * d;
      const auto keys = static_cast<size_t>(problem_.kv_len) * d;
      const auto kv = static_cast<size_t>(kv_slice(problem_, row.slice)) * keys;
      meter.add(reference_row(problem_, row.row, std::span(q).subspan(at, d), std::span(k).subspan(kv, keys),
                              std::span(v).subspan(kv, keys)),
                {static_cast<const float*>(addresses_[operand_o]) + at, d});
    }
    return meter.verdict(problem_.dtype);
  }

 private:
  std::vector<float> elements(int operand) const {
    const Operand& o = operands_[static_cast<size_t>(operand)];
    return input_elements(o, operand, {}, 0, o.elements());
  }

  void check_guards() const {
    constexpr auto guard = static_cast<size_t>(guard_bytes);
    for (size_t i = 0; i < operands_.size(); ++i) {
      const std::span<const uint8_t> all(memory_[i]);
      const std::string sentence =
          guard_sentence(operands_[i].name, operands_[i].bytes(), overwritten_bytes(all.first(guard)),
                         overwritten_bytes(all.last(guard)));
      if (!sentence.empty()) throw CaseFailed(sentence);
    }
  }

  Problem problem_;
  std::vector<Operand> operands_;
  std::unique_ptr<PluginOperation> operation_;
  std::vector<std::vector<uint8_t>> memory_;
  std::vector<void*> addresses_;
};

}  // namespace attnprof
