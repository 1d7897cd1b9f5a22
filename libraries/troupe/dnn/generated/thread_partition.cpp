// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/generated/thread_partition.hpp>
#include <troupe/epilogue/op.hpp>

namespace troupe::dnn::generated {
namespace {

using epilogue::op;

// The most bytes of operands that a thread has in registers, and the most instructions for its elements, whose loop is
// unrolled.
constexpr unsigned most_bytes = 256, most_work = 4096;

// Returns roughly how many instructions an operation takes.
unsigned work_of(const elementwise_kernel::operation& o) noexcept {
  if (o.what == elementwise_kernel::operation::kind::round) return 8;
  if (o.what == elementwise_kernel::operation::kind::random) return 100;
  if (o.what != elementwise_kernel::operation::kind::apply) return 1;
  switch (o.function) {
    case op::negate:
    case op::absolute:
    case op::sign:
    case op::relu:
    case op::d_relu:
    case op::add:
    case op::subtract:
    case op::multiply:
    case op::minimum:
    case op::maximum:
    case op::leaky_relu:
    case op::d_leaky_relu:
    case op::equal:
    case op::less:
    case op::less_equal:
    case op::select:
      return 2;
    default:
      return 60;
  }
}

class partitioner {
 public:
  partitioner(const elementwise_kernel& kernel, const std::vector<bool>& aligned)
      : kernel_(kernel), aligned_(aligned), last_(kernel.over.rank() - 1) {}

  thread_partition partition() {
    for (std::size_t k = 0; k <= last_; ++k) count_ *= extent(k);
    find_tiles();
    choose_elements();
    const std::int64_t elements = out_.elements;
    out_.groups = (count_ + elements - 1) / elements, out_.rest = count_ % elements;
    for (std::size_t i = 0; i < kernel_.operands.size(); ++i) out_.accesses.push_back(access_of(i));
    out_.narrow_indexes = has_narrow_indexes();
    return std::move(out_);
  }

 private:
  std::int64_t extent(std::size_t k) const noexcept { return kernel_.over.extent(k); }
  std::int64_t stride(std::size_t operand, std::size_t k) const noexcept {
    return kernel_.over.stride(kernel_.operand_in_space[operand], k);
  }
  unsigned bytes(std::size_t operand) const noexcept {
    return static_cast<unsigned>(bytes_of(kernel_.operands[operand].type));
  }
  // Returns true if a thread reads or writes its elements of the operand before or after all operations.
  bool is_read_together(std::size_t operand) const noexcept {
    return kernel_.operands[operand].exists() &&
           std::ranges::none_of(kernel_.operations, [&](const elementwise_kernel::operation& o) {
             return o.what == elementwise_kernel::operation::kind::read_at && o.operand == operand;
           });
  }
  bool is_broadcast(std::size_t operand) const noexcept {
    for (std::size_t k = 0; k <= last_; ++k)
      if (extent(k) != 1 && stride(operand, k) != 0) return false;
    return true;
  }
  // Returns true if the operand's elements are neighbors in memory in the order of the iteration space.
  bool is_dense(std::size_t operand) const noexcept {
    std::int64_t expected = 1;
    for (std::size_t k = last_ + 1; k-- > 0; expected *= extent(k))
      if (extent(k) != 1 && stride(operand, k) != expected) return false;
    return true;
  }

