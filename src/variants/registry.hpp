// The list of variants: those built in (one line each in registry.cpp), and those loaded at run time.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "schedule/variant.hpp"

namespace attnprof {

// Every variant, in the order tables show them: those built in, then those loaded.
std::span<const Variant* const> all_variants();
const Variant* find_variant(std::string_view name);  // null if there is none
std::span<const Variant* const> built_in_variants();

// Takes the place of all that were loaded before; those stay where they are, since cases may point to them.
// Throws UsageError naming the origins when a name is taken twice.
void set_loaded_variants(std::vector<Variant> variants);

// A variant that is in the list, after all others, while this lives: for tests. Not while other threads read
// the list.
class FurtherVariant {
 public:
  explicit FurtherVariant(Variant variant);
  ~FurtherVariant();
  FurtherVariant(const FurtherVariant&) = delete;
  FurtherVariant& operator=(const FurtherVariant&) = delete;

 private:
  Variant variant_;
};

}  // namespace attnprof
