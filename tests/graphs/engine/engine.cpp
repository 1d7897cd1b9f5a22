// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <time.h>
#include <stdexcept>

#include <troupe/base/clock.hpp>
#include <troupe/worker/engine.hpp>

#include "requests.hpp"

namespace flow {
namespace {

void work(std::uint32_t us) {
  if (us >= 20) {
    const timespec pause{.tv_sec = 0, .tv_nsec = long{us} * 1000};
    ::nanosleep(&pause, nullptr);
    return;
  }
  for (const std::int64_t end = troupe::now_ns() + us * 1000; us != 0 && troupe::now_ns() < end;) troupe::spin_hint();
}

struct engine {
  using nothing = troupe::result<void>;

  static troupe::result<std::unique_ptr<engine>> make(const troupe::engine_context&) {
    return std::make_unique<engine>();
  }

  template <class T>
  nothing run(const affine<T>& r, troupe::call&) {
    work(r.work_us);
    T* x = r.x.data();
    for (std::int64_t i = 0; i < r.n.value(); ++i, x += r.inc.value())
      *x = static_cast<T>(std::uint64_t{*x} * r.a + r.b);
    return {};
  }

  // Requests of the same shape may share a call.
  template <class T>
  static std::uint64_t group_of(const affine<T>& r) {
    return static_cast<std::uint64_t>(r.inc.value());
  }
  static std::uint64_t group_of(const mix& r) { return 1 + r.salt % 2; }
  static std::uint64_t group_of(const tile& r) { return r.replaces ? 2 : 1; }
  template <class R>
  nothing run_group(const troupe::group<R>& all, troupe::call& c) {
    for (std::size_t i = 0; i < all.size(); ++i) (void)run(all[i], c);
    return {};
  }

  nothing run(const add& r, troupe::call&) {
    const std::int64_t half = r.n.value() / 2;
    for (std::int64_t i = 0; i < half; ++i) r.y.data()[i] = 3 * r.y.data()[i] + r.x.data()[i];
    work(r.work_us);
    for (std::int64_t i = half; i < r.n.value(); ++i) r.y.data()[i] = 3 * r.y.data()[i] + r.x.data()[i];
    return {};
  }

  nothing run(const mix& r, troupe::call&) {
    const std::int64_t n = r.n.value();
    for (std::int64_t i = 0; i < n; ++i) r.z.data()[i] = r.x.data()[i];
    work(r.work_us);
    for (std::int64_t i = 0; i < n; ++i) r.z.data()[i] = r.z.data()[i] * r.salt + r.y.data()[n - 1 - i];
    return {};
  }

  nothing run(const scan& r, troupe::call&) {
    work(r.work_us);
    for (std::int64_t i = 1; i < r.n.value(); ++i) r.x.data()[i] += 5 * r.x.data()[i - 1];
    return {};
  }

  nothing run(const slide& r, troupe::call&) {
    work(r.work_us);
    const auto n = static_cast<std::size_t>(r.n.value());
    std::memmove(r.y.data(), r.x.data(), n);
    for (std::size_t i = 0; i < n; ++i)
      r.y.data()[i] = static_cast<std::byte>(static_cast<unsigned>(r.y.data()[i]) + 1);
    return {};
  }

  troupe::result<std::uint64_t> run(const hash& r, troupe::call&) {
    std::uint64_t h = 0xcbf29ce484222325ull;
    work(r.work_us);
    for (std::int64_t i = 0; i < r.n.value(); ++i)
      h = (h ^ static_cast<std::uint64_t>(r.x.data()[i])) * 0x100000001b3ull;
    return h;
  }

  nothing run(const gather& r, troupe::call&) {
    work(r.work_us);
    for (std::size_t i = 0; i < r.index.size(); ++i) r.y.data()[i] = r.x.data()[r.index[i]];
    return {};
  }

  nothing run(const tile& r, troupe::call&) {
    work(r.work_us);
    for (std::int64_t j = 0; j < r.columns.value(); ++j) {
      const std::uint32_t* a = r.a.data() + j * r.lda.value();
      std::uint32_t* c = r.c.data() + j * r.ldc.value();
      for (std::int64_t i = 0; i < r.rows.value(); ++i) c[i] = r.replaces ? a[i] : 7 * c[i] + a[i];
    }
    return {};
  }

  template <class T>
  nothing run(const fail<T>& r, troupe::call&) {
    std::memset(r.y.data(), 0xee, r.y.size() * sizeof(T) / 2);
    work(r.work_us);
    std::memset(r.z.data(), 0xee, r.z.size() * sizeof(T) / 2);
    const std::string text = "step " + std::to_string(r.step) + " was asked to fail";
    if (r.throws) throw std::runtime_error(text);
    return troupe::error(
        troupe::error::details{.reaction = troupe::reaction::unsupported, .domain = "flow", .code = 42, .text = text});
  }
};

}  // namespace
}  // namespace flow

using namespace flow;
using troupe::downloads, troupe::slow, troupe::uploads;
TROUPE_ENGINE(engine, "flow", "host", affine<std::uint8_t>, slow<affine<std::uint16_t>>, affine<std::uint32_t>,
              downloads<affine<std::uint64_t>>, slow<add>, uploads<mix>, downloads<scan>, slide, slow<hash>, gather,
              tile, fail<std::uint8_t>, slow<fail<std::uint16_t>>, uploads<fail<std::uint32_t>>,
              downloads<fail<std::uint64_t>>)
