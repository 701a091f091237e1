#include "model/numeric_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "problem/rounding.hpp"

namespace attnprof {
namespace {

std::vector<float> initial_values(const Operand& operand, const InputSource& inputs) {
  const auto count = static_cast<size_t>(operand.elements());
  if (operand.init == Init::zero) return std::vector<float>(count, 0.0f);
  if (operand.init == Init::poison) return std::vector<float>(count, std::numeric_limits<float>::quiet_NaN());
  return input_elements(operand, inputs, 0, operand.elements());
}

size_t offset(const Operand& operand, int64_t slice, int64_t row, int64_t col) {
  return static_cast<size_t>((slice * operand.rows + row) * operand.row_pitch + col);
}

// A schedule that leaves its operand would corrupt memory here and fault on a GPU.
void check(const Operand& operand, const Region& r) {
  if (r.slice < 0 || r.slice >= operand.slices() || r.row < 0 || r.rows < 0 ||
      r.row + r.rows > operand.rows || r.col < 0 || r.cols < 0 || r.col + r.cols > operand.row_pitch)
    throw std::logic_error(fmt::format("region [{}, {}+{}, {}+{}] is outside operand {} [{}, {}, {}]",
                                       r.slice, r.row, r.rows, r.col, r.cols, operand.name, operand.slices(),
                                       operand.rows, operand.row_pitch));
}

}  // namespace

NumericMachine::NumericMachine(OperandList operands, const InputSource& inputs)
    : operands_(std::move(operands)) {
  for (const Operand& operand : operands_) values_.push_back(initial_values(operand, inputs));
}

TileValues NumericMachine::read(const Region& region) {
  const Operand& shape = operand(region.operand);
  check(shape, region);
  TileValues tile{region.rows, region.cols, {}};
  tile.values.reserve(static_cast<size_t>(region.rows * region.cols));
  for (int64_t i = 0; i < region.rows; ++i) {
    const float* first = row(region.operand, region.slice, region.row + i) + region.col;
    tile.values.insert(tile.values.end(), first, first + region.cols);
  }
  return tile;
}

void NumericMachine::write(const Region& region, const TileValues& tile) {
  put(region, tile, [](float, float value) { return value; });
}

void NumericMachine::add(const Region& region, const TileValues& tile) {
  put(region, tile, [](float before, float value) { return before + value; });
}

template <typename Combine>
void NumericMachine::put(const Region& region, const TileValues& tile, Combine combine) {
  const Operand& shape = operand(region.operand);
  check(shape, region);
  if (tile.rows < region.rows || tile.cols < region.cols)
    throw std::logic_error(fmt::format("a tile of {} x {} is written to {} x {} of operand {}", tile.rows,
                                       tile.cols, region.rows, region.cols, shape.name));
  std::vector<float>& values = values_[operands_.place(region.operand)];
  for (int64_t i = 0; i < region.rows; ++i) {
    float* target = values.data() + offset(shape, region.slice, region.row + i, region.col);
    for (int64_t j = 0; j < region.cols; ++j)
      target[j] = round_to(shape.dtype, combine(target[j], tile.at(i, j)));
  }
}

void NumericMachine::fill(const MemsetLaunch& memset) {
  const std::array<unsigned char, 4> bytes = {memset.value, memset.value, memset.value, memset.value};
  std::ranges::fill(values_[operands_.place(memset.operand)],
                    load_element(operand(memset.operand).dtype, bytes.data(), 0));
}

const float* NumericMachine::row(OperandId id, int64_t slice, int64_t row_index) const {
  return values_[operands_.place(id)].data() + offset(operand(id), slice, row_index, 0);
}

std::span<const float> NumericMachine::rows(OperandId id, int64_t slice, int64_t row_index,
                                            int64_t rows) const {
  return {row(id, slice, row_index), static_cast<size_t>(rows * operand(id).row_pitch)};
}

}  // namespace attnprof
