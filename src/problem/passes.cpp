#include "problem/passes.hpp"

#include <algorithm>
#include <stdexcept>

namespace attnprof {

// In the order of `Pass`.
const PassSpec& forward_pass();
const PassSpec& backward_pass();

namespace {

constexpr size_t most_passes = 16;  // so that the lists never move

struct PassList {
  std::vector<PassSpec> specs;
  std::vector<std::string_view> names;

  PassList() {
    specs.reserve(most_passes), names.reserve(most_passes);
    for (const PassSpec& spec : {forward_pass(), backward_pass()}) add(spec);
  }
  void add(const PassSpec& spec) {
    if (specs.size() == most_passes) throw std::length_error("too many passes");
    specs.push_back(spec);
    names.push_back(spec.name);
  }
};

PassList& pass_list() {
  static PassList the_list;
  return the_list;
}

}  // namespace

std::span<const PassSpec> passes() { return pass_list().specs; }

const PassSpec& pass_spec(Pass pass) { return pass_list().specs.at(static_cast<size_t>(pass)); }

std::span<const std::string_view> pass_names() { return pass_list().names; }

std::string_view to_string(Pass pass) { return pass_spec(pass).name; }

std::optional<Pass> parse_pass(std::string_view text) {
  const auto found = std::ranges::find(pass_list().names, text);
  if (found == pass_list().names.end()) return std::nullopt;
  return static_cast<Pass>(found - pass_list().names.begin());
}

std::unique_ptr<Reference> make_reference(const Problem& problem, const OperandValues& values) {
  return pass_spec(problem.pass).reference(problem, values);
}

FurtherPass::FurtherPass(const PassSpec& spec) : pass_(static_cast<Pass>(pass_list().specs.size())) {
  pass_list().add(spec);
}

FurtherPass::~FurtherPass() {
  pass_list().specs.pop_back();
  pass_list().names.pop_back();
}

}  // namespace attnprof
