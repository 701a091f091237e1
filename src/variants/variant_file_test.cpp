#include "variants/variant_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "error.hpp"
#include "model/device_profiles.hpp"
#include "plan/sweep.hpp"
#include "test_paths.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

json whole() {
  return json::parse(R"json({
    "attnprof_variant": 1, "name": "mine", "idea": "one",
    "supports": {"dtypes": ["fp16", "bf16"], "masks": ["causal"], "archs": ["sm_90a", "sm_80"],
                 "tiles": [[64, 32], [24, 8]], "head_dim": {"multiple_of": 32, "min": 64, "max": 128},
                 "kv_len": [512, 1024], "group": {"max": 4}},
    "tile": {"br": 64, "bc": 32, "why": "it is mine"},
    "workspace": [{"name": "m", "dtype": "fp32", "batch": "batch", "heads": "heads", "rows": "q_len", "cols": 1},
                  {"name": "done", "dtype": "fp32", "cols": "ceil(q_len / br)", "init": "zero"}],
    "steps": [
      {"name": "before", "file": "mine.cu", "entry": "clear", "threads": 32, "grid": [1], "timed": false},
      {"file": "mine.cu", "entry": "mine", "macros": {"WARPS": 4, "TYPE": "f<{br / 16}, {bc}>", "P": "x"},
       "threads": "br * 4", "grid": ["ceil(q_len / br)", "heads", "batch"],
       "smem_bytes": "(br + 2 * bc) * head_dim * element_bytes"}]})json");
}

struct Files {
  TemporaryFolder folder;
  std::string write(const json& content) { return write_raw(content.dump(2)); }
  std::string write_raw(const std::string& text) {
    write_text(folder / "mine.cu", "");
    write_text(folder / "mine.json", text);
    return folder / "mine.json";
  }
};

Problem problem() {
  return {.mask = Mask::causal,
          .batch = 2,
          .heads = 8,
          .kv_heads = 4,
          .q_len = 1000,
          .kv_len = 512,
          .head_dim = 64};
}
const DeviceProfile& device() { return *find_profile("h200"); }
constexpr Tile tile = {64, 32};

TEST(VariantFile, IsAVariant) {
  Files files;
  const Variant v = load_variant_file(files.write(whole()));
  EXPECT_EQ(v.name, "mine");
  EXPECT_EQ(v.idea, "one");
  EXPECT_EQ(v.needs,
            "sm_90a, sm_80; fp16, bf16; mask causal; group up to 4; kv_len 512, 1024; head_dim multiple of "
            "32 from 64 "
            "up to 128; tile 64x32, 24x8");
  EXPECT_EQ(v.origin, files.folder / "mine.json");
  EXPECT_EQ(v.default_tile(problem(), device()).tile, tile);
  EXPECT_EQ(v.default_tile(problem(), device()).reason, "it is mine");
  EXPECT_EQ(v.unsupported(problem(), tile, device()), std::nullopt);
  EXPECT_THAT(v.candidates(problem(), device()), ElementsAre(tile, Tile{24, 8}));
}

TEST(VariantFile, StepsFollowItsRules) {
  Files files;
  const Variant v = load_variant_file(files.write(whole()));
  const std::vector<Step> steps = v.steps(problem(), tile, device());
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].name, "before");
  EXPECT_FALSE(steps[0].timed);
  EXPECT_EQ(steps[1].name, "mine");
  EXPECT_TRUE(steps[1].timed);
  EXPECT_FALSE(steps[1].schedule.run);
  const auto& kernel = std::get<KernelLaunch>(steps[1].launch);
  EXPECT_EQ(kernel.file, std::filesystem::canonical(files.folder / "mine.cu").string());
  EXPECT_EQ(kernel.entry, "mine");
  EXPECT_EQ(kernel.threads, 256);
  EXPECT_EQ(kernel.grid.x, 16);
  EXPECT_EQ(kernel.grid.y, 8);
  EXPECT_EQ(kernel.grid.z, 2);
  EXPECT_EQ(kernel.smem_bytes, 128 * 64 * 2);
  EXPECT_THAT(kernel.macros, ElementsAre(Pair("DTYPE", "1"), Pair("HEAD_DIM", "64"), Pair("TILE_BR", "64"),
                                         Pair("TILE_BC", "32"), Pair("CAUSAL", "1"), Pair("P", "x"),
                                         Pair("TYPE", "f<4, 32>"), Pair("WARPS", "4")));
}

