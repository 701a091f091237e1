#include "model/launch_time.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

// Fitted to 802 rows of an H200 (naive, flash1, flash2, flash3, their tiles;
// scripts/evidence/explain_evidence.py says which were kept out): of the work of one warp, and of an SM's
// blocks together, what the time shows.
constexpr double own_share = 0.414;
constexpr double queued_share = 0.445;
constexpr double schedulers = 4;
// Beyond this many waves the last one no longer tells.
constexpr double many_waves = 64;

double fluid_ns(const std::vector<BlockTime>& blocks, int64_t copies, int resident, int sms) {
  double sum = 0;
  for (const BlockTime& block : blocks) sum += block.with(resident);
  return sum * static_cast<double>(copies) / (static_cast<double>(resident) * sms);
}

// All blocks alike: whole waves. A part of a wave after others finds all SMs free at about the same time, and
// fills some of them; the first, if it is only a part, is spread over all.
double equal_waves_ns(const BlockTime& block, int64_t count, int resident, int sms) {
  const int64_t wave = int64_t{resident} * sms;
  if (count <= wave) return block.with(static_cast<int>(ceil_div(count, sms)));
  const int64_t whole = count / wave, rest = std::min<int64_t>(count % wave, resident);
  return static_cast<double>(whole) * block.with(resident) +
         (rest > 0 ? block.with(static_cast<int>(rest)) : 0);
}

// Blocks that differ, one by one. A block's progress depends on how many share its SM.
class Device {
 public:
  Device(const std::vector<BlockTime>& blocks, int64_t copies, int resident, int sms)
      : blocks_(blocks),
        total_(static_cast<int64_t>(blocks.size()) * copies),
        sms_(static_cast<size_t>(sms)) {
    for (int turn = 0; turn < resident; ++turn)
      for (Sm& sm : sms_)
        if (next_ < total_) sm.running.push_back({take(), 1});
  }

  double run() {
    for (size_t sm = 0; sm < sms_.size(); ++sm) schedule(sm);
    double end = 0;
    while (!events_.empty()) {
      const auto [at, sm] = events_.top();
      events_.pop();
      end = at;
      advance(sms_[sm], at);
      schedule(sm);
    }
    return end;
  }

 private:
  struct Running {
    BlockTime block;
    double left;  // share
  };
  struct Sm {
    std::vector<Running> running;
    double now = 0;
  };
  struct Event {
    double at;
    size_t sm;
    bool operator>(const Event& other) const { return at > other.at || (at == other.at && sm > other.sm); }
  };

  BlockTime take() { return blocks_[static_cast<size_t>(next_++) % blocks_.size()]; }

  // When the first of its blocks ends: an SM has one event at a time.
  void schedule(size_t index) {
    const Sm& sm = sms_[index];
    if (sm.running.empty()) return;
    const int k = static_cast<int>(sm.running.size());
    double least = INFINITY;
    for (const Running& each : sm.running) least = std::min(least, each.left * each.block.with(k));
    events_.push({sm.now + least, index});
  }

  void advance(Sm& sm, double at) {
    constexpr double done = 1e-9;
    const int k = static_cast<int>(sm.running.size());
    const double passed = at - sm.now;
    for (Running& each : sm.running) {
      const double whole = each.block.with(k);
      each.left = whole > 0 ? each.left - passed / whole : 0;  // a block whose rows see no key takes no time
    }
    const auto ended = std::erase_if(sm.running, [](const Running& each) { return each.left <= done; });
    for (size_t i = 0; i < ended && next_ < total_; ++i) sm.running.push_back({take(), 1});
    sm.now = at;
  }

  const std::vector<BlockTime>& blocks_;
  int64_t total_, next_ = 0;
  std::vector<Sm> sms_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

BlockTime block_time(const BlockWork& work, double round_ns, int warps) {
  const double own = work.work_ns * schedulers / std::max(warps, 1);
  return {work.rounds * round_ns + own_share * own, queued_share * work.work_ns};
}

LaunchTime launch_time(const std::vector<BlockTime>& blocks, int64_t copies, int resident, int sms) {
  LaunchTime time;
  if (blocks.empty() || copies < 1 || resident < 1 || sms < 1) return time;
  const int64_t count = static_cast<int64_t>(blocks.size()) * copies;
  time.even_ns = fluid_ns(blocks, copies, resident, sms);
  const bool alike = std::ranges::all_of(blocks, [&](const BlockTime& b) { return b == blocks.front(); });
  const double longest =
      std::ranges::max(blocks, {}, [&](const BlockTime& b) { return b.with(resident); }).with(resident);
  if (alike)
    time.ns = equal_waves_ns(blocks.front(), count, resident, sms);
  else if (static_cast<double>(count) > many_waves * resident * sms)
    time.ns = time.even_ns + longest / 2;
  else
    time.ns = Device(blocks, copies, resident, sms).run();
  time.even_ns = std::min(time.even_ns, time.ns);
  return time;
}

}  // namespace attnprof
