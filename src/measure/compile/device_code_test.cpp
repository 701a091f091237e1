// Kernels read from files that nvcc built, held against what the compiler said of them.
#include "measure/compile/device_code.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "base/run_program.hpp"
#include "base/scratch.hpp"
#include "measure/compile/cubin.hpp"
#include "measure/compile/disassembly.hpp"
#include "measure/compile/elf_file.hpp"
#include "measure/compile/nvcc_fixture.hpp"
#include "measure/compile/ptxas_report.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Kernels with templates, static shared memory, launch bounds that make one spill, a function that is no
// kernel, and names of the file's own.
constexpr const char* kernels_source = R"(
__constant__ float table[64];
template <typename T, int N> __global__ void scale(T* x, T by) {
  __shared__ T tile[N];
  tile[threadIdx.x] = x[threadIdx.x] * by;
  __syncthreads();
  x[threadIdx.x] = tile[N - 1 - threadIdx.x] + (T)table[threadIdx.x % 64];
}
template __global__ void scale<float, 128>(float*, float);
template __global__ void scale<double, 256>(double*, double);
__device__ __noinline__ float called(float x) { return x * x + 1; }
namespace { __global__ void hidden(float* x) { x[0] = called(x[1]); } }
void launch(float* x) { hidden<<<1, 1>>>(x); }
extern "C" __global__ void __launch_bounds__(1024) spill(float* x) {
  float v[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) v[i] = x[i * 1024 + threadIdx.x];
  for (int k = 0; k < 10; ++k) {
#pragma unroll
    for (int i = 0; i < 96; ++i) v[i] = v[i] * v[(i * 7 + 3) % 96] + x[k];
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 96; ++i) sum += v[i] * x[i];
  x[threadIdx.x] = sum;
}
)";

class DeviceCodeTest : public NvccTest {
 protected:
  // nvcc's output, with what it said in `log_`.
  std::string built(const std::vector<std::string>& options, const std::string& output) {
    const std::string source = folder_ / "kernels.cu";
    write_text(source, kernels_source);
    std::vector<std::string> command = linking_nvcc();
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {source, "-o", folder_ / output});
    EXPECT_EQ(run_program(command, folder_ / "log"), 0) << text_of(folder_ / "log");
    log_ = text_of(folder_ / "log");
    return text_of(folder_ / output);
  }
  static std::vector<Cubin> cubins_of(std::string_view file, DeviceCode* found = nullptr) {
    std::vector<Cubin> all;
    const DeviceCode code =
        for_each_cubin(file, "f", [&](std::string_view cubin) { all.push_back(read_cubin(cubin, "f")); });
    if (found) *found = code;
    return all;
  }
  static std::map<std::string, CubinKernel> by_title(const Cubin& cubin) {
    std::map<std::string, CubinKernel> all;
    for (const CubinKernel& kernel : cubin.kernels) all[kernel_title(kernel.name)] = kernel;
    return all;
  }
  TemporaryFolder folder_;
  std::string log_;
};

constexpr const char *scale_float = "void scale<float, 128>(float*, float)",
                     *hidden = "(anonymous namespace)::hidden(float*)";

TEST_F(DeviceCodeTest, ACubinSaysWhatTheCompilerSaidOfIt) {
  for (const char* arch : {"sm_80", "sm_90a", "sm_120"}) {
    const std::vector<Cubin> all =
        cubins_of(built({"-cubin", fmt::format("-arch={}", arch), "-Xptxas", "-v"}, "k.cubin"));
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].arch, arch);
    EXPECT_EQ(all[0].compiler, find_toolchain().version);
    EXPECT_EQ(all[0].kernels.size(), 4u) << "called() is no kernel";
    for (const CubinKernel& kernel : all[0].kernels) {
      const auto said = parse_ptxas(log_, kernel.name);
      ASSERT_TRUE(said) << kernel.name;
      EXPECT_EQ(kernel.registers, said->registers) << kernel.name;
      EXPECT_GE(kernel.stack_bytes, said->stack_bytes) << kernel.name;
      EXPECT_EQ(kernel.smem_bytes, said->static_smem_bytes) << kernel.name << " for " << arch;
    }
    const auto kernels = by_title(all[0]);
    EXPECT_EQ(kernels.at(scale_float).smem_bytes, 512);
    EXPECT_EQ(kernels.at(scale_float).stack_bytes, 0);
    EXPECT_FALSE(kernels.at(scale_float).most_threads);
    EXPECT_GT(kernels.at(scale_float).constant_bytes, 12) << "its parameters, at least";
    EXPECT_GT(kernels.at("spill").stack_bytes, 0);
    EXPECT_EQ(kernels.at("spill").most_threads, 1024);
    EXPECT_TRUE(kernels.contains(hidden));
  }
}

TEST_F(DeviceCodeTest, EveryFileThatCarriesCubinsIsRead) {
  const std::vector<std::string> two = {"-gencode", "arch=compute_80,code=sm_80", "-gencode",
                                        "arch=compute_90,code=[sm_90,compute_90]"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), two.begin(), two.end());
    return more;
  };
  for (const auto& [options, file] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"-fatbin", "--compress-mode=size"}, "small.fatbin"},
           {{"-shared", "-Xcompiler", "-fPIC"}, "libk.so"},
           {{"-lib", "-rdc=true"}, "libk.a"}}) {
    DeviceCode found;
    std::map<std::string, int> kernels;  // by architecture
    for (const Cubin& cubin : cubins_of(built(with(options), file), &found)) {
      kernels[cubin.arch] += static_cast<int>(cubin.kernels.size());
      if (!cubin.kernels.empty()) {
        EXPECT_TRUE(by_title(cubin).contains(hidden)) << file;
      }
    }
    EXPECT_EQ(kernels["sm_80"], 4) << file;
    EXPECT_EQ(kernels["sm_90"], 4) << file;
    EXPECT_EQ(found.ptx, 1u) << file;
  }
}

