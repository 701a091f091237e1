// One thing `attnprof doctor` looked at.
#pragma once

#include <exception>
#include <string>

namespace attnprof {

struct Check {
  enum class State {
    ok,
    missing,  // something does not work without it; the text says what to do
    note,     // worth knowing
  };
  State state;
  std::string topic;  // "driver"
  std::string text;   // one sentence
};

// `look` returns what was found, or throws what is missing as a sentence.
template <class Look>
Check examine(const std::string& topic, Look look) {
  try {
    return {Check::State::ok, topic, look()};
  } catch (const std::exception& missing) {
    return {Check::State::missing, topic, missing.what()};
  }
}

}  // namespace attnprof
