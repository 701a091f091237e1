// attnprof resources on files that nvcc built, and its rows under the gate.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "base/csv.hpp"
#include "base/run_program.hpp"
#include "cli/run_fixture.hpp"
#include "measure/compile/nvcc_fixture.hpp"
#include "testing/set_variable.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Two kernels, the first with so many ints in registers.
std::string source(int ints) {
  return fmt::format(R"(
template <int N> __global__ void __launch_bounds__(256) sum(int* x) {{
  int v[N];
  for (int i = 0; i < N; ++i) v[i] = x[threadIdx.x + i * 256];
  int total = 0;
  for (int i = 0; i < N; ++i) total += v[i] * i;
  x[threadIdx.x] = total;
}}
template __global__ void sum<{}>(int*);
extern "C" __global__ void plain(int* x) {{
  __shared__ int kept[100];
  kept[threadIdx.x] = x[0];
  __syncthreads();
  x[threadIdx.x] = kept[99 - threadIdx.x];
}}
)",
                     ints);
}

// The first kernel with an array whose indices are not known when it is compiled.
std::string with_stack() {
  std::string text = source(32);
  return text.replace(text.find("v[i] * i"), 8, "v[x[i] % N]");
}

class ResourcesTest : public NvccTest {
 protected:
  std::string library(const std::string& name, const std::string& text) {
    write_text(folder_ / "k.cu", text);
    std::vector<std::string> command = linking_nvcc();
    command.insert(command.end(),
                   {"-shared", "-Xcompiler", "-fPIC", "-gencode", "arch=compute_80,code=sm_80", "-gencode",
                    "arch=compute_90,code=sm_90", folder_ / "k.cu", "-o", folder_ / name});
    EXPECT_EQ(run_program(command, folder_ / "log"), 0) << text_of(folder_ / "log");
    return folder_ / name;
  }
  // Cells of rows by the titles of their columns.
  static std::vector<std::map<std::string, std::string>> cells(const std::string& text) {
    const CsvText csv = parse_csv(text, "out");
    std::vector<std::map<std::string, std::string>> rows;
    for (size_t i = 1; i < csv.records.size(); ++i) {
      rows.emplace_back();
      for (size_t k = 0; k < csv.records[0].fields.size(); ++k)
        rows.back()[csv.records[0].fields[k]] = csv.records[i].fields.at(k);
    }
    return rows;
  }
  TemporaryFolder folder_;
};

TEST_F(ResourcesTest, EveryKernelOfEveryArchitectureIsARow) {
  const std::string file = library("libk.so", source(32));
  const Result result = run({"resources", file, "--block", "128", "--dynamic-smem", "1000", "--as", "libk.so",
                             "--format", "csv", "--disassembly", "off", "-o", folder_ / "o.csv"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, text_of(folder_ / "o.csv"));
  auto rows = cells(result.out);
  ASSERT_EQ(rows.size(), 4u);
  std::set<std::string> names;
  for (auto& row : rows) {
    names.insert(row["file"] + " " + row["arch"] + " " + row["kernel"]);
    EXPECT_EQ(row["threads_per_cta"], "128");
    EXPECT_EQ(row["smem_bytes"], row["kernel"] == "plain" ? "1400" : "1000");
    EXPECT_EQ(row["compiler"], find_toolchain().version);
    EXPECT_EQ(row["local_loads"], "");
    EXPECT_EQ(row["ctas_per_sm"], "16") << "2048 threads";
  }
  EXPECT_EQ(names, (std::set<std::string>{"libk.so sm_80 plain", "libk.so sm_80 void sum<32>(int*)",
                                          "libk.so sm_90 plain", "libk.so sm_90 void sum<32>(int*)"}));
  EXPECT_THAT(text_of(folder_ / "o.csv.meta.json"),
              AllOf(HasSubstr("\"backend\": \"resources\""),
                    HasSubstr("\"compiler\": \"" + find_toolchain().version)));
}

TEST_F(ResourcesTest, WithoutBlockTheLaunchBoundsCountAndWhatIsNotKnownIsSaid) {
  const Result result = run({"resources", library("libk.so", source(32)), "--format", "csv"});
  EXPECT_EQ(result.code, 0);
  for (auto& row : cells(result.out)) {
    EXPECT_EQ(row["threads_per_cta"], row["kernel"] == "plain" ? "" : "256");
    EXPECT_EQ(row["ctas_per_sm"].empty(), row["kernel"] == "plain");
  }
  EXPECT_THAT(result.err,
              HasSubstr("ctas_per_sm of 2 kernels without launch bounds is not known: give --block"));
}

TEST_F(ResourcesTest, TheGateFindsWhatGotWorse) {
  const auto rows = [&](const std::string& name, const std::string& text) {
    const Result read =
        run({"resources", library("libk.so", text), "--block", "100", "-o", folder_ / name, "--overwrite"});
    EXPECT_EQ(read.code, 0) << read.err;
    return folder_ / name;
  };
  const std::string base = rows("base.csv", source(32)),
                    same = rows("same.csv", source(32) + "// a comment\n");
  EXPECT_EQ(run({"gate", base, same}).code, 0);
  std::string larger = source(32);
  larger.replace(larger.find("kept[100]"), 9, "kept[110]");
  EXPECT_EQ(run({"gate", base, rows("larger.csv", larger)}).code, 0) << "as many blocks an SM";
  EXPECT_EQ(run({"gate", base, folder_ / "larger.csv", "--smem", "0"}).code, 1) << "asked for";
  std::string fewer = source(32);
  fewer.replace(fewer.find("kept[100]"), 9, "kept[8000]");
  const Result worse = run({"gate", base, rows("fewer.csv", fewer)});
  EXPECT_EQ(worse.code, 1);
  EXPECT_THAT(worse.out, AllOf(HasSubstr("2 of 2 kernels worse (plain)"), HasSubstr("shared memory"),
                               HasSubstr("blocks an SM"), HasSubstr("plain")));
  const Result spilled = run({"gate", base, rows("stack.csv", with_stack())});
  EXPECT_EQ(spilled.code, 1);
  EXPECT_THAT(spilled.out, AllOf(HasSubstr("worse"), HasSubstr("stack bytes"), HasSubstr("sum<32>")));
  EXPECT_EQ(run({"gate", base, base}).code, 0);
}

TEST_F(ResourcesTest, OtherThreadsABlockAreNotComparable) {
  const std::string file = library("libk.so", source(32));
  const std::string a = folder_ / "a.csv", b = folder_ / "b.csv";
  EXPECT_EQ(run({"resources", file, "--block", "128", "-o", a}).code, 0);
  EXPECT_EQ(run({"resources", file, "--block", "256", "-o", b}).code, 0);
  const Result refused = run({"gate", a, b});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("block (128 in the baseline, 256 now)"));
  EXPECT_EQ(run({"gate", a, b, "--allow-different", "block"}).code, 0);
}

