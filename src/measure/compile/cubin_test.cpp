// Texts of and about machine code.
#include "measure/compile/cubin.hpp"

#include <gtest/gtest.h>

#include "measure/compile/disassembly.hpp"

namespace attnprof {
namespace {

TEST(KernelTitle, IsTheSameForAnotherBuildOfTheSource) {
  EXPECT_EQ(kernel_title("_Z5scaleIfLi128EEvPT_S0_"), "void scale<float, 128>(float*, float)");
  EXPECT_EQ(kernel_title("plain"), "plain");
  for (const char* name :
       {"_ZN38_GLOBAL__N__cb272044_7_anon_cu__Z2goPf6hiddenEPf",
        "__nv_static_27__cb272044_7_anon_cu__Z2goPf__ZN38_GLOBAL__N__cb272044_7_anon_cu__Z2goPf6hiddenEPf",
        "__nv_static_27__00000000_7_anon_cu__Z2goPf__ZN38_GLOBAL__N__00000000_7_anon_cu__Z2goPf6hiddenEPf"})
    EXPECT_EQ(kernel_title(name), "(anonymous namespace)::hidden(float*)");
  for (const char* odd : {"__nv_static_", "__nv_static_99_x", "__nv_static_x_y", "_Z", ""})
    EXPECT_EQ(kernel_title(odd), odd);
}

// As nvdisasm prints it.
TEST(DisassemblyText, LocalLoadsAndStoresAreCountedByFunction) {
  const auto all = parse_disassembly(
      "\t.section\t.text.one,\"ax\",@progbits\n"
      ".text.one:\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
      "        /*0010*/              @!P0 LDL.64 R2, [R1+0x8] ;\n"
      "        /*0020*/                   STL [R1], R2 ;\n"
      "        /*0030*/                   STL.128 [R1+0x10], R4 ;\n"
      "        /*0040*/                   LDLX R2 ;\n"
      "\t.section\t.text._Z3twoPf,\"ax\",@progbits\n"
      "        /*0000*/                   STG.E desc[UR4][R2.64], R5 ;\n");
  EXPECT_EQ(all.at("one").loads, 1);
  EXPECT_EQ(all.at("one").stores, 2);
  EXPECT_EQ(all.at("_Z3twoPf").loads + all.at("_Z3twoPf").stores, 0);
}

}  // namespace
}  // namespace attnprof
