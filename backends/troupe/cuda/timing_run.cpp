// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/cuda/timing_run.hpp>

namespace troupe::cuda {

byte_interval byte_interval_of(std::initializer_list<std::pair<std::int64_t, std::int64_t>> extents_and_strides,
                               dtype t) noexcept {
  byte_interval s;
  for (const auto& [extent, stride] : extents_and_strides) (stride < 0 ? s.first : s.last) += (extent - 1) * stride;
  const auto bytes = static_cast<std::int64_t>(bytes_of(t));
  return {s.first * bytes, (s.last + 1) * bytes};
}

std::uint64_t copies_beyond_cache(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t larger_than_any_cache = std::uint64_t{192} << 20;
  return std::clamp<std::uint64_t>((larger_than_any_cache + bytes - 1) / bytes, 1, 64);
}

result<timing_run> timing_run::make(const call& c, std::string_view domain, const limits& l) {
  const auto make_event = [domain]() -> result<event> {
    CUevent e = nullptr;
    TROUPE_TRY(done_on(nullptr, domain, "cuEventCreate", ::cuEventCreate(&e, CU_EVENT_DEFAULT)));
    return event(e);
  };
  event begin = TROUPE_TRY(make_event()), end = TROUPE_TRY(make_event());
  return timing_run(c, domain, l, std::move(begin), std::move(end));
}

result<double> timing_run::average(const std::function<result<void>(int times)>& run, int times) {
  TROUPE_TRY(done("cuEventRecord", ::cuEventRecord(begin_.get(), stream())));
  TROUPE_TRY(run(times));
  TROUPE_TRY(done("cuEventRecord", ::cuEventRecord(end_.get(), stream())));
  TROUPE_TRY(done("cuEventSynchronize", ::cuEventSynchronize(end_.get())));
  float ms = 0;
  TROUPE_TRY(done("cuEventElapsedTime", ::cuEventElapsedTime(&ms, begin_.get(), end_.get())));
  return static_cast<double>(ms) * 1e3 / times;
}

result<double> timing_run::time(const std::function<result<void>(int times)>& run) {
  const auto [average_us, fewest, most, averages] = limits_;
  TROUPE_TRY(average(run, fewest));
  const double about = TROUPE_TRY(average(run, fewest));
  const int times =
      about <= 0
          ? most
          : static_cast<int>(std::clamp(average_us / about, static_cast<double>(fewest), static_cast<double>(most)));
  double best = TROUPE_TRY(average(run, times));
  for (int i = 1; i < averages; ++i) best = std::min(best, TROUPE_TRY(average(run, times)));
  return best;
}

result<scratch> timing_run::allocate(std::uint64_t bytes) const {
  return scratch::make(call_, domain_, std::max<std::uint64_t>(256, bytes));
}

result<timing_run::memory_with_counters> timing_run::allocate_with_counters(std::uint64_t bytes,
                                                                            std::uint32_t count) const {
  const std::uint64_t before = (bytes + 255) / 256 * 256, counters = count * sizeof(unsigned);
  auto all = TROUPE_TRY(allocate(before + counters));
  const std::uint64_t at = all.address() + before;
  if (counters != 0) TROUPE_TRY(done("cuMemsetD8Async", ::cuMemsetD8Async(at, 0, counters, stream())));
  return memory_with_counters{std::move(all), at};
}

result<void> timing_run::copy(const timed_operand& o, std::uint64_t& next) const {
  const auto first = static_cast<std::uint64_t>(o.used.first);
  const std::uint64_t from = *o.address + first, to = next + from % 256;
  next += copy_bytes(o.used.bytes());
  *o.address = to - first;
  if (!o.read) return {};
  return done("cuMemcpyDtoDAsync", ::cuMemcpyDtoDAsync(to, from, o.used.bytes(), stream()));
}

}  // namespace troupe::cuda
