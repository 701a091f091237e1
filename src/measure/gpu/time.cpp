#include "measure/gpu/time.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "measure/gpu/stopwatch.hpp"
#include "measure/statistics.hpp"
#include "measure/summarised_latency.hpp"
#include "measure/timing_rule.hpp"
#include "row/schema.hpp"

namespace attnprof {
namespace {

constexpr int fewest_samples = 3;
constexpr double longest_moved_ns = 10e6;  // longer operations stay where they are: a move runs them once
constexpr double drift_limit_pct = 3;

// What the driver says of the GPU while samples run.
struct Surroundings {
  std::vector<double> clocks_mhz;
  bool throttled = false;
  WallClock::time_point last_look;

  // At most once a millisecond: asking takes the host some of the time that samples are enqueued in.
  void look(const Nvml& nvml) {
    if (WallClock::now() - last_look < std::chrono::milliseconds(1)) return;
    last_look = WallClock::now();
    if (const auto mhz = nvml.sm_clock_mhz()) clocks_mhz.push_back(*mhz);
    throttled |= nvml.throttled().value_or(false);
  }
};

// What one sample costs, learnt in the warm-up.
struct Costs {
  double enqueue_ns = 0;    // host: a whole sample's launches and events
  double condition_ns = 0;  // GPU: bringing L2 into its state
  double operation_ns = 0;  // GPU
};

class Sampler {
 public:
  Sampler(PreparedCase& prepared, GpuDevice& gpu, const MeasureOptions& options)
      : prepared_(prepared), gpu_(gpu), options_(options) {}

  void warm_up();
  void sample();  // until precision, time or the fewest samples are reached
  const std::vector<double>& samples_ns() const { return samples_ns_; }
  const Surroundings& surroundings() const { return surroundings_; }
  bool precise() const {
    const auto width = relative_half_width(summarise(samples_ns_));
    return width && *width <= options_.precision;
  }

 private:
  struct Marks {
    Event start, end;
  };
  void enqueue_one(const Marks& marks) const;
  size_t next_batch(double spent_s) const;
  void run_batch(size_t count);
  void move();
  double sample_s() const {
    return (costs_.condition_ns + costs_.operation_ns + static_cast<double>(spin_ns_)) * 1e-9;
  }

  PreparedCase& prepared_;
  GpuDevice& gpu_;
  const MeasureOptions& options_;
  Costs costs_;
  int64_t spin_ns_ = 0;
  size_t enqueued_ = 0;
  std::vector<Marks> marks_;
  std::vector<double> samples_ns_;
  Surroundings surroundings_;
};

// All of a sample is enqueued while the GPU still conditions L2, so that no launch waits for the host.
void Sampler::enqueue_one(const Marks& marks) const {
  if (spin_ns_ > 0) gpu_.harness().spin(spin_ns_, gpu_.stream());
  condition_cache(prepared_, gpu_);
  marks.start.record(gpu_.stream());
  prepared_.run();
  marks.end.record(gpu_.stream());
}

void Sampler::warm_up() {
  const Event before;
  const Marks marks;
  const WallClock::time_point start = WallClock::now();
  for (int run = 0; run < warm_up_runs || seconds_since(start) < warm_up_s; ++run) {
    if (run > 0 && seconds_since(start) > 5 * warm_up_s) break;  // long operations: once is enough
    before.record(gpu_.stream());
    const WallClock::time_point enqueue_start = WallClock::now();
    condition_cache(prepared_, gpu_);
    marks.start.record(gpu_.stream());
    prepared_.run();
    marks.end.record(gpu_.stream());
    costs_.enqueue_ns = seconds_since(enqueue_start) * 1e9;
    marks.end.wait();
    costs_.condition_ns = elapsed_ns(before, marks.start);
    costs_.operation_ns = elapsed_ns(marks.start, marks.end);
  }
  // Where conditioning is shorter than the host needs to enqueue the operation, something must hold the GPU.
  const double hold_ns = 2 * costs_.enqueue_ns + 10'000;
  if (costs_.condition_ns < hold_ns)
    spin_ns_ = static_cast<int64_t>(std::min(hold_ns - costs_.condition_ns, 1e6));
}

// Batches grow with what is measured already, so that the interval is worked out a few dozen times at most.
size_t Sampler::next_batch(double spent_s) const {
  const size_t done = samples_ns_.size();
  const size_t missing = done < fewest_samples ? fewest_samples - done : 0;
  const double affordable = std::max(0.0, (options_.max_time_s - spent_s) / sample_s());
  const size_t wanted = std::clamp<size_t>(done / 2, samples_before_stopping, largest_batch);
  const auto fitting = static_cast<size_t>(std::min(affordable, static_cast<double>(wanted)));
  return std::max<size_t>({missing, fitting, 1});
}

// Also the moment to ask for the clock: the samples before it are still running.
void Sampler::move() {
  surroundings_.look(gpu_.nvml());
  gpu_.next_stream();
  prepared_.relocate(most_placements);
}

void Sampler::run_batch(size_t count) {
  while (marks_.size() < count) marks_.emplace_back();
  for (size_t i = 0; i < count; ++i) {
    if (costs_.operation_ns < longest_moved_ns && enqueued_++ % samples_a_placement == 0) move();
    enqueue_one(marks_[i]);
  }
  do {
    surroundings_.look(gpu_.nvml());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (!marks_[count - 1].end.reached());
  for (size_t i = 0; i < count; ++i) samples_ns_.push_back(elapsed_ns(marks_[i].start, marks_[i].end));
}

void Sampler::sample() {
  const WallClock::time_point start = WallClock::now();
  for (;;) {
    const double spent_s = seconds_since(start);
    const size_t done = samples_ns_.size();
    if (done >= fewest_samples && spent_s >= options_.max_time_s) return;
    if (done >= samples_before_stopping && precise()) return;
    run_batch(next_batch(spent_s));
  }
}

void add_flags(const Summary& summary, bool precise, const Surroundings& surroundings, const GpuDevice& gpu,
               Status& status) {
  if (summary.drift_pct && std::abs(*summary.drift_pct) > drift_limit_pct) add_flag(status, Flag::drift);
  if (surroundings.throttled) add_flag(status, Flag::throttled);
  if (gpu.other_processes().value_or(0) > 0) add_flag(status, Flag::gpu_shared);
  if (!summary.ci95)
    add_flag(status, Flag::few_samples);
  else if (!precise)
    add_flag(status, Flag::imprecise);
}

}  // namespace

void condition_cache(const PreparedCase& prepared, const GpuDevice& gpu) {
  if (prepared.planned().cache == CacheState::cold)
    gpu.evict();
  else
    prepared.run();
}

Latency time_operation(PreparedCase& prepared, GpuDevice& gpu, const MeasureOptions& options,
                       Status& status) {
  Sampler sampler(prepared, gpu, options);
  sampler.warm_up();
  sampler.sample();
  const Summary summary = summarise(sampler.samples_ns());
  add_flags(summary, sampler.precise(), sampler.surroundings(), gpu, status);
  Latency latency = summarised_latency(summary, "cuda_events");
  const auto& clocks = sampler.surroundings().clocks_mhz;
  if (!clocks.empty()) latency.sm_clock_mhz = median(clocks);
  return latency;
}

}  // namespace attnprof
