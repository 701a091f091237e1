#include "gate/pr/inside.hpp"

namespace attnprof {
namespace fs = std::filesystem;

std::optional<fs::path> path_inside(const fs::path& top, const fs::path& path) {
  const fs::path whole = path.lexically_normal();
  std::error_code error;
  for (fs::path folder = whole, rest;;) {
    if (folder == top || fs::equivalent(folder, top, error)) return rest.empty() ? fs::path(".") : rest;
    if (folder == folder.parent_path()) return std::nullopt;
    const fs::path name = folder.filename();
    if (!name.empty()) rest = rest.empty() ? name : name / rest;
    folder = folder.parent_path();
  }
}

}  // namespace attnprof
