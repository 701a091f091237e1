// What a case refuses of its variant.
#include "schedule/case.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace attnprof {
namespace {

// A variant of these tests alone, with so many workspaces and one launch.
Case case_with(int workspaces, const decltype(Step::launch)& launch) {
  static Variant variant;
  variant.name = "slots";
  variant.workspace = [workspaces](const Problem&, const Tile&) {
    return std::vector<Operand>(static_cast<size_t>(workspaces),
                                {"w", Role::workspace, Init::zero, ElementType::fp32, 1, 1, 1, 8, 8});
  };
  variant.steps = [launch](const Problem&, const Tile&, const DeviceProfile&) {
    return std::vector<Step>{{.name = "one", .launch = launch, .schedule = {}}};
  };
  Case c;
  c.variant = &variant;
  c.problem.q_len = c.problem.kv_len = 16;
  return c;
}

KernelLaunch with_maps(size_t maps, OperandId id) {
  KernelLaunch kernel;
  kernel.tensor_maps.resize(maps, {.operand = id});
  return kernel;
}

TEST(Case, TakesAsManyWorkspacesAsAKernelFinds) {
  Case c = case_with(attention_max_workspaces, KernelLaunch{});
  set_launches(c, {});
  EXPECT_EQ(c.operands.size(), 4u + attention_max_workspaces);
  c = case_with(attention_max_workspaces + 1, KernelLaunch{});
  EXPECT_THROW(set_launches(c, {}), std::length_error);
}

TEST(Case, TakesAsManyTensorMapsAsALaunchHas) {
  Case c = case_with(0, with_maps(attention_max_tensor_maps, operand_k));
  set_launches(c, {});
  EXPECT_EQ(c.steps.size(), 1u);
  c = case_with(0, with_maps(attention_max_tensor_maps + 1, operand_k));
  EXPECT_THROW(set_launches(c, {}), std::logic_error);
}

TEST(Case, LaunchesNameOperandsThatAreThere) {
  for (const OperandId id : {operand_k, operand_workspace}) {
    Case c = case_with(id == operand_workspace ? 0 : 1, with_maps(1, id));
    if (id == operand_k)
      EXPECT_NO_THROW(set_launches(c, {}));
    else
      EXPECT_THROW(set_launches(c, {}), std::logic_error);
  }
  Case gemm = case_with(1, GemmLaunch{.a = operand_q, .b = operand_k, .c = workspace_id(1)});
  EXPECT_THROW(set_launches(gemm, {}), std::logic_error);
  Case memset = case_with(1, MemsetLaunch{.operand = operand_lse});
  EXPECT_THROW(set_launches(memset, {}), std::logic_error);
}

}  // namespace
}  // namespace attnprof
