// What a program without the gpu backend says of commands that need one.
#pragma once

namespace attnprof {

inline constexpr const char* built_without_gpu =
    "this attnprof was built without CUDA headers: sim only; build it where a CUDA Toolkit or NVIDIA's "
    "Python wheels are installed to measure on a GPU";

}  // namespace attnprof
