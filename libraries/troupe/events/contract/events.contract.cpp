// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/events/events.hpp>

#include <tests/contract/contract.hpp>

namespace troupe::whole {
namespace {

constexpr extent size = sizeof(events::event_memory);

buffer<float> written(const device& gpu) {
  auto x = gpu.alloc<float>(10);
  gpu.upload(x, counting(10));
  return x;
}
memory_range blank(const device& gpu, extent bytes = size) {
  return gpu.alloc_host<std::byte>(bytes, {.zeroed = true}).memory();
}
memory_range recorded(const device& gpu) {
  const memory_range event = blank(gpu);
  gpu.tell(events::record{
      .event = out<std::byte>(event), .after = {written(gpu).as<std::byte>()}, .number = 1, .inter_process = false});
  return event;
}
std::uint64_t number_in(const memory_range& event) {
  return reinterpret_cast<const events::event_memory*>(event.owner->host)->recorded.load();
}

struct record {
  using request = events::record;
  static request make(const device& gpu, std::uint64_t number) {
    return {.event = out<std::byte>(blank(gpu)),
            .after = {written(gpu).as<std::byte>(), written(gpu).as<std::byte>()},
            .number = number,
            .inter_process = false,
            .opened = in<std::byte>(blank(gpu))};
  }
  static request good(const device& gpu) { return make(gpu, 7); }
  static request bad(const device& gpu) { return make(gpu, 0); }
  static constexpr const char* bad_field = "number is 0";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    EXPECT_EQ(number_in(r.event.range()), 7u);
    EXPECT_EQ(gpu.download(buffer<std::byte>(r.after[1].range()).as<float>()).get().value(), counting(10));
  }
};

struct record_all {
  using request = events::record_all;
  static request make(const device& gpu, extent bytes) {
    return {.event = out<std::byte>(blank(gpu, bytes)), .number = 3, .inter_process = false};
  }
  static request good(const device& gpu) { return make(gpu, size); }
  static request bad(const device& gpu) { return make(gpu, size - 1); }
  static constexpr const char* bad_field = "event holds 31";
  static void expect_right(const device&, const request& r, const result<void>&) {
    EXPECT_EQ(number_in(r.event.range()), 3u);
  }
};

template <class Request>
struct on_an_event {
  using request = Request;
  static request good(const device& gpu) { return {.event = in<std::byte>(recorded(gpu))}; }
  static request bad(const device& gpu) { return {.event = in<std::byte>(blank(gpu, 8))}; }
  static constexpr const char* bad_field = "event holds 8";
  static void expect_right(const device&, const request& r, const result<void>&) {
    EXPECT_EQ(number_in(r.event.range()), 1u);
  }
};

struct hold_back {
  using request = events::hold_back;
  static request make(const device& gpu, const memory_range& event) {
    return {.event = in<std::byte>(event), .before = {written(gpu).as<std::byte>()}};
  }
  static request good(const device& gpu) { return make(gpu, recorded(gpu)); }
  static request bad(const device& gpu) { return make(gpu, blank(gpu, 8)); }
  static constexpr const char* bad_field = "event holds 8";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    EXPECT_EQ(gpu.download(buffer<std::byte>(r.before[0].range()).as<float>()).get().value(), counting(10));
  }
};

struct elapsed {
  using request = events::elapsed_time;
  static request good(const device& gpu) {
    const auto from = in<std::byte>(recorded(gpu));
    return {.from = from, .to = in<std::byte>(recorded(gpu))};
  }
  static request bad(const device& gpu) {
    return {.from = in<std::byte>(recorded(gpu)), .to = in<std::byte>(blank(gpu, 8))};
  }
  static constexpr const char* bad_field = "to holds 8";
  static void expect_right(const device&, const request&, const result<std::int64_t>& ns) {
    EXPECT_LT(std::abs(*ns), 60'000'000'000);
  }
};

struct forget {
  using request = events::forget;
  static request good(const device& gpu) { return {.event = out<std::byte>(recorded(gpu))}; }
  static request bad(const device& gpu) { return {.event = out<std::byte>(blank(gpu, 8))}; }
  static constexpr const char* bad_field = "event holds 8";
  static void expect_right(const device&, const request&, const result<void>&) {}
};

}  // namespace

using event_requests = testing::Types<record, record_all, on_an_event<events::reach>, hold_back, elapsed, forget>;
// Events that processes share are tested in tests/gpu_sharing.
static_assert(covers<event_requests, events::requests_here>);
INSTANTIATE_TYPED_TEST_SUITE_P(events, library_actor, event_requests);

}  // namespace troupe::whole
