// The gate on files of `attnprof compile` and `attnprof resources`.
#include "gate/baseline.hpp"
#include "gate/gate_fixture.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A line of attnprof compile -o.
struct Built {
  std::string tile = "auto";  // as asked for
  int br = 128, registers = 128, spills = 0, stack = 0, smem = 49152, threads = 128;
  std::string ctas = "3", error = "", env_id = "e1";
  std::string line() const {
    const std::string figures = error.empty()
                                    ? fmt::format("{},{},{},{},{}", registers, spills, stack, smem, ctas)
                                    : std::string(",,,,");
    return fmt::format(
        "flash2,fwd,sm_90a,fp16,full,64,{},-,{},64,STAGES=2,r1,{},stages=2,{},{},h,f.cu,e,{}\n", tile, br,
        env_id, threads, figures, error);
  }
};

constexpr const char* build_header =
    "variant,step,arch,dtype,mask,head_dim,tile,knobs,br,bc,macros,run,env_id,knobs_used,"
    "threads_per_cta,registers,spill_bytes,stack_bytes,smem_bytes,ctas_per_sm,code_hash,file,entry,error\n";

std::string file_of(const std::vector<Built>& rows) {
  std::string text = build_header;
  for (const Built& row : rows) text += row.line();
  return text;
}
Outcome gated(const Built& baseline, const Built& current, const GateOptions& options = {}) {
  return gate_texts(file_of({baseline}), file_of({current}), options);
}

TEST(Gate, BuildFiles) {
  EXPECT_EQ(gated({}, {}).code, 0);
  EXPECT_EQ(gated({}, {.spills = 16}).verdicts, "worse spill_bytes\n");
  EXPECT_EQ(gated({}, {.stack = 8}).verdicts, "worse stack_bytes\n");
  EXPECT_EQ(gated({}, {.error = "syntax error"}).code, 1) << "no kernel compiles any longer";
  EXPECT_EQ(gate_texts(file_of({{}}), csv_of({measured_row()})).code, 2);
  EXPECT_THAT(gate_texts("variant,step,arch,entry\nflash2,fwd,sm_90a,e\n", file_of({{}})).error,
              HasSubstr("make the file again with this version's attnprof compile -o"));
}

// As the program wrote them before kernels had a run.
TEST(Gate, OlderBuildFilesAreToBeMadeAgain) {
  const std::string old =
      "variant,step,arch,dtype,mask,batch,heads,kv_heads,q_len,kv_len,head_dim,tile,knobs,br,bc,knobs_used,"
      "threads_per_cta,registers,spill_bytes,stack_bytes,smem_bytes,code_hash,file,entry,error\n";
  EXPECT_THAT(gate_texts(old, old).error,
              AllOf(HasSubstr("is missing; make the file again with this version's"),
                    HasSubstr("base.csv, line 1: column ")));
}

TEST(Gate, RegistersAndSharedMemoryCountByTheBlocksTheyLeaveRoomFor) {
  EXPECT_EQ(gated({}, {.registers = 130, .smem = 50176}).verdicts, "") << "as many blocks an SM as before";
  EXPECT_EQ(gated({}, {.registers = 120, .smem = 40000}).verdicts, "");
  EXPECT_EQ(gated({}, {.registers = 176, .ctas = "2"}).verdicts, "worse registers\nworse ctas_per_sm\n");
  EXPECT_EQ(gated({}, {.smem = 98304, .ctas = "2"}).verdicts, "worse smem_bytes\nworse ctas_per_sm\n");
  EXPECT_EQ(gated({}, {.registers = 96, .ctas = "4"}).verdicts, "better registers\nbetter ctas_per_sm\n");
  EXPECT_EQ(gated({}, {.registers = 130, .spills = 4}).verdicts, "worse spill_bytes\n") << "spills always";
}

// A sweep says it as a share of the warps that an SM can hold.
TEST(Gate, RegistersOfASweepCountByItsOccupancy) {
  const auto row = [](int64_t registers, double occupancy) {
    return csv_of({changed([&](Row& each) {
      each.build.registers = registers;
      each.build.theoretical_occupancy_pct = occupancy;
    })});
  };
  EXPECT_EQ(gate_texts(row(128, 25), row(160, 25)).verdicts, "");
  EXPECT_EQ(gate_texts(row(128, 25), row(200, 12.5)).verdicts, "worse registers\n");
}

TEST(Gate, BlocksOfAnotherSizeAreCountedByTheirWarps) {
  EXPECT_EQ(gated({.threads = 128, .ctas = "4"}, {.threads = 256, .ctas = "2"}).verdicts, "");
  EXPECT_EQ(gated({.threads = 128, .ctas = "4"}, {.registers = 255, .threads = 256, .ctas = "1"}).verdicts,
            "worse registers\nworse ctas_per_sm\n");
}

TEST(Gate, ARegisterThatIsAskedForIsJudgedByItself) {
  GateOptions options;
  for (Metric& metric : options.metrics) metric.by_blocks = false;
  EXPECT_EQ(gated({}, {.registers = 130}, options).verdicts, "worse registers\n");
}

TEST(Gate, WhereBlocksAreNotKnownAnyMoreIsWorse) {
  EXPECT_EQ(gated({.ctas = ""}, {.registers = 130, .ctas = ""}).verdicts, "worse registers\n");
  EXPECT_EQ(gated({}, {.registers = 130, .ctas = ""}).verdicts, "worse registers\n");
}