  // Uses tiles if neighboring elements of an operand that is read are along another axis than the last of the iteration
  // space. The first such operand determines the other axis of the tiles.
  void find_tiles() {
    constexpr std::int64_t worth = 16;  // the least extent of both axes with which tiles are faster
    constexpr unsigned most_shared = 40 << 10;
    if (extent(last_) < worth) return;
    unsigned widest_type = 0;
    for (const elementwise_kernel::operation& o : kernel_.operations) {
      if (o.what != elementwise_kernel::operation::kind::read || stride(o.operand, last_) < worth) continue;
      for (std::size_t k = 0; k < last_; ++k) {
        if (stride(o.operand, k) != 1 || extent(k) < worth || (out_.tiled && out_.tiled->other != k)) continue;
        if (!out_.tiled) out_.tiled.emplace().other = k;
        staged_.push_back(o.operand);
        widest_type = std::max(widest_type, bytes(o.operand));
        break;
      }
    }
    if (!out_.tiled) return;
    tiles& t = *out_.tiled;
    t.size = widest_type <= 2 ? 64 : 32;
    unsigned shared = 0;
    for (std::size_t i = 0; i < staged_.size(); ++i) {
      shared += t.size * (t.size + 4) * bytes(staged_[i]);
      if (shared > most_shared) staged_.resize(i);
    }
    t.count = 1;
    for (std::size_t k = 0; k <= last_; ++k)
      t.count *= k == last_ || k == t.other ? (extent(k) + t.size - 1) / t.size : extent(k);
  }

  void choose_elements() {
    if (out_.tiled) return;
    unsigned narrowest = 0, bytes_per_element = 0, work = 1;
    bool any_dense = false;
    for (std::size_t i = 0; i < kernel_.operands.size(); ++i) {
      if (!is_read_together(i) || stride(i, last_) != 1 || is_broadcast(i)) continue;
      narrowest = narrowest == 0 ? bytes(i) : std::min(narrowest, bytes(i));
      bytes_per_element += bytes(i);
      any_dense |= is_dense(i);
    }
    if (narrowest == 0) return;
    for (const elementwise_kernel::operation& o : kernel_.operations) work += work_of(o);
    unsigned elements = widest / narrowest;
    while (elements > 1 &&
           (elements * bytes_per_element > most_bytes || elements * work > most_work || elements > count_))
      elements /= 2;
    unsigned per_line = elements;
    while (last_ != 0 && extent(last_) % per_line != 0) per_line /= 2;
    out_.flat = per_line < elements && per_line * narrowest < widest / 2 && any_dense;
    out_.elements = out_.flat ? elements : per_line;
  }

  access access_of(std::size_t i) const {
    using enum access::kind;
    if (std::find(staged_.begin(), staged_.end(), i) != staged_.end()) return {staged, bytes(i)};
    if (!is_read_together(i)) return {apart, bytes(i)};
    if (out_.elements == 1) return {single, bytes(i)};
    if (is_broadcast(i) || (!out_.flat && stride(i, last_) == 0)) return {once, bytes(i)};
    if (out_.flat ? !is_dense(i) : stride(i, last_) != 1) return {single, bytes(i)};
    const location& l = kernel_.operands[i];
    const auto fits = [&](std::int64_t elements, unsigned width) { return elements * bytes(i) % width == 0; };
    unsigned width = l.is_buffer || aligned_[l.number] ? widest : bytes(i);
    while (width > bytes(i) && !(fits(out_.elements, width) && fits(l.offset, width))) width /= 2;
    for (std::size_t k = 0; k < last_ && !out_.flat; ++k)
      while (width > bytes(i) && extent(k) != 1 && !fits(stride(i, k), width)) width /= 2;
    return width == bytes(i) ? access{single, width} : access{wide, width};
  }

  bool has_narrow_indexes() const noexcept {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    if (count_ >= most || out_.blocks() * block_threads >= most) return false;
    for (std::size_t i = 0; i < kernel_.operands.size(); ++i) {
      std::int64_t reach = 0;
      for (std::size_t k = 0; k <= last_; ++k) {
        if (stride(i, k) < 0) return false;
        reach += (extent(k) - 1) * stride(i, k);
      }
      if (reach >= most) return false;
    }
    return true;
  }

  const elementwise_kernel& kernel_;
  const std::vector<bool>& aligned_;
  const std::size_t last_;
  std::int64_t count_ = 1;
  std::vector<std::size_t> staged_;
  thread_partition out_;
};

}  // namespace

thread_partition partition_among_threads(const elementwise_kernel& kernel, const std::vector<bool>& aligned) {
  return partitioner(kernel, aligned).partition();
}

}  // namespace troupe::dnn::generated
