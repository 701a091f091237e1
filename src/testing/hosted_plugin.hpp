// For tests: a plug-in that computes on the host (test_plugin.c), its tensors between guard bands as on a
// GPU.
#pragma once

#include <cstring>

#include "base/error.hpp"
#include "measure/guard_bands.hpp"
#include "plugin/plugin_library.hpp"
#include "problem/inputs.hpp"
#include "schedule/case.hpp"
#include "verify/compare.hpp"

namespace attnprof {

class HostedPlugin : public OperandValues {
 public:
  HostedPlugin(const Case& c, const PluginLibrary& library)
      : problem_(c.problem), operands_(c.operands), operation_(library.prepare(c.problem, {})) {
    for (const Operand& operand : operands_) {
      std::vector<uint8_t>& memory =
          memory_.emplace_back(static_cast<size_t>(operand.bytes() + 2 * guard_bytes), guard_byte);
      addresses_.push_back(memory.data() + guard_bytes);
      if (operand.role == Role::input) {
        const std::vector<float> values = input_elements(operand, {}, 0, operand.elements());
        std::memcpy(addresses_.back(), values.data(), values.size() * sizeof(float));
      }
    }
  }

  // fp32 alone. Throws CaseFailed for what the plug-in says or does wrong.
  Verification verify() const {
    operation_->launch(operands_, addresses_, nullptr);
    check_guards();
    return compare_on_host(problem_, *this, 1, true);
  }

  std::span<const float> rows(OperandId id, int64_t slice, int64_t row, int64_t rows) const override {
    const Operand& o = operands_[id];
    return {static_cast<const float*>(addresses_[operands_.place(id)]) + (slice * o.rows + row) * o.row_pitch,
            static_cast<size_t>(rows * o.row_pitch)};
  }

 private:
  void check_guards() const {
    constexpr auto guard = static_cast<size_t>(guard_bytes);
    for (const Operand& operand : operands_) {
      const std::span<const uint8_t> all(memory_[operands_.place(operand.id)]);
      const std::string sentence =
          guard_sentence(operand.name, operand.bytes(), overwritten_bytes(all.first(guard)),
                         overwritten_bytes(all.last(guard)));
      if (!sentence.empty()) throw CaseFailed(sentence);
    }
  }

  Problem problem_;
  OperandList operands_;
  std::unique_ptr<PluginOperation> operation_;
  std::vector<std::vector<uint8_t>> memory_;
  std::vector<void*> addresses_;
};

}  // namespace attnprof
