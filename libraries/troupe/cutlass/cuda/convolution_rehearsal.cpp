// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/cells/encoded_tree.hpp>
#include <troupe/cutlass/cuda/convolution_rehearsal.hpp>
#include <troupe/cutlass/cuda/rehearsal_memory.hpp>

namespace troupe::cutlass {
namespace {

using rehearsing::room, rehearsing::span, rehearsing::span_of;

span span_of_tensor(const placed_tensor& t, std::int64_t items, std::int64_t channels, const std::int64_t* places) {
  return span_of({{items, t.item},
                  {channels, t.channel},
                  {places[0], t.spatial[0]},
                  {places[1], t.spatial[1]},
                  {places[2], t.spatial[2]}},
                 t.type);
}

struct spans {
  explicit spans(const convolution_problem& p)
      : x(span_of_tensor(p.x, p.images, p.groups * p.channels / share(p, convolution_result::dx), p.window.in)),
        filters(span_of_tensor(p.filters, p.groups * p.outputs, p.channels, p.window.width)),
        y(span_of_tensor(p.y, p.images, p.groups * p.outputs / share(p, convolution_result::y), p.window.out)) {
    const std::int64_t batch = p.result == convolution_result::dfilters ? 1 : p.images;
    for (const epilogue::tree_memory& m : p.tree.memory()) memory.push_back(span_of(m, batch));
  }
  static std::int64_t share(const convolution_problem& p, convolution_result r) {
    return p.paired && p.result == r ? 2 : 1;
  }
  std::uint64_t all() const noexcept {
    std::uint64_t sum = room(x) + room(filters) + room(y);
    for (const span& m : memory) sum += room(m);
    return sum;
  }
  span x, filters, y;
  std::vector<span> memory;
};

}  // namespace

result<std::unique_ptr<convolution_rehearsal>> convolution_rehearsal::make(const convolution_problem& p, const call& c,
                                                                           CUstream stream) {
  std::unique_ptr<convolution_rehearsal> out(new convolution_rehearsal(c, stream));
  const std::uint64_t each = spans(p).all(), count = rehearsing::copies_beyond_cache(each);
  out->copies_.emplace(TROUPE_TRY(rehearsing::take(each * count, c, stream)));
  for (std::uint64_t i = 0; i < count; ++i) TROUPE_TRY(out->add_turn(p, out->copies_->address() + i * each));
  return out;
}

result<void> convolution_rehearsal::add_turn(const convolution_problem& p, std::uint64_t at) {
  const spans all(p);
  auto t = std::make_unique<turn>();
  t->of = p;
  const auto move = [&](placed_tensor& to, const span& s) {
    return rehearsing::move(to.address, s, &to != &t->of.computed(), at, stream_);
  };
  TROUPE_TRY(move(t->of.x, all.x));
  TROUPE_TRY(move(t->of.filters, all.filters));
  TROUPE_TRY(move(t->of.y, all.y));
  std::vector<epilogue::tree_memory> memory(p.tree.memory().begin(), p.tree.memory().end());
  for (std::size_t i = 0; i < memory.size(); ++i)
    TROUPE_TRY(rehearsing::move(memory[i].address, all.memory[i], memory[i].mode == access_mode::read, at, stream_));
  t->encoded = encoded_tree(p.tree.nodes(), p.tree.numbers(), memory);
  t->of.tree = epilogue::tree(t->encoded.data(), t->encoded.size());
  turns_.push_back(std::move(t));
  return {};
}

result<double> convolution_rehearsal::time(const convolution_route& way, const chip& chip, lane& on) {
  const std::uint64_t counters = arrivals_of(way) * sizeof(unsigned), bytes = (way.scratch_bytes() + 255) / 256 * 256;
  const auto scratch = TROUPE_TRY(rehearsing::take(bytes + counters, call_, stream_));
  const std::uint64_t arrivals = scratch.address() + bytes;
  if (counters != 0)
    TROUPE_TRY(cuda::done_on(stream_, "cutlass", "cuMemsetD8Async", ::cuMemsetD8Async(arrivals, 0, counters, stream_)));
  const auto run = [&](int times) -> result<void> {
    for (int i = 0; i < times; ++i)
      TROUPE_TRY(enqueue(turns_[next_++ % turns_.size()]->of, way, chip, on, scratch.address(), arrivals, stream_));
    return {};
  };
  return rehearsing::least_time(run, stream_);
}

}  // namespace troupe::cutlass