TEST(Gate, AChangedDefaultTileOfABuildIsReportedAndCompared) {
  const Outcome smaller = gated({.registers = 200, .ctas = "2"}, {.br = 64, .registers = 128, .ctas = "4"});
  EXPECT_EQ(smaller.code, 0);
  EXPECT_EQ(smaller.verdicts, "better registers\nbetter ctas_per_sm\ntile\n");
  EXPECT_EQ(gated({.br = 64, .registers = 128, .ctas = "4"}, {.registers = 200, .ctas = "2"}).verdicts,
            "worse registers\nworse ctas_per_sm\ntile\n");
  EXPECT_EQ(gated({.tile = "64x64", .br = 64}, {.tile = "128x64"}).code, 3)
      << "tiles asked for are other rows: nothing compared";
}

// A plan of more sizes has more default tiles: those that both files have are held against each other.
TEST(Gate, KernelsThatBothPlansHaveAreMatchedFirst) {
  const Outcome more = gate_texts(file_of({{.br = 64}}), file_of({{.br = 128}, {.br = 64}}));
  EXPECT_EQ(more.code, 0);
  EXPECT_EQ(more.verdicts, "new\n");
  EXPECT_EQ(gate_texts(file_of({{.br = 64}, {.br = 128}}), file_of({{.br = 32}, {.br = 64}})).verdicts,
            "tile\n");
  EXPECT_EQ(gate_texts(file_of({{.br = 64}, {.br = 128}}), file_of({{.br = 64}})).verdicts, "missing\n");
}

TEST(Gate, ARenewedBaselineHasTheNewDefaultTileAlone) {
  const std::string old_text = file_of({{.br = 64}}), new_text = file_of({{.br = 128}});
  std::istringstream old_stream(old_text), new_stream(new_text);
  const Table baseline(old_stream, "base.csv", {}, default_metrics()),
      current(new_stream, "new.csv", {}, default_metrics());
  const BaselineUpdate update = updated_baseline(old_text, {}, baseline, new_text, {}, current, "last");
  EXPECT_EQ(update.csv, new_text);
  EXPECT_EQ(update.replaced, 1u);
}

TEST(Gate, ATileIsWrittenWholeOrByTheNameOfItsSide) {
  std::istringstream stream(file_of({{.br = 128}}));
  const Table table(stream, "base.csv", {}, default_metrics());
  const auto& key = table.layout().key;
  const auto without = [&](std::string_view name) {
    std::vector<bool> columns;
    for (const std::string& column : key) columns.push_back(column != name);
    return table.label(0, columns);
  };
  EXPECT_THAT(table.label(0), HasSubstr(" 128x64 STAGES=2"));
  EXPECT_THAT(without("br"), HasSubstr(" bc=64 STAGES=2"));
  EXPECT_THAT(without("bc"), HasSubstr(" br=128 STAGES=2"));
}

TEST(Gate, AnotherToolkitIsNotComparable) {
  const std::string old_file = file_of({{}}), new_file = file_of({{.env_id = "e2"}});
  const auto meta = [](const char* nvcc) { return meta_of("r1", {{"nvcc", nvcc}}); };
  const Outcome refused = gate_texts(old_file, new_file, {}, meta("12.8.93"), meta("13.0.88"));
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.error, AllOf(HasSubstr("nvcc (12.8.93 in the baseline, 13.0.88 now)"),
                                   HasSubstr("--allow-different nvcc")));
  GateOptions allowed;
  allowed.allow_different = {"nvcc"};
  EXPECT_EQ(gate_texts(old_file, new_file, allowed, meta("12.8.93"), meta("13.0.88")).code, 0);
  EXPECT_THAT(gate_texts(old_file, new_file).error, HasSubstr("base.csv.meta.json is missing"));
}

// A line of attnprof resources -o.
std::string read_kernel(const std::string& kernel, const std::string& copy, int registers,
                        const std::string& loads, const std::string& ctas = "3") {
  return fmt::format("libk.so,sm_90,\"{}\",{},r1,e1,128,{},0,512,544,{},{},{},h\n", kernel, copy, registers,
                     loads, loads, ctas);
}
constexpr const char* resources_header =
    "file,arch,kernel,copy,run,env_id,threads_per_cta,registers,stack_bytes,smem_bytes,constant_bytes,local_loads,"
    "local_stores,ctas_per_sm,code_hash\n";

TEST(Gate, FilesOfResources) {
  const auto file = [](const std::string& rows) { return resources_header + rows; };
  const std::string base =
      file(read_kernel("f<int, 2>(int*)", "", 32, "0") + read_kernel("f<int, 2>(int*)", "2", 40, "0"));
  EXPECT_EQ(gate_texts(base, base).code, 0);
  const Outcome worse = gate_texts(
      base, file(read_kernel("f<int, 2>(int*)", "", 64, "0") + read_kernel("f<int, 2>(int*)", "2", 40, "7")));
  EXPECT_EQ(worse.verdicts, "worse local_loads\nworse local_stores\n") << "registers leave as many blocks";
  EXPECT_EQ(gate_texts(base, file(read_kernel("f<int, 2>(int*)", "", 32, ""))).verdicts, "missing\n")
      << "local loads that are not known are not compared";
  EXPECT_THAT(gate_texts(base, file_of({{}})).error,
              AllOf(HasSubstr("attnprof resources"), HasSubstr("attnprof compile")));
}

}  // namespace
}  // namespace attnprof
