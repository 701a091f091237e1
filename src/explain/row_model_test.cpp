#include "explain/row_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/predict.hpp"
#include "testing/committed_rows.hpp"
#include "testing/h200.hpp"
#include "testing/roofline_rows.hpp"

namespace attnprof {
namespace {

Row flash2_row() {
  Row row = roofline_row();
  row.resolved = {.br = 128, .bc = 64, .knobs_used = "stages=2;warp_rows=32"};
  return row;
}

TEST(CaseOfRow, HasTheRowsTileAndKnobs) {
  const auto c = case_of_row(flash2_row(), h200());
  ASSERT_TRUE(c);
  EXPECT_EQ(c->variant->name, "flash2");
  EXPECT_EQ(c->problem.q_len, 1024);
  EXPECT_EQ(c->tile.br, 128);
  EXPECT_EQ(c->tile.knobs.get("warp_rows"), 32);
}

TEST(CaseOfRow, NothingForWhatWeDoNotHave) {
  const auto without = [](auto change) {
    Row row = flash2_row();
    change(row);
    return !case_of_row(row, h200());
  };
  EXPECT_TRUE(without([](Row& r) { r.identity.variant = "torch_flash"; }));
  EXPECT_TRUE(without([](Row& r) { r.identity.word("pass") = "bwd"; }));
  EXPECT_TRUE(without([](Row& r) { r.identity.word("dtype") = "int4"; }));
  EXPECT_TRUE(without([](Row& r) { r.identity.count("heads") = 15; })) << "no multiple of the kv heads";
  EXPECT_TRUE(without([](Row& r) { r.identity.count("batch") = 0; }));
  EXPECT_TRUE(without([](Row& r) { r.identity.count("kv_len") = int64_t{1} << 40; }));
  EXPECT_TRUE(without([](Row& r) { r.resolved.knobs_used = "turbo=1"; }));
  EXPECT_TRUE(without([](Row& r) { r.resolved.knobs_used = "stages"; }));
  EXPECT_TRUE(without([](Row& r) { r.resolved.knobs_used = "stages=x"; }));
  EXPECT_TRUE(without([](Row& r) { r.resolved.br = 8; })) << "a tile it does not take";
}

// What the schedule of one slice says of all agrees with the model that runs every block.
TEST(TimeModel, AmountsAreThoseOfThePrediction) {
  for (const char* variant : {"naive", "flash1", "flash2", "flash3"})
    for (const char* mask : {"full", "causal"}) {
      Row row = roofline_row(variant);
      row.identity.word("mask") = mask;
      row.identity.count("kv_heads") = 4;
      row.identity.count("batch") = 2;
      const RowModel model = model_row(row, h200(), {});
      ASSERT_TRUE(model.time) << variant;
      Case c = *model.c;
      set_launches(c, h200());
      const Model predicted = predict(c, h200());
      EXPECT_DOUBLE_EQ(model.time->amounts.sm_bytes, static_cast<double>(*predicted.sm_bytes))
          << variant << mask;
      EXPECT_DOUBLE_EQ(model.time->amounts.tensor_flops, static_cast<double>(*predicted.tensor_flops));
      EXPECT_GT(model.time->amounts.smem_bytes, 0);
      EXPECT_GT(model.time->amounts.exponentials, 0);
      EXPECT_EQ(model.time->amounts.unit, std::string(variant) == "naive"    ? ProductUnit::fma
                                          : std::string(variant) == "flash3" ? ProductUnit::wgmma
                                                                             : ProductUnit::mma);
    }
}

TEST(TimeModel, NothingForAnUnknownDeviceOrATooLargeProblem) {
  EXPECT_FALSE(model_row(flash2_row(), DeviceProfile{}, {}).time);
  Row large = flash2_row();
  large.identity.count("q_len") = large.identity.count("kv_len") = 1'000'000;
  EXPECT_FALSE(model_row(large, h200(), {}).time) << "its schedule would run for minutes";
}

// The time itself, before it is calibrated by a row: within a third on every committed row of ours.
TEST(TimeModel, IsNearTheCommittedRows) {
  double sum = 0;
  size_t rows = 0;
  for (const ResultFile& file : committed_files({"forward.csv"}))
    for (const Row& row : file.rows) {
      const RowModel model = model_row(row, h200(), {});
      ASSERT_TRUE(model.time);
      const double off = std::abs(std::log(model.time->ns() / model.latency_ns()));
      EXPECT_LT(off, std::log(1.4)) << row.identity.variant << " " << *row.identity.count("q_len");
      sum += off, ++rows;
    }
  EXPECT_EQ(rows, 87u);
  EXPECT_LT(sum / static_cast<double>(rows), 0.1);
}

TEST(PredictTile, ItsOwnTileTakesItsOwnTime) {
  const Row row = flash2_row();
  const RowModel model = model_row(row, h200(), {});
  Row as_resolved = row;
  as_resolved.resolved.knobs_used = "";
  const RowModel usual = model_row(as_resolved, h200(), {});
  EXPECT_DOUBLE_EQ(*predict_tile_ns(usual, 128, 64), usual.latency_ns());
  EXPECT_FALSE(predict_tile_ns(model, 100, 64)) << "no multiple of 16";
  EXPECT_FALSE(predict_tile_ns(model, 128, 4096)) << "registers do not hold it";
}

}  // namespace
}  // namespace attnprof