TEST(VariantFile, WorkspaceFollowsItsRules) {
  Files files;
  const Variant v = load_variant_file(files.write(whole()));
  const std::vector<Operand> all = v.workspace(problem(), tile);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].bytes(), 2 * 8 * 1000 * 4);
  EXPECT_EQ(all[0].init, Init::poison);
  EXPECT_EQ(all[1].bytes(), 16 * 4);
  EXPECT_EQ(all[1].init, Init::zero);
}

TEST(VariantFile, HasAFingerprintOfItsText) {
  Files files;
  const Variant first = load_variant_file(files.write(whole()));
  EXPECT_EQ(load_variant_file(files.write(whole())).fingerprint, first.fingerprint);
  json other = whole();
  other["steps"][1]["threads"] = "br * 2";
  EXPECT_NE(load_variant_file(files.write(other)).fingerprint, first.fingerprint);
}

TEST(VariantFile, MayHaveCommentsAndNoTile) {
  Files files;
  json small = whole();
  small.erase("tile");
  small["supports"].erase("tiles");
  const Variant v = load_variant_file(files.write_raw("// mine\n" + small.dump()));
  EXPECT_EQ(v.default_tile(problem(), device()).tile, Tile{});
  EXPECT_THAT(v.unsupported(problem(), tile, device()).value_or(""), HasSubstr("takes no tile"));
  EXPECT_THAT(v.unsupported(problem(), {}, device()).value_or(""), HasSubstr("divides by zero"));
}

struct Skip {
  const char* sentence;
  void (*change)(Problem&, Tile&, DeviceProfile&);
};
void PrintTo(const Skip& skip, std::ostream* out) { *out << skip.sentence; }
class VariantFileSkip : public testing::TestWithParam<Skip> {};

TEST_P(VariantFileSkip, IsASentence) {
  Files files;
  const Variant v = load_variant_file(files.write(whole()));
  Problem p = problem();
  Tile t = tile;
  DeviceProfile d = device();
  GetParam().change(p, t, d);
  EXPECT_EQ(v.unsupported(p, t, d).value_or("runs"), GetParam().sentence);
}

INSTANTIATE_TEST_SUITE_P(Kinds, VariantFileSkip,
                         testing::Values(Skip{"mine takes dtype fp16, bf16, not fp32",
                                              [](Problem& p, Tile&, DeviceProfile&) {
                                                p.dtype = Dtype::fp32;
                                              }},
                                         Skip{"mine takes mask causal, not full",
                                              [](Problem& p, Tile&, DeviceProfile&) { p.mask = Mask::full; }},
                                         Skip{"mine takes devices of sm_90a, sm_80, not sm_100a (h200)",
                                              [](Problem&, Tile&, DeviceProfile& d) { d.arch = "sm_100a"; }},
                                         Skip{"mine takes tile 64x32, 24x8, not 64x64",
                                              [](Problem&, Tile& asked, DeviceProfile&) { asked.bc = 64; }},
                                         Skip{"mine takes head_dim multiple of 32 from 64 up to 128, not 32",
                                              [](Problem& p, Tile&, DeviceProfile&) { p.head_dim = 32; }},
                                         Skip{"mine takes head_dim multiple of 32 from 64 up to 128, not 80",
                                              [](Problem& p, Tile&, DeviceProfile&) { p.head_dim = 80; }},
                                         Skip{"mine takes head_dim multiple of 32 from 64 up to 128, not 160",
                                              [](Problem& p, Tile&, DeviceProfile&) { p.head_dim = 160; }},
                                         Skip{"mine takes kv_len 512, 1024, not 513",
                                              [](Problem& p, Tile&, DeviceProfile&) { p.kv_len = 513; }},
                                         Skip{"mine takes group up to 4, not 8",
                                              [](Problem& p, Tile&, DeviceProfile&) { p.kv_heads = 1; }},
                                         Skip{"runs",
                                              [](Problem&, Tile& asked, DeviceProfile&) {
                                                asked = {24, 8};
                                              }}),
                         [](const auto& one) { return fmt::format("case{}", one.index); });

