#include "files/read_meta.hpp"

#include <filesystem>

#include "base/csv.hpp"
#include "files/meta.hpp"

namespace attnprof {

std::optional<std::string> meta_beside(const std::string& csv_path) {
  std::error_code error;
  if (!std::filesystem::exists(meta_path(csv_path), error)) return std::nullopt;
  return read_text_file(meta_path(csv_path));
}

}  // namespace attnprof
