// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/cuda/rehearsal.hpp>

namespace troupe::cutlass {
namespace {

constexpr std::uint64_t beyond_any_cache = std::uint64_t{192} << 20;
constexpr double enough_us = 4'000;  // for one average
constexpr int fewest = 3, most = 400, averages = 3;

// A part of memory: from the first byte that is used to the last.
struct span {
  std::int64_t first = 0, last = 0;  // bytes from the address
  std::uint64_t bytes() const noexcept { return static_cast<std::uint64_t>(last - first); }
};
span span_of(std::initializer_list<std::pair<std::int64_t, std::int64_t>> extents_and_distances, dtype t) noexcept {
  span s;
  for (const auto& [extent, distance] : extents_and_distances)
    (distance < 0 ? s.first : s.last) += (extent - 1) * distance;
  const auto bytes = static_cast<std::int64_t>(bytes_of(t));
  return {s.first * bytes, (s.last + 1) * bytes};
}
span span_of(const factor& f, std::int64_t lines, std::int64_t terms, std::int64_t batch) noexcept {
  return span_of({{lines, f.line}, {terms, f.term}, {batch, f.batch}}, f.type);
}
std::uint64_t room(const span& s) noexcept { return (s.bytes() + 511) / 256 * 256; }

result<cuda::event> make_event() {
  CUevent e = nullptr;
  TROUPE_TRY(cuda::done_on(nullptr, "cutlass", "cuEventCreate", ::cuEventCreate(&e, CU_EVENT_DEFAULT)));
  return cuda::event(e);
}

struct spans {
  explicit spans(const problem& p)
      : a(span_of(p.a, p.m, p.k / matmul::terms_in(p.a.type), p.batch)),
        b(span_of(p.b, p.n * (p.paired ? 2 : 1), p.k / matmul::terms_in(p.b.type), p.batch)),
        d(span_of({{p.m, p.d.row}, {p.n, p.d.column}, {p.batch, p.d.batch}}, p.d.type)) {
    for (const epilogue::tree_memory& m : p.tree.memory())
      memory.push_back(span_of(
          {{m.shape.rows, m.shape.row_stride}, {m.shape.columns, m.shape.column_stride}, {p.batch, m.batch_stride}},
          m.type));
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
  const std::uint64_t each = spans(p).all();
  const std::uint64_t count = std::clamp<std::uint64_t>((beyond_any_cache + each - 1) / each, 1, 64);
  call here = c;
  here.stream = stream;
  auto copies = TROUPE_TRY(cuda::scratch::make(here, "cutlass", each * count));
  out->copies_.emplace(std::move(copies));
  for (std::uint64_t i = 0; i < count; ++i) TROUPE_TRY(out->add_turn(p, out->copies_->address() + i * each));
  out->begin_ = TROUPE_TRY(make_event());
  out->end_ = TROUPE_TRY(make_event());
  return out;
}

result<void> rehearsal::add_turn(const problem& p, std::uint64_t at) {
  const spans all(p);
  auto t = std::make_unique<turn>();
  t->product = p;
  // The same place within 256 bytes, so that alignments stay what they are. What is written is read by no other plan.
  const auto move = [&](std::uint64_t& address, const span& s, bool copied) -> result<void> {
    const std::uint64_t from = address + static_cast<std::uint64_t>(s.first), to = at + from % 256;
    at += room(s);
    address = to - static_cast<std::uint64_t>(s.first);
    return copied ? cuda::done_on(stream_, "cutlass", "cuMemcpyDtoDAsync",
                                  ::cuMemcpyDtoDAsync(to, from, s.bytes(), stream_))
                  : result<void>();
  };
  TROUPE_TRY(move(t->product.a.address, all.a, true));
  TROUPE_TRY(move(t->product.b.address, all.b, true));
  TROUPE_TRY(move(t->product.d.address, all.d, false));
  const epilogue::tree& tree = p.tree;
  t->memory.assign(tree.memory().begin(), tree.memory().end());
  for (std::size_t i = 0; i < t->memory.size(); ++i)
    TROUPE_TRY(move(t->memory[i].address, all.memory[i], t->memory[i].mode == access_mode::read));
  // The tree with the new addresses.
  const epilogue::tree::head h{static_cast<std::uint32_t>(tree.nodes().size()),
                               static_cast<std::uint32_t>(tree.numbers().size()),
                               static_cast<std::uint32_t>(tree.memory().size()), 0};
  t->encoded.resize(epilogue::tree::encoded_bytes(h.nodes, h.numbers, h.memory));
  std::byte* to = t->encoded.data();
  const auto put = [&to](const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
    to += bytes;
  };
  put(&h, sizeof h);
  put(tree.nodes().data(), tree.nodes().size_bytes());
  put(tree.numbers().data(), tree.numbers().size_bytes());
  put(t->memory.data(), t->memory.size() * sizeof t->memory[0]);
  t->product.tree = epilogue::tree(t->encoded.data(), t->encoded.size());
  turns_.push_back(std::move(t));
  return {};
}

result<double> rehearsal::run(const route& way, lane& on, int times, std::uint64_t memory, std::uint64_t arrivals) {
  const auto done = [this](const char* what, CUresult s) { return cuda::done_on(stream_, "cutlass", what, s); };
  TROUPE_TRY(done("cuEventRecord", ::cuEventRecord(begin_.get(), stream_)));
  for (int i = 0; i < times; ++i)
    TROUPE_TRY(enqueue(turns_[next_++ % turns_.size()]->product, way, on, memory, arrivals, 0, true, stream_));
  TROUPE_TRY(done("cuEventRecord", ::cuEventRecord(end_.get(), stream_)));
  TROUPE_TRY(done("cuEventSynchronize", ::cuEventSynchronize(end_.get())));
  float ms = 0;
  TROUPE_TRY(done("cuEventElapsedTime", ::cuEventElapsedTime(&ms, begin_.get(), end_.get())));
  return static_cast<double>(ms) * 1e3 / times;
}

result<double> rehearsal::time(const route& way, lane& on) {
  call here = call_;
  here.stream = stream_;
  const std::uint64_t counters = way.arrivals * sizeof(unsigned);
  auto scratch =
      TROUPE_TRY(cuda::scratch::make(here, "cutlass", std::max<std::uint64_t>(256, way.scratch_bytes() + counters)));
  const std::uint64_t arrivals = scratch.address() + way.scratch_bytes();
  if (counters != 0)
    TROUPE_TRY(cuda::done_on(stream_, "cutlass", "cuMemsetD8Async", ::cuMemsetD8Async(arrivals, 0, counters, stream_)));
  TROUPE_TRY(run(way, on, fewest, scratch.address(), arrivals));
  const double about = TROUPE_TRY(run(way, on, fewest, scratch.address(), arrivals));
  const int times = about <= 0 ? most : static_cast<int>(std::clamp(enough_us / about, double{fewest}, double{most}));
  double best = about;
  for (int i = 0; i < averages; ++i)
    best = std::min(best, TROUPE_TRY(run(way, on, times, scratch.address(), arrivals)));
  return best;
}

}  // namespace troupe::cutlass
