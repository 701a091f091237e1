// Paths of a folder, by whatever name they are given.
#pragma once

#include <filesystem>
#include <optional>

namespace attnprof {

// `path`, absolute, from `top`, a canonical folder that it is or lies in; nothing where it lies elsewhere.
// Links above `top` are followed, those below it are the repository's own and stay.
std::optional<std::filesystem::path> path_inside(const std::filesystem::path& top,
                                                 const std::filesystem::path& path);

}  // namespace attnprof
