// Which cells of a row's name are the same in all rows of a report, and which in some of them: what is said
// once, in a caption, need not be said in every line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gate/table.hpp"

namespace attnprof {

// The cells of a key as they stand in the record, with their quotes. `cells` is used again row after row.
void split_key(std::string_view key, std::vector<std::string_view>& cells);

class SharedIdentity {
 public:
  explicit SharedIdentity(size_t columns) : shared_(columns, true) {}

  void add(std::string_view key);

  const std::vector<bool>& columns() const { return shared_; }  // all where no row was added
  std::vector<bool> others() const;
  // Columns that are shared here and not by all of `wider`.
  std::vector<bool> beyond(const SharedIdentity& wider) const;
  // Whether the row of this key has what all rows so far share in these columns.
  bool matches(const std::vector<std::string_view>& cells, const std::vector<bool>& columns) const;

 private:
  std::vector<bool> shared_;
  std::vector<std::string_view> first_, cells_;
};

}  // namespace attnprof
