#include "measure/gpu/ceiling_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "measure/compile/content_hash.hpp"

namespace attnprof {

using Json = nlohmann::ordered_json;

CeilingCache::CeilingCache(const std::filesystem::path& root, const std::string& identity)
    : file_(root / "ceilings" / (content_hash(identity) + ".json")) {}

std::optional<Ceilings> CeilingCache::find() const {
  std::ifstream stream(file_, std::ios::binary);
  if (!stream) return std::nullopt;
  try {
    Ceilings ceilings = parse_ceilings(Json::parse(stream));
    if (!ceilings.empty()) return ceilings;
  } catch (const Json::exception&) {
  }
  return std::nullopt;
}

void CeilingCache::keep(const Ceilings& ceilings) const {
  std::error_code ignored;
  std::filesystem::create_directories(file_.parent_path(), ignored);
  const std::filesystem::path made = fmt::format("{}.{}.tmp", file_.string(), getpid());
  {
    std::ofstream stream(made, std::ios::binary);
    stream << ceilings_json(ceilings).dump(2) << '\n' << std::flush;
    if (!stream) return std::filesystem::remove(made, ignored), void();
  }
  std::filesystem::rename(made, file_, ignored);
}

}  // namespace attnprof
