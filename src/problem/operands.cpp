#include "problem/operands.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "problem/equal_parts.hpp"
#include "problem/passes.hpp"

namespace attnprof {

OperandList::OperandList(std::initializer_list<Operand> operands) : OperandList() {
  for (const Operand& operand : operands) add(operand);
}

void OperandList::add(Operand operand) {
  if (operand.id < 0 || operand.id >= operand_ids || has(operand.id))
    throw std::logic_error(fmt::format("operand {} has id {}, which is none or is taken", operand.name,
                                       static_cast<int>(operand.id)));
  places_[static_cast<size_t>(operand.id)] = static_cast<int8_t>(all_.size());
  all_.push_back(std::move(operand));
}

void OperandList::add_workspace(Operand operand) {
  if (workspaces_ == attention_max_workspaces)
    throw std::length_error(fmt::format("{} is one workspace more than the {} that a variant can have",
                                        operand.name, attention_max_workspaces));
  operand.id = workspace_id(workspaces_++);
  add(std::move(operand));
}

size_t OperandList::place(OperandId id) const {
  const int8_t place = places_.at(static_cast<size_t>(id));
  if (place == absent)
    throw std::out_of_range(fmt::format("no operand here has id {}", static_cast<int>(id)));
  return static_cast<size_t>(place);
}

OperandList operands(const Problem& problem) { return pass_spec(problem.pass).operands(problem); }

int64_t io_lower_bound_bytes(const Problem& problem) {
  int64_t bytes = 0;
  for (const Problem& part : equal_parts(problem))
    for (const Operand& operand : operands(part))
      bytes = saturating_sum(bytes, operand.bytes() - operand.unused * bytes_per_element(operand.dtype));
  return bytes;
}

int64_t total_bytes(const OperandList& operands) {
  int64_t bytes = 0;
  for (const Operand& operand : operands) bytes = saturating_sum(bytes, operand.bytes());
  return bytes;
}

int64_t workspace_bytes(const OperandList& operands) {
  int64_t bytes = 0;
  for (const Operand& operand : operands)
    if (operand.role == Role::workspace) bytes = saturating_sum(bytes, operand.bytes());
  return bytes;
}

}  // namespace attnprof
