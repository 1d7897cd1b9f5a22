// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Copies between devices, on one GPU (one_gpu*) and on two (two_gpus*). With TROUPE_TEST_ENGINE=host they run on the
// host engine, to try the tests themselves.
#include <algorithm>
#include <cstdio>
#include <random>
#include <tests/support/devices.hpp>
#include <troupe/device/peers.hpp>
#include <troupe/device/sharing.hpp>
#include <troupe/jit/jit.hpp>

namespace troupe {
namespace {

using namespace whole;

enum class path { direct, staged };
struct place {
  std::uint32_t second;  // ordinal of the other device's GPU; the first one is 0
  path how;
};

bool on_host() { return std::getenv("TROUPE_TEST_ENGINE") != nullptr && engine_under_test() == "host"; }

constexpr const char* source = R"(
__global__ void write_late(int* x, int n, int value, long long turns) {
  volatile long long i = 0;
  while (i < turns) i = i + 1;
  for (int k = threadIdx.x; k < n; k += blockDim.x) x[k] = value;
}
__global__ void add(const int* from, int* to, int n) {
  for (int k = threadIdx.x; k < n; k += blockDim.x) to[k] += from[k];
}
__global__ void write_wildly(int* x) { x[(1LL << 44) + threadIdx.x] = 1; }
)";

class peers_on_gpus : public testing::TestWithParam<place> {
 protected:
  void SetUp() override {
    here = open(0);
    there = open(on_host() ? 0 : GetParam().second);
    ASSERT_OK(here->started().get()) << "this test needs a GPU";
    ASSERT_OK(there->started().get()) << "this test needs " << GetParam().second + 1 << " GPUs";
  }
  device open(std::uint32_t ordinal) {
    return rt.open_device({.engine = on_host() ? "host" : "cuda",
                           .ordinal = ordinal,
                           .peer_access = GetParam().how == path::direct,
                           .restarts = 20});
  }
  // Returns true if the copy must be direct: on one GPU always; between two, if the driver says so.
  bool expects_direct() const { return GetParam().how == path::direct && peer(*here, *there)->access; }
  static std::vector<int> noise(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<int> out(n);
    for (int& v : out) v = static_cast<int>(random());
    return out;
  }
  static void tell(const device& gpu, const jit::program& p, const char* kernel, kernel::arguments arguments) {
    gpu.tell(jit::launch{.kernel = p.kernel(kernel), .grid = 1, .block = 128, .arguments = std::move(arguments)});
  }

  runtime rt;
  std::optional<device> here, there;
};

std::string name_of(const testing::TestParamInfo<place>& i) {
  return i.param.how == path::direct ? "direct" : "staged";
}
INSTANTIATE_TEST_SUITE_P(one_gpu, peers_on_gpus, testing::Values(place{0, path::direct}, place{0, path::staged}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(two_gpus, peers_on_gpus, testing::Values(place{1, path::direct}, place{1, path::staged}),
                         name_of);

TEST_P(peers_on_gpus, report_their_link) {
  const auto seen = peer(*here, *there), back = peer(*there, *here);
  ASSERT_OK(seen);
  ASSERT_OK(back);
  std::printf("%s sees %s: access %d, link %s, atomics %d, rank %d\n", here->name().c_str(), there->name().c_str(),
              seen->access, to_string(seen->link).data(), seen->native_atomics, seen->performance_rank);
  EXPECT_EQ(seen->link, back->link);
  const auto h = here->statistics().hardware, t = there->statistics().hardware;
  if (!on_host()) {
    EXPECT_EQ(seen->link == peer_link::same_device, GetParam().second == 0);
    EXPECT_EQ(h.pci == t.pci, GetParam().second == 0);
  }
  if (GetParam().second != 0 && !on_host()) {
    EXPECT_TRUE(std::any_of(h.peers.begin(), h.peers.end(), [&](const auto& p) { return p.pci == t.pci; }));
  }
  const device both[] = {*here, *there};
  const auto groups = islands(both);
  ASSERT_OK(groups);
  EXPECT_EQ(groups->size(), seen->access && back->access ? 1u : 2u);
}

TEST_P(peers_on_gpus, copy_every_byte_both_ways) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{1} << 18, (std::size_t{1} << 24) + 3}) {
    const auto data = noise(n, static_cast<unsigned>(n));
    const auto x = there->alloc<int>(n), y = here->alloc<int>(n), z = there->alloc<int>(n);
    ASSERT_OK(there->upload(x, data).get());
    ASSERT_OK(copy_between(*here, y, *there, x).get());
    ASSERT_OK(copy_between(*there, z, *here, y).get());
    EXPECT_TRUE(there->download(z).get().value() == data) << n;
  }
  for (const auto& [to, from] : {std::pair(*here, *there), std::pair(*there, *here)}) {
    const auto all = to.statistics().peers;
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].from, from.name());
    EXPECT_EQ(all[0].direct, expects_direct());
    EXPECT_EQ(all[0].copies, 3u);
  }
}

