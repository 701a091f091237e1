// What clock_span.cuh leaves for the host; plain C++ for both.
#pragma once

struct ClockReading {
  long long cycles;
  unsigned long long nanoseconds;
};
