#include "explain/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "base/units.hpp"

namespace attnprof {
namespace {

double value(const Count& count) { return static_cast<double>(count.value_or(0)); }

// Shares of the time or of bytes from which on a sentence is worth its line.
constexpr double much_idle = 0.25;
constexpr double much_launch = 0.10;
constexpr double much_absorbed = 0.25;  // of S and P, by L2
constexpr double worth_a_tile = 1.03;
constexpr double much_padding = 1.1;  // executed over useful FLOPs
constexpr double little_by_bytes = 1.25;
constexpr double little_faster = 1.1;

class Writer {
 public:
  Writer(const CaseExplanation& e, const RowModel& model) : e_(e), row_(e.row), model_(model) {}

  std::vector<std::string> write() {
    binds();
    idle();
    launches();
    few_kv_heads();
    score_bytes();
    spills();
    padding();
    tiles();
    against();
    if (row_.latency.latency_source == "model")
      say(1, "The time is the simulator's model, no measurement: what binds is what that model says binds.");
    std::ranges::stable_sort(found_, std::greater<>(), &Found::weight);
    std::vector<std::string> sentences;
    for (Found& each : found_) sentences.push_back(std::move(each.text));
    return sentences;
  }

 private:
  struct Found {
    double weight;
    std::string text;
  };
  void say(double weight, std::string text) { found_.push_back({weight, std::move(text)}); }
  double latency() const { return *row_.latency.median_ns; }

  const ResourceTime* resource(std::string_view name) const {
    const auto found = std::ranges::find(e_.resources.times, name, &ResourceTime::name);
    return found == e_.resources.times.end() ? nullptr : &*found;
  }

  // " (hbm: its bytes were not counted; exp: the device's rate is not known)": of resources without which
  // nothing can be said.
  std::string why_unknown() const {
    std::vector<std::string> parts;
    for (const MissingResource& missing : e_.resources.missing)
      if (missing.name != "smem" && missing.name != "launch")
        parts.push_back(fmt::format("{}: {}", missing.name, missing.why));
    return fmt::format(" ({})", fmt::join(parts, "; "));
  }

  void binds() {
    if (e_.resources.times.empty()) return say(2, fmt::format("What binds cannot be said{}.", why_unknown()));
    const auto& longest = *std::ranges::max_element(e_.resources.times, {}, &ResourceTime::ns);
    const double share = 100 * longest.ns / latency();
    const std::string figures = fmt::format("{} alone would need {} of {} ({:.0f} %)", longest.name,
                                            human_time_ns(longest.ns), human_time_ns(latency()), share);
    if (e_.binds == "latency")
      say(2, fmt::format(
                 "Nothing is busy for long: {}. The blocks wait for loads, barriers and their own results.",
                 figures));
    else if (e_.binds == "unknown")
      say(2, fmt::format("What binds cannot be said{}: of what is known, {}.", why_unknown(), figures));
    else
      say(2, fmt::format("{} binds: it{}.", longest.name, figures.substr(longest.name.size())));
  }

  void idle() {
    if (e_.idle_share.value_or(0) < much_idle) return;
    const StepTime* step = model_.time ? &model_.time->longest() : nullptr;
    const int64_t blocks = step ? step->blocks : row_.build.ctas.value_or(0);
    const int sms = model_.device.sms;
    const std::string share = fmt::format("{:.0f} % of the SMs' room is idle", 100 * *e_.idle_share);
    if (blocks > 0 && blocks < sms)
      say(1.9, fmt::format(
                   "{}: {} blocks for {} SMs. More heads or batch, a smaller Br, or splitting the keys over "
                   "blocks would fill them; fewer bytes would not.",
                   share, blocks, sms));
    else if (step)
      say(1.5, fmt::format("{}: {} blocks in {:.2f} waves of {} an SM, of which the last is not full.", share,
                           blocks, static_cast<double>(blocks) / (static_cast<double>(step->resident) * sms),
                           step->resident));
    else
      say(1.5, fmt::format("{}, by {} waves.", share, human_number(e_.waves.value_or(0))));
  }

  void launches() {
    const Rate& floor = model_.rates.floor_ns;
    if (!floor.known() || !row_.build.launches) return;
    const double ns = floor.value + (value(row_.build.launches) - 1) * model_.rates.launch_ns.value;
    if (ns < much_launch * latency()) return;
    say(1.8, fmt::format("About {} of {} ({:.0f} %) is what {} whatever is done in it: at {} queries and "
                         "batch {} the case is too short for its bytes to tell.",
                         human_time_ns(ns), human_time_ns(latency()), 100 * ns / latency(),
                         *row_.build.launches == 1 ? "a launch costs"
                                                   : fmt::format("{} launches cost", *row_.build.launches),
                         value(row_.identity.count("q_len")), value(row_.identity.count("batch"))));
  }

