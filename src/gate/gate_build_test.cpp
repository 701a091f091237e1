// The gate on files of `attnprof compile`.
#include "gate/gate_fixture.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

// A line of attnprof compile -o.
std::string built(const char* tile, int br, int registers, int spills, const char* error = "") {
  const std::string figures = *error ? ",,0," : fmt::format("{},{},0,49152", registers, spills);
  return fmt::format("flash2,fwd,sm_90a,fp16,full,1,16,16,512,512,64,{},-,{},64,-,128,{},h,f.cu,e,{}\n", tile,
                     br, figures, error);
}

constexpr const char* build_header =
    "variant,step,arch,dtype,mask,batch,heads,kv_heads,q_len,kv_len,head_dim,tile,knobs,br,bc,knobs_used,"
    "threads_per_cta,registers,spill_bytes,stack_bytes,smem_bytes,code_hash,file,entry,error\n";

TEST(Gate, BuildFiles) {
  const auto kernel = [](int registers, int spills, const char* error = "") {
    return build_header + built("auto", 128, registers, spills, error);
  };
  EXPECT_EQ(gate_texts(kernel(128, 0), kernel(128, 0)).code, 0);
  EXPECT_EQ(gate_texts(kernel(128, 0), kernel(130, 16)).verdicts, "worse spill_bytes\nworse registers\n");
  EXPECT_EQ(gate_texts(kernel(128, 0), kernel(0, 0, "syntax error")).code, 3)
      << "no kernel compiles: nothing compared";
  EXPECT_EQ(gate_texts(kernel(128, 0), csv_of({measured_row()})).code, 2);
  EXPECT_THAT(gate_texts("variant,step,arch,entry\nflash2,fwd,sm_90a,e\n", kernel(128, 0)).error,
              HasSubstr("make the file again with this version's attnprof compile -o"));
}

// Build files did not say the pass before; it was forward.
TEST(Gate, BuildFilesOlderThanTheirPassColumn) {
  const std::string old = build_header + built("auto", 128, 128, 0);
  const auto with_pass = [&](const std::string& pass) {
    return replaced(replaced(old, "arch,dtype", "arch,pass,dtype"), "sm_90a,fp16",
                    "sm_90a," + pass + ",fp16");
  };
  EXPECT_EQ(gate_texts(old, with_pass("fwd")).code, 0);
  EXPECT_EQ(gate_texts(old, with_pass("bwd")).code, 3) << "another row";
  EXPECT_THAT(gate_texts(replaced(old, ",q_len,", ",length,"), old).error,
              HasSubstr("base.csv, line 1: column q_len is missing; make the file again"));
}

TEST(Gate, AChangedDefaultTileOfABuildIsReportedAndCompared) {
  const auto file = [](const char* tile, int br, int registers) {
    return build_header + built(tile, br, registers, 0);
  };
  const Outcome smaller = gate_texts(file("auto", 128, 200), file("auto", 64, 128));
  EXPECT_EQ(smaller.code, 0);
  EXPECT_EQ(smaller.verdicts, "better registers\ntile\n");
  EXPECT_EQ(gate_texts(file("auto", 64, 128), file("auto", 128, 200)).verdicts, "worse registers\ntile\n");
  EXPECT_EQ(gate_texts(file("64x64", 64, 128), file("128x64", 128, 128)).code, 3)
      << "tiles asked for are other rows: nothing compared";
}

}  // namespace
}  // namespace attnprof
