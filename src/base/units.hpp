// Numbers for people, to three significant digits, in decimal units (GB is 1e9 bytes).
#pragma once

#include <string>

namespace attnprof {

std::string human_bytes(double bytes);   // 134 MB
std::string human_time_ns(double ns);    // 12.3 us
std::string human_number(double value);  // 12.3, 1.23e+06
std::string human_flops(double flops);   // 8.59 GFLOP

}  // namespace attnprof