TEST_P(peers_on_gpus, print_their_copy_rate) {
  const std::size_t bytes = std::size_t{on_host() ? 64u : 1024u} << 20;
  constexpr int times = 10;
  const auto x = there->alloc<std::uint32_t>(bytes / 4), y = here->alloc<std::uint32_t>(bytes / 4);
  there->fill(x, 7u);
  ASSERT_OK(copy_between(*here, y, *there, x).get());
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) ASSERT_OK(copy_between(*here, y, *there, x).get());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%s: %.1f GB/s\n", here->statistics().peers[0].direct ? "direct" : "staged",
              static_cast<double>(bytes) * times / seconds / 1e9);
}

TEST_P(peers_on_gpus, keep_copies_in_the_order_of_both_devices) {
  const int n = 1 << 20;
  const jit::program program = jit::compile(*there, {.source = source});
  const auto x = there->alloc<int>(n, {.zeroed = true}), y = here->alloc<int>(n, {.zeroed = true});
  for (int round = 1; round <= 5; ++round) {
    tell(*there, program, "write_late", {inout(x), n, round, static_cast<long long>(1'000'000)});
    here->fill(y, -1);
    copy_between(*here, y, *there, x);
    there->fill(x, -2);
    const auto got = here->download(y).get();
    ASSERT_OK(got);
    EXPECT_EQ(std::count(got->begin(), got->end(), round), n);
  }
}

TEST_P(peers_on_gpus, fail_with_the_fault_of_the_source_alone) {
  if (on_host()) return;  // the kernel needs an address without any memory
  const int n = 1 << 20;
  const jit::program program = jit::compile(*there, {.source = source});
  const auto x = there->alloc<int>(n, {.zeroed = true}), y = here->alloc<int>(n, {.zeroed = true});
  ASSERT_OK(copy_between(*here, y, *there, x).get());
  const auto w = there->alloc<int>(1);
  tell(*there, program, "write_wildly", {inout(w)});
  tell(*there, program, "write_late", {inout(x), n, 1, static_cast<long long>(1'000'000)});
  const auto failed = copy_between(*here, y, *there, x).get();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().reaction(), reaction::context_lost) << error_text(failed);
  EXPECT_FALSE(y.readable());
  EXPECT_EQ(here->statistics().faults, 0u);
  there->fill(x, 5);
  copy_between(*here, y, *there, x);
  const auto got = here->download(y).get();
  ASSERT_OK(got);
  EXPECT_EQ(std::count(got->begin(), got->end(), 5), n);
}

TEST_P(peers_on_gpus, survive_the_death_of_either_worker_during_copies) {
  const std::size_t n = std::size_t{on_host() ? 4u : 64u} << 20;
  const auto x = there->alloc<int>(n), y = here->alloc<int>(n);
  for (int round = 0; round < 6; ++round) {
    const device &dies = round % 2 == 0 ? *there : *here, &lives = round % 2 == 0 ? *here : *there;
    const std::uint64_t faults = lives.statistics().faults;
    std::vector<pending<void>> all;
    there->fill(x, round);
    for (int i = 0; i < 8; ++i) all.push_back(copy_between(*here, y, *there, x));
    replace_worker(dies);
    for (auto& a : all)
      if (const auto got = a.get(); !got) {
        EXPECT_EQ(got.error().reaction(), reaction::context_lost) << error_text(got);
      }
    if (const auto got = here->download(y).get()) {
      EXPECT_EQ(static_cast<std::size_t>(std::count(got->begin(), got->end(), round)), n);
    }
    EXPECT_EQ(lives.statistics().faults, faults);
    there->fill(x, 100 + round);
    copy_between(*here, y, *there, x);
    const auto after = here->download(y).get();
    ASSERT_OK(after);
    EXPECT_EQ(static_cast<std::size_t>(std::count(after->begin(), after->end(), 100 + round)), n);
  }
}

TEST_P(peers_on_gpus, can_be_enabled_before_the_first_copy_if_they_have_access) {
  const auto x = there->alloc<int>(1000, {.zeroed = true});
  const auto enabled = enable_peer(*here, *there);
  EXPECT_EQ(static_cast<bool>(enabled), expects_direct()) << error_text(enabled);
  if (!enabled) {
    EXPECT_EQ(enabled.error().reaction(), reaction::unsupported);
    return;
  }
  EXPECT_EQ(here->statistics().peers.at(0).seen_bytes, there->statistics().memory.reserved_bytes);
}

TEST_P(peers_on_gpus, let_kernels_read_each_others_memory_if_they_have_access) {
  const int n = 100000;
  const jit::program program = jit::compile(*here, {.source = source});
  const auto x = there->alloc<int>(n), y = here->alloc<int>(n);
  there->fill(x, 40);
  here->fill(y, 2);
  ASSERT_OK(lend(*there, x).get());
  auto shared = export_memory(*there, x);
  ASSERT_OK(shared);
  const auto seen = import_memory<int>(*here, std::move(*shared));
  if (!seen.readable()) {
    EXPECT_FALSE(peer(*here, *there)->access) << seen.cause()->to_string();
    return;
  }
  tell(*here, program, "add", {in(seen), inout(y), n});
  const auto got = here->download(y).get();
  ASSERT_OK(got);
  EXPECT_EQ(std::count(got->begin(), got->end(), 42), n);
}

}  // namespace
}  // namespace troupe
