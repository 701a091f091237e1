// Following symbolic links by hand.
#pragma once

namespace attnprof {

inline constexpr int most_links = 40;  // in one path, as many as the kernel follows

}  // namespace attnprof