  // Few of them save bytes, but blocks go by query heads.
  void few_kv_heads() {
    const Identity& id = row_.identity;
    const double group = value(id.count("heads")) / std::max(1.0, value(id.count("kv_heads")));
    if (group < 2 || e_.idle_share.value_or(0) < much_idle) return;
    const ResourceTime* hbm = resource("hbm");
    const std::string busy =
        hbm ? fmt::format(" (HBM would need {:.0f} % of the time)", 100 * hbm->ns / latency()) : "";
    say(1.6, fmt::format("{} query heads share each of {} kv heads, so K and V are "
                         "few bytes{}: how many blocks there are decides, not IO.",
                         group, value(id.count("kv_heads")), busy));
  }

  // S and P at the SMs, and how much of them gets to HBM.
  void score_bytes() {
    const double scores = value(row_.model.intermediate_bytes), sm = value(row_.counters.sm_total);
    if (scores <= 0 || sm <= 0 || !row_.counters.hbm_total) return;
    // Inputs and output cross HBM in any case.
    const double inputs = value(row_.model.io_lower_bound_bytes), hbm = value(row_.counters.hbm_total);
    const double absorbed = 1 - std::max(0.0, hbm - inputs) / scores;
    const std::string figures =
        fmt::format("S and P are {} of the {} at the SMs", human_bytes(scores), human_bytes(sm));
    if (absorbed >= much_absorbed)
      say(1.7, fmt::format("{}, but HBM saw {} in all: L2 absorbs {:.0f} % of S "
                           "and P, and a fused kernel could save {} there, not {}.",
                           figures, human_bytes(hbm), 100 * std::min(1.0, absorbed),
                           human_bytes(std::max(0.0, hbm - inputs)), human_bytes(scores)));
    else
      say(1.2, fmt::format("{}, and HBM saw {} in all; a fused kernel could save up to {} there.", figures,
                           human_bytes(hbm), human_bytes(std::max(0.0, hbm - inputs))));
  }

  void spills() {
    if (value(row_.counters.local) <= 0 || value(row_.build.spill_bytes) <= 0) return;
    say(1.4, fmt::format("Registers spill: {} of local memory traffic; a smaller tile would need fewer.",
                         human_bytes(value(row_.counters.local))));
  }

  void padding() {
    if (!row_.model.useful_flops) return;  // a traced kernel
    const Count& executed =
        row_.counters.executed_tensor_flops ? row_.counters.executed_tensor_flops : row_.model.tensor_flops;
    const double times = value(executed) / std::max(1.0, value(row_.model.useful_flops));
    if (times < much_padding) return;
    say(0.9, fmt::format(
                 "The tensor cores execute {:.2f} times the useful FLOPs: masked and padded parts of tiles; "
                 "smaller tiles have less of them.",
                 times));
  }

  void tiles() {
    if (e_.tiles.empty()) return;
    const TilePrediction& best = e_.tiles.front();
    if (best.speedup >= worth_a_tile)
      say(1.3, fmt::format("A tile of {}x{} is predicted {:.2f} times as fast ({}).", best.br, best.bc,
                           best.speedup, human_time_ns(best.ns)));
    else
      say(0.5, fmt::format("No neighbouring tile is predicted to be over {:.0f} % faster.",
                           100 * (worth_a_tile - 1)));
  }

  void against() {
    if (!e_.against || e_.against->split.factors.empty()) return;
    const SpeedupSplit& split = e_.against->split;
    const double bytes = split.factors.front().factor;
    const auto& most = *std::ranges::max_element(split.factors, {}, &Factor::factor);
    const std::string gain =
        fmt::format("{:.2f} times as fast as {}", split.speedup, e_.against->identity.variant);
    const auto& least = *std::ranges::min_element(split.factors, {}, &Factor::factor);
    if (split.speedup < little_faster && least.factor < 1)
      say(2.1, fmt::format("It is only {}: fewer bytes would give {:.2f}, but {} takes {:.2f} ({}).", gain,
                           bytes, least.name, least.factor, least.text));
    else if (bytes < little_by_bytes && &most != &split.factors.front())
      say(2.1, fmt::format("It is {}, but not by IO: fewer bytes give {:.2f}, most is {} ({:.2f}; {}).", gain,
                           bytes, most.name, most.factor, most.text));
    else
      say(2.1, fmt::format("It is {}; fewer bytes give {:.2f} of that ({}).", gain, bytes,
                           split.factors.front().text));
  }

  const CaseExplanation& e_;
  const Row& row_;
  const RowModel& model_;
  std::vector<Found> found_;
};

}  // namespace

std::vector<std::string> findings(const CaseExplanation& explanation, const RowModel& model) {
  return Writer(explanation, model).write();
}

}  // namespace attnprof
