#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <set>

#include "base/error.hpp"
#include "explain/explanation.hpp"
#include "explain/findings.hpp"
#include "files/run_devices.hpp"
#include "model/reread.hpp"

namespace attnprof {
namespace {

std::vector<std::string_view> needed_columns() {
  std::vector<std::string_view> names = {"run",          "backend",        "device",           "disposition",
                                         "bytes_source", "latency_source", "latency_median_ns"};
  for (const Level& level : levels_with_rate(memory_levels()))
    if (level.everywhere) names.push_back(level.bytes.total.name);
  names.insert(names.end(), {"useful_flops", "executed_tensor_flops"});
  return names;
}

// A row that is ok, where it is and with its model.
struct Known {
  const ResultFile* file;
  size_t line;
  RowModel model;
  const Row& row() const { return *model.row; }
};

size_t line_of(const ResultFile& file, size_t index) {
  return index < file.lines.size() ? file.lines[index] : index + 2;
}

bool is_ok(const Row& row, LeftOut& left_out) {
  Row shown = row;  // other tools' rows may lack the rate
  if (row.latency.median_ns.value_or(0) > 0)
    shown.roofline.useful_tflops_per_s = 1;
  else
    shown.roofline.useful_tflops_per_s.reset();
  return can_be_shown(shown, left_out);
}

bool selected(const Row& row, const std::vector<Selector>& selectors) {
  return selectors.empty() ||
         std::ranges::any_of(selectors, [&](const Selector& selector) { return selector.takes(row); });
}

// All that the speedup is not about must agree.
bool same_problem(const Identity& a, const Identity& b) {
  return a.problem == b.problem && a.cache == b.cache;
}

bool comparable(const Row& a, const Row& b) {
  return same_problem(a.identity, b.identity) && a.provenance.device == b.provenance.device &&
         a.latency.latency_source == b.latency.latency_source;
}

// A row of `variant` to hold `of` against: of its own run before others, at the variant's own tile before
// others, then the fastest.
const Known* counterpart(const std::list<Known>& all, const Known& of, const std::string& variant) {
  const auto rank = [&](const Known& k) {
    const Identity& id = k.row().identity;
    return std::tuple(k.row().provenance.run != of.row().provenance.run, id.tile != "auto" || id.knobs != "-",
                      k.model.latency_ns());
  };
  const Known* best = nullptr;
  for (const Known& each : all)
    if (&each != &of && each.row().identity.variant == variant && comparable(each.row(), of.row()) &&
        (!best || rank(each) < rank(*best)))
      best = &each;
  return best;
}

// The tiles asked for, the variant's default, half and double of either side, and of both the other way.
std::vector<TilePrediction> other_tiles(const RowModel& model, const std::vector<TileRequest>& asked) {
  std::vector<TilePrediction> tiles;
  if (!model.time || model.c->tile.br <= 0) return tiles;
  const Tile own = model.c->tile, usual = model.c->variant->default_tile(model.c->problem, model.device).tile;
  std::set<std::pair<int, int>> tried = {{own.br, own.bc}};
  const auto attempt = [&](int br, int bc) {
    const bool in_range = std::min(br, bc) >= least_tile_side && std::max(br, bc) <= most_tile_side;
    if (!in_range || !tried.insert({br, bc}).second) return;
    if (const auto ns = predict_tile_ns(model, br, bc))
      tiles.push_back({br, bc, *ns, model.latency_ns() / *ns});
  };
  for (const TileRequest& tile : asked) attempt(*tile.br, *tile.bc);
  attempt(usual.br, usual.bc);
  for (const auto& [br, bc] : {std::pair(own.br / 2, own.bc),
                               {own.br * 2, own.bc},
                               {own.br, own.bc / 2},
                               {own.br, own.bc * 2},
                               {own.br / 2, own.bc * 2},
                               {own.br * 2, own.bc / 2}})
    attempt(br, bc);
  std::ranges::stable_sort(tiles, {}, &TilePrediction::ns);
  return tiles;
}

// By the launches' model; else of whole waves by the row's columns.
Real idle_share(const RowModel& model) {
  if (model.time) return model.time->idle_share();  // nothing where memory sets the time
  const Build& build = model.row->build;
  if (!build.waves || *build.waves <= 0) return std::nullopt;
  if (*build.waves >= 1) return 1 - *build.waves / std::ceil(*build.waves);
  const int sms = model.device.sms;
  if (sms < 1 || !build.ctas) return std::nullopt;
  const double ctas = static_cast<double>(*build.ctas);
  return 1 - ctas / (std::ceil(ctas / sms) * sms);
}

CaseExplanation explain_row(const Known& known, const std::list<Known>& all, const ExplainRequest& request) {
  const std::string& against = request.against;
  const RowModel& model = known.model;
  CaseExplanation e;
  e.file = known.file->path;
  e.line = known.line;
  e.row = known.row();
  e.resources = resource_times(e.row, model.rates, model.unseen());
  e.binds = binding_resource(e.resources, model.latency_ns());
  if (e.binds.empty()) e.binds = "unknown";
  e.idle_share = idle_share(model);
  e.waves = e.row.build.waves;
  e.occupancy_pct = e.row.build.theoretical_occupancy_pct;
  if (model.c) e.reread_bytes = reread_bytes(*model.c);
  e.tiles = other_tiles(model, request.tiles);
  if (const Known* other = against.empty() ? nullptr : counterpart(all, known, against))
    e.against =
        AgainstRow{other->line, other->file->path, other->row().identity, split_speedup(model, other->model)};
  e.sentences = findings(e, model);
  return e;
}

// As its own or among the predicted ones.
bool has_tile(const CaseExplanation& e, const TileRequest& tile) {
  if (e.row.resolved.br == *tile.br && e.row.resolved.bc == *tile.bc) return true;
  return std::ranges::any_of(e.tiles,
                             [&](const TilePrediction& t) { return t.br == *tile.br && t.bc == *tile.bc; });
}

// Once each, however many rows they are about.
class Notices {
 public:
  explicit Notices(std::vector<std::string>& texts) : texts_(texts) {}
  void add(const std::string& text) {
    if (std::ranges::find(texts_, text) == texts_.end()) texts_.push_back(text);
  }
  void about(const RowModel& model) {
    const std::string& device = model.row->provenance.device;
    if (!model.rates.measured)
      add(fmt::format(
          "{}: no measured ceilings in the .meta.json; nominal rates are used, which no kernel reaches",
          device));
    if (model.time && model.row->provenance.backend == "gpu" && device.find("H200") == std::string::npos)
      add(fmt::format("{}: tiles and factors are by a model of time that was fitted to an H200", device));
    if (model.row->latency.latency_source == "model")
      add("simulated rows: their time is a model's, no measurement");
    if (!model.time)
      add(fmt::format("{}: no schedule of ours, so no idle share but by waves, no tiles and no factors",
                      model.row->identity.variant));
  }

