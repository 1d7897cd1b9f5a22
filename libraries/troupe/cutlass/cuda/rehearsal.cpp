// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/cells/encoded_tree.hpp>
#include <troupe/cutlass/cuda/rehearsal.hpp>
#include <troupe/cutlass/cuda/rehearsal_memory.hpp>

namespace troupe::cutlass {
namespace {

using rehearsing::room, rehearsing::span, rehearsing::span_of;

span span_of(const factor& f, std::int64_t lines, std::int64_t terms, std::int64_t batch) noexcept {
  return span_of({{lines, f.line}, {terms, f.term}, {batch, f.batch}}, f.type);
}
struct spans {
  explicit spans(const problem& p)
      : a(span_of(p.a, p.m, p.k / matmul::terms_in(p.a.type), p.batch)),
        b(span_of(p.b, p.n * (p.paired ? 2 : 1), p.k / matmul::terms_in(p.b.type), p.batch)),
        d(span_of({{p.m, p.d.row}, {p.n, p.d.column}, {p.batch, p.d.batch}}, p.d.type)) {
    for (const epilogue::tree_memory& m : p.tree.memory()) memory.push_back(span_of(m, p.batch));
  }
  std::uint64_t all() const noexcept {
    std::uint64_t sum = room(a) + room(b) + room(d);
    for (const span& m : memory) sum += room(m);
    return sum;
  }
  span a, b, d;
  std::vector<span> memory;
};

}  // namespace

result<std::unique_ptr<rehearsal>> rehearsal::make(const problem& p, const call& c, CUstream stream) {
  std::unique_ptr<rehearsal> out(new rehearsal(c, stream));
  const std::uint64_t each = spans(p).all(), count = rehearsing::copies_beyond_cache(each);
  out->copies_.emplace(TROUPE_TRY(rehearsing::take(each * count, c, stream)));
  for (std::uint64_t i = 0; i < count; ++i) TROUPE_TRY(out->add_turn(p, out->copies_->address() + i * each));
  return out;
}

result<void> rehearsal::add_turn(const problem& p, std::uint64_t at) {
  const spans all(p);
  auto t = std::make_unique<turn>();
  t->product = p;
  // The same place within 256 bytes, so that alignments stay what they are. What is written is read by no other plan.
  const auto move = [&](std::uint64_t& address, const span& of, bool read) {
    return rehearsing::move(address, of, read, at, stream_);
  };
  TROUPE_TRY(move(t->product.a.address, all.a, true));
  TROUPE_TRY(move(t->product.b.address, all.b, true));
  TROUPE_TRY(move(t->product.d.address, all.d, false));
  const epilogue::tree& tree = p.tree;
  t->memory.assign(tree.memory().begin(), tree.memory().end());
  for (std::size_t i = 0; i < t->memory.size(); ++i)
    TROUPE_TRY(move(t->memory[i].address, all.memory[i], t->memory[i].mode == access_mode::read));
  // The tree with the new addresses.
  t->encoded = encoded_tree(tree.nodes(), tree.numbers(), t->memory);
  t->product.tree = epilogue::tree(t->encoded.data(), t->encoded.size());
  turns_.push_back(std::move(t));
  return {};
}

result<double> rehearsal::time(const route& way, lane& on) {
  const std::uint64_t counters = way.arrivals * sizeof(unsigned);
  const auto scratch = TROUPE_TRY(rehearsing::take(way.scratch_bytes() + counters, call_, stream_));
  const std::uint64_t arrivals = scratch.address() + way.scratch_bytes();
  if (counters != 0)
    TROUPE_TRY(cuda::done_on(stream_, "cutlass", "cuMemsetD8Async", ::cuMemsetD8Async(arrivals, 0, counters, stream_)));
  const auto run = [&](int times) -> result<void> {
    for (int i = 0; i < times; ++i)
      TROUPE_TRY(
          enqueue(turns_[next_++ % turns_.size()]->product, way, on, scratch.address(), arrivals, 0, true, stream_));
    return {};
  };
  return rehearsing::least_time(run, stream_);
}

}  // namespace troupe::cutlass
