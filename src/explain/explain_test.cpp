// Explanations of committed rows: the conditions under which flash helps little must come out of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "testing/committed_rows.hpp"
#include "testing/roofline_rows.hpp"

namespace attnprof {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

CaseExplanation one(const Explanations& explanations) {
  EXPECT_EQ(explanations.cases.size(), 1u);
  return explanations.cases.at(0);
}

double factor(const CaseExplanation& e, size_t index) { return e.against->split.factors.at(index).factor; }

TEST(Explain, ShortSequencesAtBatchOneWaitForLaunchAndEmptySms) {
  const CaseExplanation e =
      one(explained("forward.csv", "variant=flash2,N=512,head_dim=128,batch=1,mask=full", "standard"));
  EXPECT_EQ(e.binds, "latency");
  EXPECT_GT(*e.idle_share, 0.5);
  EXPECT_LT(e.against->split.speedup, 1.1) << "a third of the bytes, and no faster";
  EXPECT_THAT(e.sentences.front(), HasSubstr("It is only 1.02 times as fast as standard"));
  EXPECT_THAT(e.sentences, Contains(HasSubstr("64 blocks for 132 SMs")));
  EXPECT_THAT(e.sentences, Contains(HasSubstr("too short for its bytes to tell")));
}

TEST(Explain, AtBatch32OccupancyIsNotWhatFlashGains) {
  const CaseExplanation e =
      one(explained("hbm.csv", "variant=flash2,N=512,batch=32,head_dim=64,mask=full", "standard"));
  EXPECT_LT(*e.idle_share, 0.1) << "enough blocks by themselves";
  EXPECT_GT(factor(e, 0), 2) << "the gain is bytes";
  EXPECT_NEAR(factor(e, 2), 1, 0.1) << "and not occupancy and waves";
  const CaseExplanation naive =
      one(explained("hbm.csv", "variant=flash2,N=512,batch=32,head_dim=64,mask=full", "naive"));
  EXPECT_LT(factor(naive, 0), 1.25);
  EXPECT_THAT(naive.sentences.front(), HasSubstr("but not by IO")) << "against FMA pipes it is tensor cores";
}

TEST(Explain, WithFewKvHeadsBlocksDecide) {
  const CaseExplanation e =
      one(explained("explain.csv", "variant=flash2,N=1000,kv_heads=4,head_dim=64,mask=full,tile=128x64"));
  EXPECT_THAT(e.sentences, Contains(HasSubstr("4 query heads share each of 4 kv heads")));
  EXPECT_THAT(e.sentences, Contains(HasSubstr("how many blocks there are decides, not IO")));
}

TEST(Explain, L2AbsorbsSAndPOfShortSequences) {
  for (const char* variant : {"standard", "naive"}) {
    const std::string shape = std::string("variant=") + variant + ",head_dim=64,batch=1,mask=full,N=";
    EXPECT_THAT(one(explained("forward.csv", shape + "512")).sentences,
                Contains(HasSubstr("L2 absorbs 50 % of S and P")));
    EXPECT_THAT(one(explained("forward.csv", shape + "16k")).sentences,
                testing::Not(Contains(HasSubstr("L2 absorbs"))));
  }
}

TEST(Explain, BindsByTheUnitThatTheVariantUses) {
  const Explanations all = explained("forward.csv", "N=8k,head_dim=128,batch=8,mask=full");
  for (const CaseExplanation& e : all.cases) {
    const std::string& variant = e.row.identity.variant;
    if (variant == "flash2") {
      EXPECT_EQ(e.binds, "tensor") << "at mma.sync's rate, not wgmma's";
    } else if (variant == "standard") {
      EXPECT_EQ(e.binds, "hbm");
    } else if (variant == "naive") {
      EXPECT_THAT(e.binds, testing::AnyOf("fma", "smem"));
    }
  }
  EXPECT_TRUE(all.notices.empty()) << "the run has measured ceilings";
}

TEST(Explain, TilesAreFastestFirstAndBeatTheMeasuredOnesRank) {
  const CaseExplanation e = one(explained("explain.csv", "N=4k,head_dim=64,mask=full,tile=128x32"));
  ASSERT_GE(e.tiles.size(), 3u);
  for (size_t i = 1; i < e.tiles.size(); ++i) EXPECT_LE(e.tiles[i - 1].ns, e.tiles[i].ns);
  for (const TilePrediction& tile : e.tiles)
    EXPECT_NEAR(tile.speedup * tile.ns, *e.row.latency.median_ns, 1e-6);
  EXPECT_THAT(e.sentences, Contains(HasSubstr("is predicted 1.")));
}

TEST(Explain, PeersHaveWhatTheirColumnsSay) {
  const Explanations peers = explained("peers.csv", "variant=torch_flash");
  for (const CaseExplanation& e : peers.cases) {
    EXPECT_EQ(e.binds, "unknown");
    EXPECT_FALSE(e.idle_share);
    EXPECT_TRUE(e.tiles.empty());
    EXPECT_THAT(e.sentences.front(), HasSubstr("bytes were not counted"));
  }
  EXPECT_THAT(peers.notices, Contains(StartsWith("torch_flash: no schedule of ours")));
}

TEST(Explain, SaysWhetherBytesOrTheDevicesRateAreMissing) {
  const CaseExplanation e = one(explain({{"rows.csv", {roofline_row("flash2", "Other GPU")}, {}, {}}}, {}));
  EXPECT_EQ(e.binds, "unknown");
  EXPECT_THAT(e.sentences.front(), HasSubstr("hbm: the device's rate is not known; l2: the device's rate"));
  EXPECT_THAT(e.sentences.front(), testing::Not(HasSubstr("not counted"))) << "the row has its bytes";
  Row uncounted = roofline_row();
  uncounted.counters.hbm_total.reset();
  EXPECT_THAT(one(explain({{"rows.csv", {uncounted}, {}, {}}}, {})).sentences.front(),
              HasSubstr("What binds cannot be said (hbm: its bytes were not counted): of what is known, "));
}

TEST(Explain, TensorCoresAreHeldToTheCeilingOfTheRowsDtype) {
  Row bf16 = roofline_row();
  bf16.identity.word("dtype") = "bf16";
  std::vector<ResultFile> files = {{"rows.csv", {roofline_row(), bf16}, {}, {}}};
  files.front().meta = R"({"runs": {"r1": {"ceilings": {"mma_fp16_tflops": {"median": 500},
    "mma_bf16_tflops": {"median": 625}}}}})";
  const Explanations e = explain(files, {});
  const auto tensor_ns = [&](size_t i) {
    const auto& times = e.cases.at(i).resources.times;
    return std::ranges::find(times, "tensor", &ResourceTime::name)->ns;
  };
  EXPECT_DOUBLE_EQ(tensor_ns(0), 10'000) << "5 GFLOP by mma.sync, as flash2 multiplies";
  EXPECT_DOUBLE_EQ(tensor_ns(1), 8'000);
}

TEST(Explain, SimulatedRowsSayThatTheirTimeIsAModel) {
  const CaseExplanation e = one(explained("sim.csv", "variant=flash2,N=4k,head_dim=64"));
  EXPECT_THAT(e.sentences, Contains(HasSubstr("no measurement")));
}

std::vector<ResultFile> file_of(std::vector<Row> rows) { return {{"rows.csv", std::move(rows), {}, {}}}; }

TEST(Explain, LeavesOutWhatIsNotOk) {
  const Explanations e =
      explain(file_of({row_that_is("skipped"), roofline_row(), row_that_is("incorrect")}), {});
  EXPECT_EQ(e.cases.size(), 1u);
  EXPECT_EQ(e.cases.front().line, 3u);
  EXPECT_THAT(e.notices, Contains("not explained: 1 incorrect, 1 skipped"));
  EXPECT_THROW(explain(file_of({row_that_is("skipped")}), {}), EnvironmentError);
  EXPECT_THROW(explain(file_of({roofline_row()}),
                       {.cases = {Selector::parse("--case", "N=2k")}, .against = {}, .tiles = {}}),
               EnvironmentError);
}

TEST(Explain, CeilingsOfTheRunReplaceNominalRates) {
  std::vector<ResultFile> files = file_of({roofline_row()});
  files.front().meta = R"({"runs": {"r1": {"ceilings": {"hbm_read_gbps": {"median": 4000, "spread_pct": 1,
    "samples": 5}, "hbm_write_gbps": {"median": 4000, "spread_pct": 1, "samples": 5}}}}})";
  const Explanations e = explain(files, {});
  const ResourceTime& hbm = e.cases.front().resources.times.front();
  EXPECT_EQ(hbm.rate_source, "ceiling hbm_read_gbps");
  EXPECT_DOUBLE_EQ(hbm.ns, 20'000'000 / 4000.0);
  EXPECT_TRUE(e.notices.empty());
}