TEST(VariantFile, ARuleWithoutAValueIsASkip) {
  Files files;
  const auto reason = [&](const char* threads) {
    json changed = whole();
    changed["steps"][1]["threads"] = threads;
    return load_variant_file(files.write(changed)).unsupported(problem(), tile, device()).value_or("runs");
  };
  EXPECT_EQ(reason("br / 128"),
            "mine: threads of step mine, 'br / 128': its value is 0, which must be from 1 to 2147483647");
  EXPECT_EQ(reason("bc - br"), "mine: threads of step mine, 'bc - br': its value is -32, which is negative");
  EXPECT_EQ(reason("1 / (group - 2)"), "mine: threads of step mine, '1 / (group - 2)': it divides by zero");
  json large = whole();
  large["workspace"][0]["cols"] = "q_len * q_len * 1000";
  large["workspace"][0]["rows"] = "q_len * q_len * 1000";
  EXPECT_THAT(load_variant_file(files.write(large)).unsupported(problem(), tile, device()).value_or("runs"),
              HasSubstr("absurdly large"));
}

// A file with one thing changed: what is complained of, and where.
struct Malformed {
  std::string name;
  const char* pointer;  // JSON pointer of what is replaced, or removed where `value` is null
  const char* value;
  std::vector<const char*> words;
};
void PrintTo(const Malformed& malformed, std::ostream* out) { *out << malformed.name; }
class VariantFileMalformed : public testing::TestWithParam<Malformed> {};

