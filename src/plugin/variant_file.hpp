// A variant described by a JSON file: what it takes, its workspace and its steps in literal values and rules
// (rule.hpp). kernels/example/ is one, and `attnprof new-variant` writes it. It has no schedule: nothing of
// it is modelled.
//
//   {"attnprof_variant": 1,
//    "name": "mine", "idea": "one sentence",
//    "supports": {"dtypes": [..], "masks": [..], "archs": [..], "tiles": [[br, bc], ..],
//                 SIZE: [values] or {"multiple_of": n, "min": n, "max": n}},
//    "tile": {"br": 64, "bc": 64, "why": "one sentence"},
//    "workspace": [{"name": .., "dtype": .., "batch": RULE, "heads": RULE, "rows": RULE, "cols": RULE,
//                   "init": "poison" or "zero"}],
//    "steps": [{"name": .., "file": "mine.cu", "entry": "mine", "macros": {NAME: number or "text {RULE}"},
//               "threads": RULE, "grid": [RULE, RULE, RULE], "smem_bytes": RULE, "timed": true}]}
//
// SIZE: a count of the problem (batch, heads, kv_heads, q_len, kv_len, head_dim), group, br, bc. Rules name
// those, element_bytes, causal (0 or 1) and, in steps, sms. Macros: macro_grammar.hpp. A field of the problem
// that came after the first schema is heeded by a file that limits it, and is at its absent value for all
// others. Needed: attnprof_variant, name, idea, supports.dtypes, and of steps file, entry, threads and grid.
// `file` is relative to the JSON's folder.
#pragma once

#include <memory>
#include <string>

#include "schedule/variant.hpp"

namespace attnprof {

// Its origin is `file`, its fingerprint the hash of the text. Throws UsageError with file, line and field.
Variant load_variant_file(const std::string& file);

struct VariantDescription;  // variant_description.hpp
Variant variant_of(const std::shared_ptr<const VariantDescription>& file);

// Whether a variant may have this name: a small letter, then small letters, digits, '_' and '-', up to 40.
bool is_variant_name(std::string_view name);

}  // namespace attnprof