// Older toolkits compress so.
TEST_F(DeviceCodeTest, Lz4) {
  void* library = dlopen("liblz4.so.1", RTLD_NOW);
  if (!library) GTEST_SKIP() << "there is no liblz4.so.1";
  const auto compress =
      reinterpret_cast<int (*)(const char*, char*, int, int)>(dlsym(library, "LZ4_compress_default"));
  const std::string plain =
      built({"-fatbin", "-gencode", "arch=compute_90,code=sm_90", "--compress-mode=none"}, "k.fatbin");
  constexpr size_t headers = 16 + 64;
  const std::string cubin = plain.substr(headers);
  std::string packed(cubin.size() + 1024, '\0');
  const int size =
      compress(cubin.data(), packed.data(), static_cast<int>(cubin.size()), static_cast<int>(packed.size()));
  packed.resize(static_cast<size_t>(size + 7) / 8 * 8);
  std::string file = plain.substr(0, headers) + packed;
  const auto put = [&](size_t at, auto value) { std::memcpy(file.data() + at, &value, sizeof value); };
  put(8, uint64_t{64} + packed.size());
  put(16 + 8, uint64_t{packed.size()});
  put(16 + 16, static_cast<uint32_t>(size));
  put(16 + 40, uint64_t{0x2011});
  put(16 + 56, uint64_t{cubin.size()});
  EXPECT_EQ(cubins_of(file).at(0).kernels.size(), 4u);
  put(16 + 56, uint64_t{cubin.size() + 1});
  EXPECT_THROW(cubins_of(file), UsageError);
  put(16 + 56, ~uint64_t{0});
  EXPECT_THROW(cubins_of(file), UsageError);
}

// Whatever is cut off or changed is a sentence or other numbers, and no crash.
TEST_F(DeviceCodeTest, DamagedFilesAreSentences) {
  const std::string library = built({"-shared", "-Xcompiler", "-fPIC", "-arch=sm_90"}, "libk.so"),
                    cubin = built({"-cubin", "-arch=sm_90"}, "k.cubin");
  const auto survives = [](const std::string& file) {
    try {
      cubins_of(file);
      return true;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith("f: "));
      return false;
    }
  };
  EXPECT_TRUE(survives(library));
  for (const std::string* whole : {&library, &cubin}) {
    const auto header = *part_at<Elf64_Ehdr>(*whole, 0);
    const size_t end = header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;  // of what is needed
    for (size_t size = 0; size < end; size += end / 97 + 1)
      EXPECT_FALSE(survives(whole->substr(0, size))) << size;
    uint32_t random = 1;
    for (int i = 0; i < 400; ++i) {
      std::string changed = *whole;
      for (int k = 0; k < 8; ++k) {
        random = random * 1664525 + 1013904223;
        changed[random % (i % 2 ? changed.size() : 4096)] = static_cast<char>(random >> 24);
      }
      survives(changed);
    }
  }
}

TEST(DeviceCode, WhatIsNoSuchFileIsASentence) {
  const auto refusal = [](const std::string& file) -> std::string {
    try {
      for_each_cubin(file, "f", [](std::string_view cubin) { read_cubin(cubin, "f"); });
    } catch (const UsageError& error) {
      return error.what();
    }
    return "read";
  };
  for (const std::string& file : {std::string(), std::string("text\n"), std::string(5000, '\0'),
                                  std::string("\x7f"
                                              "EL")})
    EXPECT_THAT(refusal(file), HasSubstr("f: it is no cubin, fatbin, object file")) << file.size();
  EXPECT_THAT(refusal("\x7f"
                      "ELF"),
              HasSubstr("cut short"));
  EXPECT_THAT(refusal("\x7f"
                      "ELF" +
                      std::string(60, '\x02')),
              HasSubstr("cut short"));
  EXPECT_THAT(refusal("\x50\xed\x55\xba" + std::string(12, '\x7f')), HasSubstr("cut short"));
  EXPECT_THAT(refusal("!<arch>\n" + std::string(60, ' ')), HasSubstr("cut short"));
  EXPECT_EQ(refusal(read_file("/proc/self/exe")), "read") << "a program without device code";
}

TEST_F(DeviceCodeTest, LocalAccessesAreThoseOfTheKernelThatSpills) {
  const std::string program = find_nvdisasm();
  if (program.empty()) GTEST_SKIP() << "there is no nvdisasm";
  const auto accesses = local_accesses(built({"-cubin", "-arch=sm_90"}, "k.cubin"), program, "f");
  EXPECT_GT(accesses.at("spill").loads, 0);
  EXPECT_GT(accesses.at("spill").stores, 0);
  EXPECT_EQ(accesses.at("_Z5scaleIfLi128EEvPT_S0_").loads, 0);
  EXPECT_THROW(local_accesses("garbage", program, "f"), EnvironmentError);
}

}  // namespace
}  // namespace attnprof
