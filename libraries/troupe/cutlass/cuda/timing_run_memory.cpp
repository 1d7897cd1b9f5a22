// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/try.hpp>
#include <troupe/cuda/stream_status.hpp>
#include <troupe/cutlass/cuda/timing_run_memory.hpp>

namespace troupe::cutlass::timing {
namespace {

constexpr std::uint64_t beyond_any_cache = std::uint64_t{192} << 20;
constexpr double enough_us = 4'000;  // duration of one average
constexpr int fewest = 3, most = 400, averages = 3;

result<cuda::event> make_event() {
  CUevent e = nullptr;
  TROUPE_TRY(cuda::done_on(nullptr, "cutlass", "cuEventCreate", ::cuEventCreate(&e, CU_EVENT_DEFAULT)));
  return cuda::event(e);
}

}  // namespace

span byte_range_of(std::initializer_list<std::pair<std::int64_t, std::int64_t>> extents_and_strides, dtype t) noexcept {
  span s;
  for (const auto& [extent, stride] : extents_and_strides) (stride < 0 ? s.first : s.last) += (extent - 1) * stride;
  const auto bytes = static_cast<std::int64_t>(bytes_of(t));
  return {s.first * bytes, (s.last + 1) * bytes};
}
std::uint64_t copy_bytes(const span& s) noexcept { return (s.bytes() + 511) / 256 * 256; }
std::uint64_t copies_beyond_cache(std::uint64_t bytes) noexcept {
  return std::clamp<std::uint64_t>((beyond_any_cache + bytes - 1) / bytes, 1, 64);
}

result<cuda::scratch> allocate(std::uint64_t bytes, const call& c, CUstream stream) {
  call here = c;
  here.stream = stream;
  return cuda::scratch::make(here, "cutlass", std::max<std::uint64_t>(256, bytes));
}

result<memory_with_counters> allocate_with_counters(std::uint64_t bytes, std::uint32_t count, const call& c,
                                                    CUstream stream) {
  const std::uint64_t before = (bytes + 255) / 256 * 256, counters = count * sizeof(unsigned);
  auto all = TROUPE_TRY(allocate(before + counters, c, stream));
  const std::uint64_t at = all.address() + before;
  if (counters != 0)
    TROUPE_TRY(cuda::done_on(stream, "cutlass", "cuMemsetD8Async", ::cuMemsetD8Async(at, 0, counters, stream)));
  return memory_with_counters{std::move(all), at};
}

result<void> copy_operand(const operand& o, std::uint64_t& next, CUstream stream) {
  const auto first = static_cast<std::uint64_t>(o.used.first);
  const std::uint64_t from = *o.address + first, to = next + from % 256;
  next += copy_bytes(o.used);
  *o.address = to - first;
  if (!o.read) return {};
  return cuda::done_on(stream, "cutlass", "cuMemcpyDtoDAsync", ::cuMemcpyDtoDAsync(to, from, o.used.bytes(), stream));
}

result<double> least_time(const std::function<result<void>(int times)>& run, CUstream stream) {
  const auto done = [&](const char* what, CUresult s) { return cuda::done_on(stream, "cutlass", what, s); };
  const cuda::event begin = TROUPE_TRY(make_event()), end = TROUPE_TRY(make_event());
  const auto average = [&](int times) -> result<double> {
    TROUPE_TRY(done("cuEventRecord", ::cuEventRecord(begin.get(), stream)));
    TROUPE_TRY(run(times));
    TROUPE_TRY(done("cuEventRecord", ::cuEventRecord(end.get(), stream)));
    TROUPE_TRY(done("cuEventSynchronize", ::cuEventSynchronize(end.get())));
    float ms = 0;
    TROUPE_TRY(done("cuEventElapsedTime", ::cuEventElapsedTime(&ms, begin.get(), end.get())));
    return static_cast<double>(ms) * 1e3 / times;
  };
  TROUPE_TRY(average(fewest));
  const double about = TROUPE_TRY(average(fewest));
  const int times = about <= 0 ? most : static_cast<int>(std::clamp(enough_us / about, double{fewest}, double{most}));
  double best = about;
  for (int i = 0; i < averages; ++i) best = std::min(best, TROUPE_TRY(average(times)));
  return best;
}

}  // namespace troupe::cutlass::timing
