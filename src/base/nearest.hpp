// What a name that there is none of may have been meant for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

// How many letters must be added, left out, changed or swapped with their neighbour to make `a` of `b`; small
// and capital letters are the same.
size_t edit_distance(std::string_view a, std::string_view b);

// Of `names` the nearest to `word`, several where they are equally near: at most a third of its letters away,
// or else those that begin with it. None for what is like none of them.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& names);

// "a, b or c". There is at least one.
std::string either(std::span<const std::string> names);

// The end of a sentence: "; did you mean flash1, flash2 or flash3?", or where none is near "; " and
// `otherwise`.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names,
                         std::string_view otherwise = {});

}  // namespace attnprof
