// What a pass of attention that is added today takes: a spec and a variant. Planning, model, simulator,
// verification and CSV know nothing of it. This one averages the values that a query sees, whatever their
// scores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/run_fixture.hpp"
#include "problem/kv_view.hpp"
#include "problem/passes.hpp"
#include "problem/visible.hpp"
#include "row/row_csv.hpp"
#include "run/open_backend.hpp"
#include "schedule/product.hpp"
#include "schedule/tiling.hpp"
#include "testing/temporary_file.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

// V and O of the forward pass.
OperandList mean_operands(const Problem& p) {
  Problem of_forward = p;
  of_forward.pass = Pass::forward;
  const OperandList all = operands(of_forward);
  return {all[operand_v], all[operand_o]};
}

class MeanReference : public Reference {
 public:
  MeanReference(const Problem& problem, const OperandValues& values)
      : problem_(problem), values_(values), view_(problem) {}

  std::vector<double> row(OperandId, int64_t slice, int64_t row) override {
    const int64_t sequence = slice / problem_.heads, kv_head = slice % problem_.heads / problem_.group();
    const KeyRanges keys = visible(problem_, sequence, row);
    std::vector<double> mean(static_cast<size_t>(problem_.head_dim), 0.0);
    for (int r = 0; r < keys.count; ++r)
      for (int64_t j = keys.at[r].first; j < keys.at[r].end; ++j) {
        const KvView::Place place = view_.row(sequence, kv_head, j);
        const auto v = values_.rows(operand_v, place.slice, place.row, 1);
        for (size_t c = 0; c < mean.size(); ++c) mean[c] += v[c] / static_cast<double>(key_count(keys));
      }
    return mean;
  }

 private:
  Problem problem_;
  const OperandValues& values_;
  KvView view_;
};

PassSpec mean_pass() {
  return {.name = "mean",
          .operands = mean_operands,
          .products = [](const Problem& p) { return std::vector{p.head_dim}; },
          .outputs = {{operand_o, Axis::query, [](Dtype) { return 2e-3; }}},
          .reference = [](const Problem& p, const OperandValues& values) -> std::unique_ptr<Reference> {
            return std::make_unique<MeanReference>(p, values);
          }};
}

// A block a tile of queries; `factor`: what it multiplies every mean with, which is right at 1.
void mean_block(const Problem& p, const Tile& tile, float factor, int64_t cta, TileMachine& machine) {
  const OperandList ops = operands(p);
  const int64_t q_tiles = ceil_div(p.q_len, tile.br), slice = cta / q_tiles, row = cta % q_tiles * tile.br;
  const Region o_region = row_tile(ops[operand_o], slice, row, tile.br);
  TileValues o = zero_tile(o_region.rows, p.head_dim);
  key_tiles(p, slice, row, tile.br, tile.bc).for_each([&](int64_t j) {
    const TileValues v = machine.read(row_tile(ops[operand_v], kv_slice(p, slice), j * tile.bc, tile.bc));
    machine.execute(Unit::fma, 2 * int64_t{tile.br} * tile.bc * p.head_dim);
    for (int64_t i = 0; i < o.rows && machine.numeric(); ++i) {
      const KeyRanges keys = visible(p, slice / p.heads, row + i);
      for (int64_t key = 0; key < v.rows && j * tile.bc + key < last_end(keys); ++key)
        for (int64_t c = 0; c < p.head_dim; ++c)
          o.at(i, c) += factor * v.at(key, c) / static_cast<float>(key_count(keys));
    }
  });
  machine.write(o_region, machine.numeric() ? o : TileValues{});
}

Variant mean_variant(Pass pass, const char* name, float factor) {
  return {.name = name,
          .idea = "",
          .needs = "",
          .unsupported = [](const Problem&, const Tile&,
                            const DeviceProfile&) { return std::optional<std::string>(); },
          .default_tile =
              [](const Problem&, const DeviceProfile&) {
                return TileChoice{{32, 16}, "a tile of this test"};
              },
          .workspace = [](const Problem&, const Tile&) { return std::vector<Operand>(); },
          .steps =
              [factor](const Problem& p, const Tile& tile, const DeviceProfile&) {
                KernelLaunch kernel;
                kernel.threads = 128;
                Schedule schedule{
                    ceil_div(p.q_len, tile.br) * p.heads * p.batch,
                    [=](int64_t cta, TileMachine& machine) { mean_block(p, tile, factor, cta, machine); }};
                return std::vector<Step>{{.name = "mean", .launch = kernel, .schedule = std::move(schedule)}};
              },
          .passes = {pass}};
}

TEST(FurtherPass, IsPlannedModelledSimulatedVerifiedAndWritten) {
  const FurtherPass pass(mean_pass());
  const FurtherVariant right(mean_variant(pass.pass(), "mean", 1)),
      wrong(mean_variant(pass.pass(), "wrong_mean", 1.25f));
  const TemporaryFolder folder;
  const std::string file = folder / "mean.csv";
  const Result result = run_on({"sweep",    "--backend", "sim",
                                "--target", "h200",      "--pass",
                                "mean",     "--variant", "mean,wrong_mean,flash2",
                                "-N",       "100",       "-d",
                                "64",       "--mask",    "causal",
                                "--heads",  "4",         "--kv-heads",
                                "2",        "--verify",  "full",
                                "-o",       file},
                               open_backend);
  EXPECT_EQ(result.code, 1) << result.err << "a wrong output is a failure";
  const std::vector<Row> rows = read_rows(file).rows;
  ASSERT_EQ(rows.size(), 3u);

  const Row& row = rows[0];
  EXPECT_EQ(row.status.disposition, "ok") << row.status.reason;
  EXPECT_EQ(row.identity.word("pass"), "mean");
  EXPECT_EQ(row.verify.verified, "yes");
  constexpr int64_t pairs = 100 * 101 / 2, tensor = 100 * 64 * 2;
  EXPECT_EQ(row.model.useful_flops, 2 * 64 * pairs * 4) << "one product";
  EXPECT_EQ(row.model.io_lower_bound_bytes, (2 + 4) * tensor) << "V of two heads, O of four";
  // Tiles of 32 queries see 32, 64, 96, 100 keys.
  EXPECT_EQ(row.model.sm_bytes, 4 * (tensor + (32 + 64 + 96 + 100) * 64 * 2));
  EXPECT_EQ(row.counters.sm_total, row.model.sm_bytes);

  EXPECT_EQ(rows[1].status.disposition, "incorrect");
  EXPECT_EQ(rows[1].status.reason, "relative error 0.25 is above the fp16 tolerance 0.002");
  EXPECT_EQ(rows[2].status.disposition, "skipped");
  EXPECT_EQ(rows[2].status.reason, "flash2 has the pass fwd, not mean");
}

TEST(FurtherPass, IsGoneWhenItsTestIs) {
  const size_t before = passes().size();
  { const FurtherPass pass(mean_pass()); }
  EXPECT_EQ(passes().size(), before);
  EXPECT_EQ(parse_pass("mean"), std::nullopt);
  EXPECT_THAT(run({"sweep", "--pass", "mean"}).err, HasSubstr("--pass 'mean' is none of fwd"));
}

}  // namespace
}  // namespace attnprof