TEST(Explain, HoldsARowAgainstItsOwnRunFirst) {
  Row other_run = roofline_row("naive"), own_run = roofline_row("naive"),
      another_problem = roofline_row("naive");
  other_run.provenance.run = "r0";
  other_run.latency.median_ns = 1;
  another_problem.identity.count("batch") = 2;
  const Explanations e = explain(file_of({other_run, another_problem, own_run, roofline_row()}),
                                 {.cases = {}, .against = "naive", .tiles = {}});
  ASSERT_EQ(e.cases.size(), 1u) << "the naive rows themselves stand against nothing";
  EXPECT_EQ(e.cases.front().against->line, 4u);
}

TEST(ExplainJson, HasWhatReportsRead) {
  const auto json = nlohmann::json::parse(
      explain_json(explained("forward.csv", "variant=flash2,N=4k,head_dim=128,batch=1", "naive")));
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("against"), "naive");
  ASSERT_EQ(json.at("cases").size(), 2u);
  const auto& c = json["cases"][0];
  EXPECT_EQ(c.at("file"), "forward.csv");
  EXPECT_EQ(c.at("line"), 47);
  EXPECT_EQ(c.at("identity").at("variant"), "flash2");
  EXPECT_EQ(c.at("identity").at("q_len"), "4096") << "identity columns are strings";
  EXPECT_TRUE(c.at("latency_ns").is_number());
  EXPECT_EQ(c.at("binds"), "tensor");
  EXPECT_EQ(c.at("resources").size(), 6u);
  EXPECT_EQ(c.at("reread_bytes"), 33554432) << "K and V of 16 heads, 4096 keys of 128 elements, 2 bytes each";
  double product = c.at("against").at("remainder");
  for (const auto& f : c["against"].at("factors")) product *= f.at("factor").get<double>();
  EXPECT_NEAR(product, c["against"].at("speedup").get<double>(), 1e-9);
  EXPECT_TRUE(c.at("tiles").at(0).at("tile").is_string());
}

TEST(ExplainText, NoLineIsWiderThanTheTerminal) {
  for (const char* selector : {"variant=flash2,N=4k,head_dim=128,batch=1,mask=full", ""}) {
    std::istringstream lines(explain_text(explained("forward.csv", selector, "naive"), 100));
    size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 100u) << line;
    EXPECT_GT(count, 10u);
  }
}

}  // namespace
}  // namespace attnprof