// nvdisasm as it fails or answers, beside the nvcc that is named.
class DisassemblyTest : public ResourcesTest {
 protected:
  void SetUp() override {
    ResourcesTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    file_ = library("libk.so", with_stack());
    named_.emplace("CUDACXX", folder_ / "nvcc");
  }
  void nvdisasm(const std::string& script) const {
    write_text(folder_ / "nvdisasm", "#!/bin/sh\n" + script);
    std::filesystem::permissions(folder_ / "nvdisasm", std::filesystem::perms::owner_all);
  }
  Result read(const std::string& disassembly, const std::string& name) const {
    return run({"resources", file_, "--block", "128", "--format", "csv", "--disassembly", disassembly, "-o",
                folder_ / name});
  }
  std::string file_;
  std::optional<SetVariable> named_;
};

constexpr const char* lists_sum = R"(printf '\t.section\t.text._Z3sumILi32EEvPi,"ax",@progbits\n'
cat <<'END'
        /*0000*/                   LDL R2, [R1] ;
        /*0010*/                   STL [R1], R2 ;
        /*0020*/                   LDL R3, [R1+0x4] ;
END
)";

TEST_F(DisassemblyTest, OneThatFailsCostsItsColumnsAlone) {
  nvdisasm("echo 'nvdisasm fatal   : cannot read it'; exit 1\n");
  const Result result = read("auto", "rows.csv");
  ASSERT_EQ(result.code, 0) << result.err;
  for (auto& row : cells(result.out)) {
    EXPECT_EQ(row["local_loads"], row["kernel"] == "plain" ? "0" : "");
    EXPECT_NE(row["registers"], "");
  }
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("local loads and stores of 2 kernels with a stack are not known: "),
                    HasSubstr("does not disassemble it (exit code 1: "), HasSubstr("of a newer toolkit")));
  const Result asked = read("on", "on.csv");
  EXPECT_EQ(asked.code, 3);
  EXPECT_THAT(asked.err, HasSubstr("does not disassemble it"));
}

TEST_F(DisassemblyTest, OneThatLeavesOutAKernelIsNoMissingOne) {
  nvdisasm("exit 0\n");
  const Result result = read("auto", "rows.csv");
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("/nvdisasm does not list all kernels"),
                                Not(HasSubstr("there is no nvdisasm"))));
  const Result asked = read("on", "on.csv");
  EXPECT_EQ(asked.code, 3);
  EXPECT_THAT(asked.err, HasSubstr("/nvdisasm does not list all kernels"));
}

