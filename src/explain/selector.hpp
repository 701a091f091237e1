// Which rows a person means: COLUMN=VALUE pairs.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "row/schema.hpp"

namespace attnprof {

// Takes a row that has every value. "N" is both q_len and kv_len, "d" head_dim.
class Selector {
 public:
  // "variant=flash2,N=4k,mask=causal". Throws UsageError naming `option` and the pair for what is no column
  // of a row's identity, tile or run, or no value.
  static Selector parse(std::string_view option, std::string_view text);

  bool takes(const Row& row) const;

 private:
  std::vector<std::pair<const Column*, std::string>> wanted_;
};

}  // namespace attnprof