 private:
  std::vector<std::string>& texts_;
};

std::list<Known> know_rows(const std::vector<ResultFile>& files, const ExplainRequest& request,
                           LeftOut& left_out) {
  std::list<Known> all;
  for (const ResultFile& file : files) {
    RunDevices devices(file);
    for (size_t i = 0; i < file.rows.size(); ++i) {
      const Row& row = file.rows[i];
      const bool shown = selected(row, request.cases);
      if (!shown && row.identity.variant != request.against) continue;
      LeftOut unseen;
      if (!is_ok(row, shown ? left_out : unseen)) continue;
      const DeviceOfRun& device = devices.of(row);
      all.push_back({&file, line_of(file, i), model_row(row, device.device.profile, device.ceilings)});
    }
  }
  return all;
}

}  // namespace

std::span<const std::string_view> explain_columns() {
  static const std::vector<std::string_view> names = needed_columns();
  return names;
}

Explanations explain(const std::vector<ResultFile>& files, const ExplainRequest& request) {
  Explanations result;
  result.against = request.against;
  const std::list<Known> all = know_rows(files, request, result.left_out);
  Notices notices(result.notices);
  size_t alone = 0;
  for (const Known& known : all) {
    const bool other = !request.against.empty() && known.row().identity.variant == request.against;
    if (!selected(known.row(), request.cases) || other) continue;
    result.cases.push_back(explain_row(known, all, request));
    notices.about(known.model);
    if (!request.against.empty() && !result.cases.back().against) ++alone;
  }
  if (result.cases.empty())
    throw EnvironmentError(fmt::format(
        "no row to explain{}; give a file with rows that are ok, and a --case that takes some of them",
        result.left_out.empty() ? "" : ": " + describe(result.left_out)));
  for (const TileRequest& tile : request.tiles)
    if (std::ranges::none_of(result.cases, [&](const CaseExplanation& e) { return has_tile(e, tile); }))
      notices.add(fmt::format(
          "--tile {}x{} is predicted for no row: their variants cannot run it, or have no model of time",
          *tile.br, *tile.bc));
  if (!result.left_out.empty()) notices.add("not explained: " + describe(result.left_out));
  if (alone > 0)
    notices.add(fmt::format("{} of {} rows have no row of {} of the same problem and device to stand against",
                            alone, result.cases.size(), request.against));
  return result;
}

}  // namespace attnprof
