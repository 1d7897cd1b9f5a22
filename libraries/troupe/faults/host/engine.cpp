// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#undef NDEBUG  // because failed_assertion must fail in release builds, too
#include <fenv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <troupe/faults/internal/process.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::faults {
namespace {

// Recurses through a volatile depth, so that the compiler does not see that the recursion has no end.
std::size_t descend(const volatile std::size_t& depth) {
  volatile std::byte frame[4096];
  frame[depth % sizeof frame] = std::byte{1};
  const volatile std::size_t next = depth + 1;
  return depth == SIZE_MAX ? 0 : descend(next) + static_cast<std::size_t>(frame[0]);
}

struct host_engine {
  static result<std::unique_ptr<host_engine>> make(const engine_context&) { return std::make_unique<host_engine>(); }

  result<void> run(const segmentation_fault&, call&) {
    // A page without access, whose address certainly faults.
    void* page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *static_cast<volatile int*>(page == MAP_FAILED ? nullptr : page) = 1;
    return {};
  }
  result<void> run(const faults::abort&, call&) { std::abort(); }
  result<void> run(const abort_in_helper&, call&) { std::abort(); }
  result<void> run(const illegal_instruction&, call&) {
#if defined(__x86_64__)
    asm volatile("ud2");
#elif defined(__aarch64__)
    asm volatile("udf #0");
#else
    std::raise(SIGILL);
#endif
    return {};
  }
  result<void> run(const floating_point_trap&, call&) {
    ::feenableexcept(FE_DIVBYZERO);
    const volatile double zero = 0;
    const volatile double quotient = 1 / zero;
    (void)quotient;
    std::raise(SIGFPE);  // if this processor has no such traps
    return {};
  }
  // Calls _exit instead of std::exit, whose effect is unpredictable while other threads run.
  result<void> run(const faults::exit& r, call&) { ::_exit(static_cast<int>(r.code.value())); }
  result<void> run(const stack_overflow&, call&) {
    const volatile std::size_t first = 0;
    (void)descend(first);
    return {};
  }
  result<void> run(const failed_assertion&, call&) {
    const volatile bool holds = false;
    assert(holds);
    return {};
  }
  result<void> run(const shared_memory_overflow&, call&) {
    // A page without access follows the memory.
    constexpr std::size_t bytes = 48 << 10, behind = 4096;
    void* shared = ::mmap(nullptr, bytes + behind, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || ::mprotect(shared, bytes, PROT_READ | PROT_WRITE) != 0)
      return error::from_errno(reaction::retry_later, "faults", "mmap", errno);
    for (std::size_t i = 0; i <= bytes; ++i) static_cast<volatile std::byte*>(shared)[i] = std::byte{1};
    return {};
  }
  result<void> run(const hang& r, call&) {
    using clock = std::chrono::steady_clock;
    const auto until = clock::now() + std::chrono::milliseconds(r.milliseconds.value());
    while (r.milliseconds == 0 || clock::now() < until) {
    }
    return {};
  }
  result<void> run(const exhaust_memory& r, call&) { exhaust(r); }
  result<void> run(const wild_write& r, call&) {
    auto* at = reinterpret_cast<volatile std::uint32_t*>(static_cast<std::uintptr_t>(r.address));
    for (std::int64_t i = 0; i < r.bytes.value() / 4; ++i) at[i] = r.pattern;
    return {};
  }
  result<void> run(const garbage& r, call&) { return overwrite_shared_memory(r); }
};

}  // namespace
}  // namespace troupe::faults

using namespace troupe::faults;
TROUPE_ENGINE(host_engine, "faults", "host", troupe::with_slow<all_requests, abort_in_helper>)
