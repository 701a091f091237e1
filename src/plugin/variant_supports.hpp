// "supports" of a variant file: what the variant takes, and a sentence for each thing it does not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_part.hpp"
#include "plugin/rule.hpp"
#include "problem/problem_fields.hpp"
#include "schedule/variant.hpp"

namespace attnprof {

constexpr int64_t largest_tile_side = 1 << 16;  // that a variant file may name

// The sizes of a case that rules and limits may name, in a fixed order; `sms` last, of the device.
std::vector<std::string_view> rule_names(bool with_sms);
std::vector<RuleValue> rule_values(const Problem& problem, const Tile& tile, int sms);

class VariantSupports {
 public:
  // Throws UsageError.
  explicit VariantSupports(const JsonPart& part);

  // Why the variant cannot run this, as a sentence; `name`: the variant's.
  std::optional<std::string> reason(std::string_view name, const Problem& problem, const Tile& tile,
                                    const DeviceProfile& device) const;
  // As far as the tile alone goes: "br multiple of 8 up to 64, not 60".
  std::optional<std::string> tile_reason(const Tile& tile) const;
  std::string sentence() const;  // for `list`: "fp16, bf16; head_dim multiple of 16 up to 128"
  const std::vector<Tile>& tiles() const { return tiles_; }
  std::vector<std::string_view> later_fields() const;  // that it names: Variant::later_fields
  std::vector<Pass> passes() const;

 private:
  struct Limit {
    std::string size;
    std::vector<int64_t> values;  // one of these; empty: by the bounds
    int64_t multiple_of = 1, min = 0;
    std::optional<int64_t> max;

    bool takes(int64_t value) const;
    std::string text() const;  // "multiple of 16 up to 128"
  };
  // What a field of the problem that is a word may be.
  struct Words {
    std::string_view field;
    std::vector<std::string> values;
    bool listed = false;  // in the file
  };
  static Limit limit_of(const std::string& size, const JsonPart& part);
  static Words words_of(const ProblemField& field, const JsonPart& part);
  void read_tiles(const JsonPart& part);

  std::vector<Words> words_;
  std::vector<std::string> archs_;  // empty: all
  std::vector<Tile> tiles_;         // empty: all
  std::vector<Limit> limits_;
};

}  // namespace attnprof
