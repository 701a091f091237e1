// Names of a run and of its environment.
#pragma once

#include <string>

#include "measure/backend.hpp"

namespace attnprof {

// Hash of everything that must agree for two rows to be comparable: schema, backend, device and the
// comparable facts of the environment. The order in which a backend lists its facts does not matter.
std::string env_id(const BackendInfo& info);

// "2026-03-01T12:00:00Z".
std::string utc_now();

// "20260301T120000Z-1a2b3c4d": UTC start time and a hash that keeps runs of one second apart.
std::string new_run_id();

}  // namespace attnprof
