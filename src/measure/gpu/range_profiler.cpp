#include "measure/gpu/range_profiler.hpp"

#include <fmt/format.h>

#include <array>

#include "base/error.hpp"

namespace attnprof {
namespace {

constexpr std::array range_names = {"1-operation", "2-eviction"};
static_assert(range_names.size() == RangeProfiler::max_ranges);

constexpr size_t max_passes = 64;  // a set has at most six; more means that CUPTI does not advance

}  // namespace

RangeProfiler::RangeProfiler(CUcontext context, std::function<void()> synchronise)
    : context_(context), synchronise_(std::move(synchronise)) {}

RangeProfiler::~RangeProfiler() { disable(); }

void RangeProfiler::disable() {
  if (!profiler_) return;
  ATTNPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
  params.pRangeProfilerObject = profiler_;
  cupti().cuptiRangeProfilerDisable(&params);
  profiler_ = nullptr;
}

// Enables the profiler for `plan`, with a counter data image of its size.
void RangeProfiler::enable(MetricPlan& plan) {
  if (profiler_ && plan_ == &plan) return;
  disable();
  ATTNPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
  params.ctx = context_;
  check_cupti(cupti().cuptiRangeProfilerEnable(&params), "cuptiRangeProfilerEnable");
  profiler_ = params.pRangeProfilerObject;
  plan_ = &plan;
  ATTNPROF_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = profiler_;
  size.pMetricNames = plan.names();
  size.numMetrics = plan.size();
  size.maxNumOfRanges = 8;  // room to spare: an image with exactly as many as are pushed was never tried
  size.maxNumRangeTreeNodes = 8;
  check_cupti(cupti().cuptiRangeProfilerGetCounterDataSize(&size), "cuptiRangeProfilerGetCounterDataSize");
  counter_data_.assign(size.counterDataSize, 0);
}

// The counter data image must be initialised again before every measurement.
void RangeProfiler::configure(MetricPlan& plan, size_t ranges) {
  std::vector<uint8_t>& data = counter_data_;
  ATTNPROF_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, image);
  image.pRangeProfilerObject = profiler_;
  image.counterDataSize = data.size();
  image.pCounterData = data.data();
  check_cupti(cupti().cuptiRangeProfilerCounterDataImageInitialize(&image),
              "cuptiRangeProfilerCounterDataImageInitialize");

  ATTNPROF_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
  config.pRangeProfilerObject = profiler_;
  config.configSize = plan.config().size();
  config.pConfig = plan.config().data();
  config.counterDataImageSize = data.size();
  config.pCounterDataImage = data.data();
  config.range = CUPTI_UserRange;
  config.replayMode = CUPTI_UserReplay;
  config.maxRangesPerPass = ranges;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.targetNestingLevel = 0;
  config.passIndex = 0;
  check_cupti(cupti().cuptiRangeProfilerSetConfig(&config), "cuptiRangeProfilerSetConfig");
}

void RangeProfiler::push(size_t index) {
  ATTNPROF_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, params);
  params.pRangeProfilerObject = profiler_;
  params.pRangeName = range_names[index];
  check_cupti(cupti().cuptiRangeProfilerPushRange(&params), "cuptiRangeProfilerPushRange");
}

void RangeProfiler::pop() {
  ATTNPROF_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, params);
  params.pRangeProfilerObject = profiler_;
  check_cupti(cupti().cuptiRangeProfilerPopRange(&params), "cuptiRangeProfilerPopRange");
}

void RangeProfiler::start() {
  ATTNPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, params);
  params.pRangeProfilerObject = profiler_;
  check_cupti(cupti().cuptiRangeProfilerStart(&params), "cuptiRangeProfilerStart");
}

// True when it was the last pass.
bool RangeProfiler::stop() {
  ATTNPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
  params.pRangeProfilerObject = profiler_;
  check_cupti(cupti().cuptiRangeProfilerStop(&params), "cuptiRangeProfilerStop");
  return params.isAllPassSubmitted;
}

void RangeProfiler::run_range(size_t index, const std::function<void()>& work) {
  push(index);
  work();
  synchronise_();
  pop();
}

// One replay; true when it was the last. Start itself writes some 0.3 MB that would stay dirty in L2 and be
// taken for the operation's: so L2 is conditioned after it, outside any range.
bool RangeProfiler::run_pass(const std::function<void()>& before,
                             const std::vector<std::function<void()>>& ranges) {
  start();
  before();
  synchronise_();
  for (size_t i = 0; i < ranges.size(); ++i) run_range(i, ranges[i]);
  return stop();
}

void RangeProfiler::begin(MetricPlan& plan) {
  synchronise_();
  if (!pass_left_) {
    enable(plan);
    configure(plan, 1);
  }
  start();
  push(0);
}

bool RangeProfiler::end() {
  synchronise_();
  pop();
  pass_left_ = !stop();
  return pass_left_;
}

void RangeProfiler::abandon() {
  disable();
  pass_left_ = false;
}

CounterValues RangeProfiler::values() {
  decode(1);
  return plan_->evaluate(counter_data_, 0);
}

void RangeProfiler::decode(size_t ranges) {
  ATTNPROF_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, decoded);
  decoded.pRangeProfilerObject = profiler_;
  check_cupti(cupti().cuptiRangeProfilerDecodeData(&decoded), "cuptiRangeProfilerDecodeData");
  ATTNPROF_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = counter_data_.data();
  info.counterDataImageSize = counter_data_.size();
  check_cupti(cupti().cuptiRangeProfilerGetCounterDataInfo(&info), "cuptiRangeProfilerGetCounterDataInfo");
  if (decoded.numOfRangeDropped != 0 || info.numTotalRanges != ranges)
    throw CaseFailed(fmt::format("CUPTI decoded {} of {} counted ranges and dropped {}", info.numTotalRanges,
                                 ranges, decoded.numOfRangeDropped));
}

std::vector<CounterValues> RangeProfiler::collect(MetricPlan& plan, const std::function<void()>& before,
                                                  const std::vector<std::function<void()>>& ranges) {
  enable(plan);
  configure(plan, ranges.size());
  bool finished = false;
  for (size_t pass = 0; pass < max_passes && !finished; ++pass) finished = run_pass(before, ranges);
  if (!finished)
    throw CaseFailed(
        fmt::format("CUPTI was not finished after {} passes of a plan of {}", max_passes, plan.passes()));
  decode(ranges.size());
  std::vector<CounterValues> values;
  for (size_t i = 0; i < ranges.size(); ++i) values.push_back(plan.evaluate(counter_data_, i));
  return values;
}

}  // namespace attnprof
