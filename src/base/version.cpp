#include "base/version.hpp"

namespace attnprof {

std::string_view tool_version() { return ATTNPROF_VERSION; }
std::string_view tool_commit() { return ATTNPROF_COMMIT; }

}  // namespace attnprof
