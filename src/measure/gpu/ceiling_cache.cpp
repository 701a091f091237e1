#include "measure/gpu/ceiling_cache.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/json_names.hpp"
#include "base/output_file.hpp"
#include "base/private_file.hpp"
#include "base/replace_file.hpp"

namespace attnprof {

CeilingCache::CeilingCache(const std::filesystem::path& root, const std::string& identity)
    : file_(root / "ceilings" / (content_hash(identity) + ".json")) {}

std::optional<Ceilings> CeilingCache::find() const {
  std::ifstream stream(file_, std::ios::binary);
  if (!stream) return std::nullopt;
  try {
    Ceilings ceilings = parse_ceilings(OrderedJson::parse(stream));
    if (!ceilings.empty()) return ceilings;
  } catch (const OrderedJson::exception&) {
  }
  return std::nullopt;
}

void CeilingCache::keep(const Ceilings& ceilings) const {
  std::error_code ignored;
  std::filesystem::create_directories(file_.parent_path(), ignored);
  try {
    write_private_file(file_.parent_path(), file_.filename(), ceilings_json(ceilings).dump(2) + "\n");
  } catch (const std::system_error&) {
  }
}

}  // namespace attnprof
