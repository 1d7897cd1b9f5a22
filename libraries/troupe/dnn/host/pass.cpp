// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <troupe/dnn/host/pass.hpp>
#include <troupe/epilogue/host/runs.hpp>

namespace troupe::dnn::host {
namespace {

constexpr std::int64_t piece = 512;          // elements: a few slots of them stay in the first cache
constexpr std::int64_t of_a_part = 1 << 14;  // elements, for one thread

}  // namespace

template <class N>
void pass<N>::finish() {
  std::vector<indexes> strides;
  walked_.resize(operands_.size());
  const auto take = [&](std::size_t i) {
    walked_[i] = strides.size();
    strides.push_back(broadcast_strides(operands_[i].shape, shape_.rank, shape_.extents));
  };
  if (leader_ != none) take(leader_);
  for (std::size_t i = 0; i < operands_.size(); ++i)
    if (i != leader_) take(i);
  walk_ = walk(shape_.rank, shape_.extents, std::move(strides), true);
}

template <class N>
void pass<N>::run(const workspace& w) const {
  std::vector<std::byte*> at;
  for (const location& l : operands_) at.push_back(w.at(l));
  const std::int64_t length = walk_.length(), pieces = (length + piece - 1) / piece, units = walk_.lines() * pieces;
  const std::int64_t grain = std::max<std::int64_t>(1, of_a_part / std::min(length, piece));
  const std::int64_t parts = (units + grain - 1) / grain;
  w.team.spread(parts, 1, [&](std::int64_t part) {
    const std::unique_ptr<N[]> slots(new N[steps_.size() * piece]);
    std::vector<const N*> values(steps_.size());
    for (std::size_t s = 0; s < steps_.size(); ++s)
      if (steps_[s].what == step::kind::number)
        std::fill_n(slots.get() + s * piece, piece, static_cast<N>(steps_[s].value));
    for (std::int64_t u = part * grain; u < std::min(units, (part + 1) * grain); ++u) {
      const std::int64_t first = u % pieces * piece;
      run_piece(at, u / pieces, first, std::min(piece, length - first), slots.get(), values.data());
    }
  });
}

template <class N>
void pass<N>::run_piece(std::span<std::byte* const> at, std::int64_t line, std::int64_t first, std::int64_t count,
                        N* slots, const N** values) const {
  const auto place = [&](std::uint16_t operand) {
    const std::size_t k = walked_[operand];
    const std::int64_t elements = walk_.begin(k, line) + first * walk_.along(k);
    return at[operand] + elements * static_cast<std::int64_t>(bytes_of(operands_[operand].type));
  };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const step& s = steps_[i];
    N* const to = slots + i * piece;
    values[i] = to;
    switch (s.what) {
      case step::kind::read: {
        const location& l = operands_[s.operand];
        const std::int64_t along = walk_.along(walked_[s.operand]);
        if (l.type == dtype_of<N> && along == 1)
          values[i] = reinterpret_cast<const N*>(place(s.operand));
        else
          epilogue::host::read(l.type, place(s.operand), along, to, count);
        break;
      }
      case step::kind::number:
        break;
      case step::kind::apply:
        epilogue::host::apply(s.function, to, values[s.from[0]], values[s.from[1]], values[s.from[2]], count);
        break;
      case step::kind::round:
        epilogue::host::round(s.type, values[s.from[0]], to, count);
        break;
      case step::kind::write: {
        const location& l = operands_[s.operand];
        epilogue::host::write(l.type, values[s.from[0]], place(s.operand), walk_.along(walked_[s.operand]), count);
        values[i] = values[s.from[0]];
      }
    }
  }
}

template class pass<float>;
template class pass<double>;

}  // namespace troupe::dnn::host
