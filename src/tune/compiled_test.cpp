#include "tune/compiled.hpp"

#include <gmock/gmock.h>

#include "device/device_profiles.hpp"
#include "measure/compile/compile_fixture.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

// One launch of the fixture's kernel, for which its nvcc reports 26 registers and 16 bytes of spills.
std::vector<Step> one_step(const Problem&, const Tile& tile, const DeviceProfile&) {
  KernelLaunch kernel{.file = "k.cu",
                      .entry = "k",
                      .macros = {{"TILE_BR", std::to_string(tile.br)}},
                      .grid = {},
                      .threads = tile.br,
                      .smem_bytes = tile.bc};
  return {Step{"only", kernel, {}}};
}
std::vector<Operand> no_workspace(const Problem&, const Tile&) { return {}; }
const Variant the_variant{"one", "", "", nullptr, nullptr, no_workspace, one_step};

class CompiledReason : public CompileTest {
 protected:
  std::optional<std::string> reason(const Tile& tile, bool keep_spills) {
    Case c;
    c.variant = &the_variant;
    c.tile = tile;
    set_launches(c, *find_profile("h200"));
    KernelCompiler compiler(options());
    return compiled_reason(c, *find_profile("h200"), compiler, keep_spills);
  }
};

TEST_F(CompiledReason, Spills) {
  EXPECT_EQ(reason({64, 1024}, false), "k spills 16 bytes a thread at 26 registers");
  EXPECT_EQ(reason({64, 1024}, true), std::nullopt);
}

TEST_F(CompiledReason, WhatABlockMayHave) {
  EXPECT_THAT(reason({64, 232448}, true).value_or("fits"),
              HasSubstr("232576 bytes of shared memory a block, h200 allows 232448"));
  EXPECT_THAT(reason({4096, 16}, true).value_or("fits"), HasSubstr("26 registers for each of 4096 threads"));
}

TEST_F(CompiledReason, WhatDoesNotCompile) {
  write(kernels() / "k.cu", "FAIL");
  EXPECT_THAT(reason({64, 1024}, true).value_or("compiles"), HasSubstr("\"nope\" is undefined"));
}

}  // namespace
}  // namespace attnprof
