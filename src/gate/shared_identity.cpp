#include "gate/shared_identity.hpp"

namespace attnprof {
namespace {

// Where the cell that begins at `begin` ends: at the next comma that is not between quotes.
size_t end_of_cell(std::string_view key, size_t begin) {
  bool quoted = false;
  for (size_t at = begin; at < key.size(); ++at) {
    if (key[at] == '"') quoted = !quoted;
    if (key[at] == ',' && !quoted) return at;
  }
  return key.size();
}

}  // namespace

void split_key(std::string_view key, std::vector<std::string_view>& cells) {
  cells.clear();
  for (size_t begin = 0;;) {
    const size_t end = end_of_cell(key, begin);
    cells.push_back(key.substr(begin, end - begin));
    if (end >= key.size()) return;
    begin = end + 1;
  }
}

void SharedIdentity::add(std::string_view key) {
  if (first_.empty()) return split_key(key, first_);
  split_key(key, cells_);
  for (size_t i = 0; i < shared_.size(); ++i)
    if (shared_[i] && cells_[i] != first_[i]) shared_[i] = false;
}

std::vector<bool> SharedIdentity::others() const {
  std::vector<bool> columns = shared_;
  columns.flip();
  return columns;
}

std::vector<bool> SharedIdentity::beyond(const SharedIdentity& wider) const {
  std::vector<bool> columns = shared_;
  for (size_t i = 0; i < columns.size(); ++i) columns[i] = columns[i] && !wider.shared_[i];
  return columns;
}

bool SharedIdentity::matches(const std::vector<std::string_view>& cells,
                             const std::vector<bool>& columns) const {
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i] && cells[i] != first_[i]) return false;
  return true;
}

}  // namespace attnprof
