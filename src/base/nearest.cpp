#include "base/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace attnprof {
namespace {

constexpr size_t longest_compared = 64;  // what is longer is no slip of the fingers
constexpr size_t most_names = 4;         // that a person looks through

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool begins_with(std::string_view name, std::string_view word) {
  return name.size() >= word.size() &&
         std::ranges::equal(name.substr(0, word.size()), word, {}, small, small);
}

}  // namespace

std::string either(std::span<const std::string> names) {
  const std::string last = names.back();
  names = names.first(names.size() - 1);
  return names.empty() ? last : fmt::format("{} or {}", fmt::join(names, ", "), last);
}

size_t edit_distance(std::string_view a, std::string_view b) {
  // The last three rows of the table of distances between beginnings of `a` and of `b`.
  std::array<std::vector<size_t>, 3> rows;
  for (auto& row : rows) row.resize(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    const auto &above = rows[(i - 1) % 3], &above_that = rows[(i + 1) % 3];
    auto& row = rows[i % 3];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = small(a[i - 1]) == small(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && small(a[i - 1]) == small(b[j - 2]) && small(a[i - 2]) == small(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], above_that[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& names) {
  std::vector<std::string> found;
  if (word.empty() || word.size() > longest_compared) return found;
  size_t least = std::max<size_t>(1, word.size() / 3);
  for (const std::string& name : names) {
    const size_t distance = edit_distance(word, name);
    if (distance > least || distance >= std::max(word.size(), name.size())) continue;
    if (distance < least) found.clear();
    least = distance;
    found.push_back(name);
  }
  if (found.empty())
    std::ranges::copy_if(names, std::back_inserter(found),
                         [&](const std::string& name) { return begins_with(name, word); });
  if (found.size() > most_names) found.clear();
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names,
                         std::string_view otherwise) {
  const std::vector<std::string> meant = nearest(word, names);
  if (!meant.empty()) return fmt::format("; did you mean {}?", either(meant));
  return otherwise.empty() ? "" : fmt::format("; {}", otherwise);
}

}  // namespace attnprof
