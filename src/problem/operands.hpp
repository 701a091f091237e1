// The tensors of a problem, derived once: verification, poisoning, memory checks and the lower bound all use
// them.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "attention_params.h"
#include "base/saturating.hpp"
#include "problem/element_type.hpp"
#include "problem/problem.hpp"

namespace attnprof {

enum class Role {
  input,    // made before anything runs
  derived,  // read like an input, made by steps of the variant that are not timed (a backward pass's O, LSE)
  output,   // what is verified
  saved,    // written for a later pass, not verified
  workspace,  // the variant's own
};
enum class Init {
  random,  // fresh values from the sweep's seed (problem/inputs.hpp)
  scale,   // an fp8 head's, from the seed too
  pages,   // the numbers of a block table (problem/kv_view.hpp)
  poison,  // NaN bit patterns: an element that is never written shows
  zero,
};

// One tensor, dense and row-major: [batch, heads, rows, row_pitch], of which `cols` elements of a row are
// used.
struct Operand {
  std::string name;  // the paper's: Q, K, V, O, S, P, m, l
  Role role;
  Init init;
  ElementType dtype;
  int64_t batch;
  int64_t heads;
  int64_t rows;
  int64_t cols;
  int64_t row_pitch;             // elements from one row to the next, >= cols
  OperandId id = operand_ids;    // of a workspace: given by its place in the variant's list
  int64_t unused = 0;            // of its elements: what nobody need read, as tails of pages
  bool is_score_matrix = false;  // a workspace like S and P: its traffic is model_intermediate_bytes

  int64_t slices() const { return saturating_product({batch, heads}); }
  // Saturated (base/saturating.hpp), like all sums of bytes here.
  int64_t elements() const { return saturating_product({batch, heads, rows, row_pitch}); }
  int64_t bytes() const { return saturating_product({elements(), bytes_per_element(dtype)}); }
};

constexpr OperandId workspace_id(int index) { return static_cast<OperandId>(operand_workspace + index); }

// Operands in an order, each id once.
class OperandList {
 public:
  OperandList() { places_.fill(absent); }
  OperandList(std::initializer_list<Operand> operands);

  void add(Operand operand);  // throws std::logic_error for an id that is none, or is there already
  // With the next workspace's id; throws std::length_error where there are attention_max_workspaces already.
  void add_workspace(Operand operand);

  bool has(OperandId id) const { return places_.at(static_cast<size_t>(id)) != absent; }
  const Operand& operator[](OperandId id) const { return all_[place(id)]; }
  // Its position in the order; throws std::out_of_range where it is not in the list.
  size_t place(OperandId id) const;

  size_t size() const { return all_.size(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  static constexpr int8_t absent = -1;
  std::vector<Operand> all_;
  std::array<int8_t, operand_ids> places_;
  int workspaces_ = 0;
};

// All tensors that the problem's pass names (problem/passes.hpp).
OperandList operands(const Problem& problem);

// Bytes any implementation must move: each input read once, each output written once.
int64_t io_lower_bound_bytes(const Problem& problem);

int64_t total_bytes(const OperandList& operands);
int64_t workspace_bytes(const OperandList& operands);

// Of query slice `q_slice` (batch * heads + head): the kv head that it reads, and the slice of dense K and V.
inline int64_t kv_head(const Problem& p, int64_t q_slice) { return q_slice % p.heads / p.group(); }
inline int64_t kv_slice(const Problem& p, int64_t q_slice) {
  return q_slice / p.heads * p.kv_heads + kv_head(p, q_slice);
}

}  // namespace attnprof