TEST_F(DisassemblyTest, FilesWithAndWithoutItAreComparable) {
  nvdisasm(lists_sum);
  const Result with = read("on", "with.csv"), without = read("off", "without.csv");
  ASSERT_EQ(with.code, 0) << with.err;
  ASSERT_EQ(without.code, 0) << without.err;
  for (auto& row : cells(with.out)) {
    EXPECT_EQ(row["local_loads"], row["kernel"] == "plain" ? "0" : "2");
    EXPECT_EQ(row["local_stores"], row["kernel"] == "plain" ? "0" : "1");
  }
  EXPECT_EQ(cells(with.out).front()["env_id"], cells(without.out).front()["env_id"]);
  const std::string a = folder_ / "with.csv", b = folder_ / "without.csv";
  for (const auto& [base, now] : {std::pair{a, b}, {b, a}}) {
    const Result gated = run({"gate", base, now});
    EXPECT_EQ(gated.code, 0) << gated.out << gated.err;
    EXPECT_THAT(gated.out, HasSubstr("4 of 4 rows the same"));
  }
}

TEST_F(ResourcesTest, PtxAloneIsSaidHoweverQuietItIs) {
  write_text(folder_ / "k.cu", source(32));
  ASSERT_EQ(run_program({find_toolchain().nvcc, "-fatbin", "-gencode", "arch=compute_80,code=compute_80",
                         folder_ / "k.cu", "-o", folder_ / "ptx.fatbin"},
                        folder_ / "log"),
            0);
  const Result alone = run({"--quiet", "resources", folder_ / "ptx.fatbin"});
  EXPECT_EQ(alone.code, 3);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("there is no kernel"), HasSubstr("is PTX alone; build it for an")));
  const Result beside = run({"resources", folder_ / "ptx.fatbin", library("libk.so", source(32))});
  EXPECT_EQ(beside.code, 0);
  EXPECT_THAT(beside.err, HasSubstr("is PTX alone; build it for an"));
}

// A fatbin with one cubin many times, as libraries with thousands of instances have them.
TEST_F(ResourcesTest, ThousandsOfKernelsAreReadQuicklyAndAreRowsOfTheirOwn) {
  constexpr size_t copies = 3000;
  write_text(folder_ / "k.cu", source(32));
  ASSERT_EQ(run_program({find_toolchain().nvcc, "-fatbin", "--compress-mode=none", "-gencode",
                         "arch=compute_90,code=sm_90", folder_ / "k.cu", "-o", folder_ / "k.fatbin"},
                        folder_ / "log"),
            0);
  const std::string one = text_of(folder_ / "k.fatbin");
  std::string many;
  for (size_t i = 0; i < copies; ++i) many += one;
  write_text(folder_ / "many.fatbin", many);
  const auto start = std::chrono::steady_clock::now();
  const Result result =
      run({"resources", folder_ / "many.fatbin", "--disassembly", "off", "--format", "csv"});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  const auto rows = cells(result.out);
  ASSERT_EQ(rows.size(), 2 * copies);
  EXPECT_EQ(rows[0].at("copy"), "");
  EXPECT_EQ(rows[3].at("copy"), "2");
  EXPECT_EQ(rows.back().at("copy"), fmt::format("{}", copies));
  write_text(folder_ / "many.csv", result.out);
  EXPECT_EQ(run({"gate", folder_ / "many.csv", folder_ / "many.csv"}).code, 0);
}

TEST(Resources, WhatCannotBeReadIsASentence) {
  const TemporaryFolder folder;
  write_text(folder / "text", "no machine code\n");
  write_text(folder / "empty", "");
  const auto refused = [&](const Args& args, int code, const std::string& sentence) {
    const Result result = run(args);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(sentence));
    EXPECT_EQ(result.out, "");
  };
  refused({"resources", folder / "text"}, 2, "it is no cubin, fatbin, object file, library or executable");
  refused({"resources", folder / "empty"}, 2, "it is no cubin");
  for (const std::string& file : {folder / "none", folder / "", std::string("/dev/zero")})
    refused({"resources", file}, 2, "is no file that can be read");
  refused({"resources", "/proc/self/exe"}, 3, "there is no kernel");
  refused({"resources"}, 2, "FILE is missing; see attnprof resources --help");
  refused({"resources", folder / "text", "--block", "0"}, 2, "--block '0'");
  refused({"resources", folder / "text", "--block", "2000"}, 2, "--block");
  refused({"resources", folder / "text", folder / "text", "--as", "x"}, 2, "names one file");
  refused({"resources", folder / "text", folder / "empty", folder / "text"}, 2,
          "text is given twice; give each file once");
  refused({"resources", folder / "text", folder / "./text"}, 2, "/./text are one file; give it once");
  refused({"resources", folder / "text", "-o", folder / "text", "--overwrite"}, 2, "text");
  EXPECT_EQ(text_of(folder / "text"), "no machine code\n");
}

}  // namespace
}  // namespace attnprof
