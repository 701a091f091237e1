#include "model/l2_transition.hpp"

#include <gtest/gtest.h>

#include "device/device_profiles.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

struct Shape {
  const char* variant;
  Mask mask;
  int64_t batch, n, d;
};

bool in_transition(const Shape& shape, const DeviceProfile& device = *find_profile("h200")) {
  Case c;
  c.variant = find_variant(shape.variant);
  c.problem = {.mask = shape.mask,
               .batch = shape.batch,
               .heads = 16,
               .kv_heads = 16,
               .q_len = shape.n,
               .kv_len = shape.n,
               .head_dim = shape.d};
  c.tile = c.variant->default_tile(c.problem, device).tile;
  set_launches(c, device);
  return l2_in_transition(c, device);
}

// Cases whose HBM bytes two H200 processes counted 1.0 to 46 % apart.
TEST(L2Transition, HoldsForCasesThatScatteredOnAnH200) {
  for (const Shape& shape : {Shape{"flash1", Mask::full, 1, 4096, 64},
                             {"flash1", Mask::full, 1, 2048, 128},
                             {"flash1", Mask::full, 1, 8192, 64},
                             {"flash1", Mask::causal, 1, 4096, 64},
                             {"flash1", Mask::causal, 1, 2048, 128},
                             {"flash2", Mask::full, 8, 8192, 128}})
    EXPECT_TRUE(in_transition(shape)) << shape.variant << ' ' << shape.n << ' ' << shape.d;
}

// And some that came within 0.2 %: all of what is read again stays in L2, or none of it does.
TEST(L2Transition, DoesNotHoldForSteadyCases) {
  for (const Shape& shape : {Shape{"flash2", Mask::full, 1, 512, 64},
                             {"flash2", Mask::full, 1, 4096, 64},
                             {"flash1", Mask::full, 1, 1024, 64},
                             {"standard", Mask::full, 1, 4096, 64},
                             {"naive", Mask::full, 1, 4096, 64}})
    EXPECT_FALSE(in_transition(shape)) << shape.variant << ' ' << shape.n << ' ' << shape.d;
}

TEST(L2Transition, MovesWithTheDevicesL2) {
  const Shape shape{"flash1", Mask::full, 1, 1024, 64};
  DeviceProfile small = *find_profile("h200");
  small.l2_bytes /= 4;
  for (L2Point& point : small.l2_curve) point.mebibytes /= 4;
  EXPECT_FALSE(in_transition(shape));
  EXPECT_TRUE(in_transition(shape, small));
}

}  // namespace
}  // namespace attnprof