std::string complaint(const std::string& file) {
  try {
    load_variant_file(file);
    return "was taken";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST_P(VariantFileMalformed, IsRefusedWithFileLineAndField) {
  Files files;
  json changed = whole();
  const json::json_pointer pointer(GetParam().pointer);
  if (GetParam().value)
    changed[pointer] = json::parse(GetParam().value);
  else
    changed = changed.patch({{{"op", "remove"}, {"path", GetParam().pointer}}});
  const std::string file = files.write(changed), text = complaint(file);
  EXPECT_THAT(text, testing::StartsWith(file + ", line "));
  EXPECT_EQ(text.find('\n'), std::string::npos);
  for (const char* words : GetParam().words) EXPECT_THAT(text, HasSubstr(words));
}

std::vector<Malformed> all_malformed() {
  std::vector<Malformed> all;
  const auto add = [&](const char* pointer, const char* value, std::vector<const char*> words) {
    all.push_back(
        {fmt::format("{} = {}", pointer, value ? value : "removed"), pointer, value, std::move(words)});
  };
  for (const char* key : {"/attnprof_variant", "/name", "/idea", "/supports", "/steps"})
    add(key, nullptr, {"is missing", key + 1});
  add("/attnprof_variant", "2", {"attnprof_variant", "from 1 to 1, not 2"});
  add("/attnprof_variant", "\"1\"", {"attnprof_variant", "whole number"});
  add("/surprise", "1", {"'surprise' is none of attnprof_variant, name"});
  for (const char* name : {"\"\"", "3", "null"}) add("/name", name, {"name: must be a text"});
  for (const char* name : {"\"Mine\"", "\"1x\"", "\"a b\"", "\"a,b\"", "\"../x\"", "\"\\u00e4\"",
                           "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""})
    add("/name", name, {"name", "no name of a variant"});
  add("/idea", "\"a\\nb\"", {"idea", "one line"});
  add("/idea", "[]", {"idea: must be a text"});
  add("/supports", "[]", {"supports: must be an object"});
  add("/supports/dtypes", nullptr, {"supports: key 'dtypes' is missing"});
  add("/supports/dtypes", "[]", {"supports.dtypes: must be a list with at least one"});
  add("/supports/dtypes", "\"fp16\"", {"supports.dtypes: must be a list"});
  add("/supports/dtypes/1", "\"int8\"", {"supports.dtypes[1]: must be one of fp32, fp16, bf16, fp8", "int8"});
  add("/supports/dtypes/0", "16", {"supports.dtypes[0]"});
  add("/supports/masks/0", "\"sliding\"", {"supports.masks[0]: must be one of full, causal"});
  add("/supports/archs/0", "90", {"supports.archs[0]: must be a text"});
  for (const char* arch : {"\"sm90\"", "\"sm_9\"", "\"sm_90b\"", "\"hopper\""})
    add("/supports/archs/0", arch, {"supports.archs[0]: '", "is no architecture"});
  add("/supports/tiles/0", "[64]", {"supports.tiles[0]: must be two numbers"});
  add("/supports/tiles/0", "64", {"supports.tiles[0]: must be a list"});
  add("/supports/tiles/0/1", "0", {"supports.tiles[0][1]", "from 1"});
  add("/supports/tiles/0/1", "1.5", {"supports.tiles[0][1]", "whole number"});
  add("/supports/headdim", "[64]", {"supports: key 'headdim' is none of"});
  for (const char* limit : {"64", "\"64\""})
    add("/supports/head_dim", limit, {"supports.head_dim: must be an object", "or a list of values"});
  add("/supports/head_dim", "{}", {"supports.head_dim: give multiple_of"});
  add("/supports/head_dim/most", "64", {"supports.head_dim: key 'most' is none of multiple_of, min, max"});
  add("/supports/head_dim/max", "-1", {"supports.head_dim.max"});
  add("/supports/head_dim/max", "32", {"supports.head_dim: no size is"});
  add("/supports/head_dim/multiple_of", "0", {"supports.head_dim.multiple_of", "from 1"});
  add("/supports/kv_len", "[]", {"supports.kv_len: must be a list"});
  add("/supports/kv_len/0", "\"512\"", {"supports.kv_len[0]: must be a whole number"});
  add("/tile", nullptr, {"key 'tile' is missing"});
  add("/tile", "[64, 32]", {"tile: must be an object"});
  add("/tile/br", nullptr, {"tile: key 'br' is missing"});
  add("/tile/bc", "-16", {"tile.bc"});
  add("/tile/bc", "18446744073709551615", {"tile.bc", "whole number"});
  add("/tile/br", "32", {"tile: the default is none that 'supports' takes: tile 64x32, 24x8, not 32x32"});
  add("/supports/br", "{\"multiple_of\": 48}",
      {"tile: the default is none that 'supports' takes: br multiple of 48, not 64"});
  add("/tile/why", "7", {"tile.why: must be a text"});
  add("/workspace", "[]", {"workspace: must be a list"});
  add("/workspace/0/dtype", "\"double\"", {"workspace[0].dtype: must be one of"});
  add("/workspace/0/cols", nullptr, {"workspace[0]: key 'cols' is missing"});
  add("/workspace/0/rows", "\"rows\"", {"workspace[0].rows: 'rows' is no rule: 'rows' is none of batch"});
  add("/workspace/0/rows", "\"sms\"", {"workspace[0].rows", "'sms' is none of"});
  add("/workspace/1/init", "\"one\"", {"workspace[1].init: must be one of poison, zero"});
  add("/workspace/1/pitch", "1", {"workspace[1]: key 'pitch' is none of"});
  add("/steps", "[]", {"steps: must be a list with at least one"});
  add("/steps", "{}", {"steps: must be a list"});
  add("/steps/1/timed", "false", {"steps: one step at least must be timed"});
  add("/steps/1/timed", "1", {"steps[1].timed: must be true or false"});
  for (const char* key : {"/steps/1/file", "/steps/1/entry", "/steps/1/threads", "/steps/1/grid"})
    add(key, nullptr, {"steps[1]: key", "is missing", key + 9});
  add("/steps/1/file", "\"other.cu\"",
      {"steps[1].file: there is no file", "other.cu", "relative to the folder"});
  add("/steps/1/file", "\".\"", {"steps[1].file: there is no file"});
  add("/steps/1/entry", "\"a::b\"", {"steps[1].entry: must be a name of C"});
  add("/steps/1/entry", "\"\"", {"steps[1].entry: must be a text"});
  add("/steps/1/threads", "\"br *\"", {"steps[1].threads: 'br *' is no rule", "it ends"});
  add("/steps/1/threads", "-32", {"steps[1].threads: must be a whole number"});
  add("/steps/1/threads", "2048", {"steps[1].threads: must be a whole number from 1 to 1024, not 2048"});
  add("/steps/1/threads", "true", {"steps[1].threads"});
  add("/steps/1/grid", "\"heads\"", {"steps[1].grid: must be a list"});
  add("/steps/1/grid", "[1, 1, 1, 1]", {"steps[1].grid: a grid has at most three"});
  add("/steps/1/grid/0", "\"ceil(q_len / Br)\"", {"steps[1].grid[0]", "'Br' is none of"});
  add("/steps/1/grid/2", "null", {"steps[1].grid[2]"});
  add("/steps/1/smem_bytes", "\"48k\"", {"steps[1].smem_bytes: '48k' is no rule"});
  add("/steps/1/macros", "[]", {"steps[1].macros: must be an object"});
  add("/steps/1/macros/HEAD_DIM", "64", {"steps[1].macros.HEAD_DIM: is defined for every kernel already"});
  add("/steps/1/macros/A-B", "1", {"steps[1].macros.A-B: the macro's name"});
  add("/steps/1/macros/WARPS", "1.5", {"steps[1].macros.WARPS: must be a whole number"});
  add("/steps/1/macros/WARPS", "\"{br\"", {"steps[1].macros.WARPS: a '{' has no '}'"});
  add("/steps/1/macros/WARPS", "\"{Br}\"", {"steps[1].macros.WARPS: 'Br' is no rule"});
  add("/steps/1/stream", "1", {"steps[1]: key 'stream' is none of"});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Fields, VariantFileMalformed, testing::ValuesIn(all_malformed()),
                         [](const auto& one) { return fmt::format("field{}", one.index); });

// Where a person looks for it: the line of the field, and for one that is missing of what lacks it.
TEST(VariantFile, TheLineIsThatOfTheField) {
  Files files;
  const std::string good =
      "{\n \"attnprof_variant\": 1,\n \"name\": \"mine\",\n \"idea\": \"x\",\n // one\n"
      " \"supports\": {\"dtypes\": [\"fp16\"],\n  \"head_dim\": {\"max\":\n 64\n }},\n"
      " \"steps\": [\n  {\"file\": \"mine.cu\", \"entry\": \"mine\",\n   \"threads\": 32,\n"
      "   \"grid\": [1,\n    2]}]\n}";
  ASSERT_EQ(complaint(files.write_raw(good)), "was taken");
  const auto with = [&](const std::string& part, const std::string& changed) {
    std::string text = good;
    text.replace(text.find(part), part.size(), changed);
    const std::string file = files.write_raw(text);
    return complaint(file).substr(file.size());
  };
  EXPECT_THAT(with("\"mine\"", "3"), testing::StartsWith(", line 3: name: must be a text"));
  EXPECT_THAT(with("\"fp16\"", "\"half\""),
              testing::StartsWith(", line 6: supports.dtypes[0]: must be one of"));
  EXPECT_THAT(with(" 64", " 0"),
              testing::StartsWith(", line 7: supports.head_dim.max: must be a whole number"));
  EXPECT_THAT(with("max", "most"), testing::StartsWith(", line 7: supports.head_dim: key 'most' is none of"));
  EXPECT_THAT(with("\"threads\": 32,", ""),
              testing::StartsWith(", line 11: steps[0]: key 'threads' is missing"));
  EXPECT_THAT(with("    2", "    0.5"),
              testing::StartsWith(", line 14: steps[0].grid[1]: must be a whole number"));
  EXPECT_THAT(with("\"idea\"", "\"name\""), testing::StartsWith(", line 4: key \"name\" is given twice"));
}

TEST(VariantFile, TextThatIsNoJsonIsRefusedWithItsLine) {
  Files files;
  const std::string file = files.write_raw("{\n  \"name\": \"mine\",\n  \"idea\" \"x\"\n}");
  EXPECT_THAT(complaint(file), testing::StartsWith(file + ", line 3, column "));
  for (const char* nothing : {"", " \n\n"})
    EXPECT_THAT(complaint(files.write_raw(nothing)), HasSubstr("is empty"));
  EXPECT_THAT(complaint(files.write_raw("{\"name\": 1e999}")), HasSubstr("too large"));
  EXPECT_THAT(complaint(files.write_raw("[]")), HasSubstr("must be an object, not []"));
  EXPECT_THAT(complaint(files.write_raw("{\"name\": 1, \"name\": 2}")), HasSubstr("\"name\" is given twice"));
  EXPECT_THAT(complaint(files.write_raw(std::string(3, '\xff'))), HasSubstr("line 1"));
  EXPECT_THAT(complaint(files.write_raw(std::string(2 << 20, ' '))), HasSubstr("larger than"));
  EXPECT_THAT(complaint(files.write_raw(std::string(100'000, '['))), HasSubstr("brackets are open at once"));
}

TEST(VariantFile, OneThatIsNotThereIsRefused) {
  const TemporaryFolder folder;
  EXPECT_THAT(complaint(folder / "none.json"),
              AllOf(HasSubstr("--variant-file"), HasSubstr("cannot be read")));
  EXPECT_THAT(complaint(folder / "."), HasSubstr("cannot be read"));
}

TEST(VariantFile, TheExampleIsOne) {
  const Variant v = load_variant_file(ATTNPROF_SOURCE_DIR "/kernels/example/example.json");
  Case c;
  c.variant = &v;
  c.problem = problem();
  resolve(c, device(), device().hbm_bytes);
  EXPECT_EQ(c.skip, std::nullopt);
  EXPECT_EQ(c.tile.br, 32);
  c.requested.br = 8;  // no multiple of 16: the file's own limits alone count
  resolve(c, device(), device().hbm_bytes);
  EXPECT_EQ(c.skip, std::nullopt);
}

TEST(VariantFile, NamesAreOnce) {
  Files files;
  const auto loaded = [&](const char* name) {
    json named = whole();
    named["name"] = name;
    return load_variant_file(files.write(named));
  };
  const size_t built_in = built_in_variants().size();
  set_loaded_variants({loaded("mine"), loaded("other")});
  EXPECT_EQ(all_variants().size(), built_in + 2);
  ASSERT_TRUE(find_variant("other"));
  EXPECT_THROW(set_loaded_variants({loaded("flash2")}), UsageError);
  EXPECT_THROW(set_loaded_variants({loaded("mine"), loaded("mine")}), UsageError);
  EXPECT_TRUE(find_variant("mine")) << "what was refused changes nothing";
  set_loaded_variants({});
  EXPECT_EQ(all_variants().size(), built_in);
  EXPECT_FALSE(find_variant("mine"));
}

}  // namespace
}  // namespace attnprof
