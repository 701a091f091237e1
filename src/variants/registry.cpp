#include "variants/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>

#include "base/error.hpp"

namespace attnprof {

extern const Variant naive_variant;
extern const Variant standard_variant;
extern const Variant flash1_variant;
extern const Variant flash2_variant;
extern const Variant flash3_variant;

std::span<const Variant* const> built_in_variants() {
  static constexpr std::array variants = {
      &naive_variant, &standard_variant, &flash1_variant, &flash2_variant, &flash3_variant,
  };
  return variants;
}

namespace {

struct Registry {
  std::vector<const Variant*> all{built_in_variants().begin(), built_in_variants().end()};
  std::deque<Variant> loaded;           // of all times
  std::vector<const Variant*> further;  // FurtherVariant's
};

Registry& registry() {
  static Registry the_one;
  return the_one;
}

}  // namespace

std::span<const Variant* const> all_variants() { return registry().all; }

void set_loaded_variants(std::vector<Variant> variants) {
  const auto built_in = built_in_variants();
  std::vector<const Variant*> all(built_in.begin(), built_in.end());
  for (Variant& variant : variants) {
    if (const auto taken = std::ranges::find(all, variant.name, &Variant::name); taken != all.end())
      throw UsageError(fmt::format("{}: the name '{}' is taken by {}; give the variant another",
                                   variant.origin, variant.name,
                                   (*taken)->origin.empty() ? "a built-in variant" : (*taken)->origin));
    all.push_back(&registry().loaded.emplace_back(std::move(variant)));
  }
  all.insert(all.end(), registry().further.begin(), registry().further.end());
  registry().all = std::move(all);
}

FurtherVariant::FurtherVariant(Variant variant) : variant_(std::move(variant)) {
  registry().further.push_back(&variant_);
  registry().all.push_back(&variant_);
}

FurtherVariant::~FurtherVariant() {
  std::erase(registry().further, &variant_);
  std::erase(registry().all, &variant_);
}

const Variant* find_variant(std::string_view name) {
  const auto variants = all_variants();
  const auto found = std::ranges::find(variants, name, &Variant::name);
  return found == variants.end() ? nullptr : *found;
}

}  // namespace attnprof
