// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Memory by descriptor, exported and imported, and tensors of DLPack, exported and imported.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <troupe/blas/blas.hpp>
#include <troupe/device/sharing.hpp>
#include <troupe/interop/dlpack.hpp>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

using namespace troupe;

constexpr int n = 4096;

/// Adds one to all elements, as another program with the descriptor would.
bool add_one(const shared_memory& m) {
  void* const at = mmap(nullptr, m.allocation_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m.descriptor.get(), 0);
  if (at == MAP_FAILED) return false;
  auto* const x = reinterpret_cast<float*>(static_cast<std::byte*>(at) + m.offset_bytes);
  for (std::size_t i = 0; i < m.bytes / sizeof(float); ++i) x[i] += 1;
  munmap(at, m.allocation_bytes);
  return true;
}

task<result<int>> all(device gpu, device other, device near) {
  int wrong = 0;
  // Export: another program works on our buffer.
  auto x = gpu.alloc<float>(n);
  gpu.fill(x, 4.0f);
  const shared_memory shared = co_await export_memory(gpu, x);
  co_await lend(gpu, x);
  wrong += !add_one(shared);
  co_await take_back(gpu, x);
  wrong += co_await gpu.download(x) != std::vector<float>(n, 5.0f);

  // Import: one device imports what another exports.
  auto theirs = import_memory<float>(other, co_await export_memory(gpu, x));
  co_await lend(gpu, x);
  co_await other.ask(blas::scal<float>{.x = theirs, .n = n, .alpha = 3});
  co_await take_back(gpu, x);
  wrong += co_await gpu.download(x) != std::vector<float>(n, 15.0f);

  // Import: a memory file of our own, named in place.
  const int fd = memfd_create("ours", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  wrong += fd < 0 || ftruncate(fd, n * sizeof(float)) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0;
  auto* const ours = static_cast<float*>(mmap(nullptr, n * sizeof(float), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  for (int i = 0; i < n; ++i) ours[i] = static_cast<float>(i % 3);
  auto imported = import_memory<float>(
      gpu, {.descriptor = file_descriptor(fd), .bytes = n * sizeof(float), .allocation_bytes = n * sizeof(float)});
  wrong += co_await gpu.ask(blas::asum<float>{.x = imported, .n = n}) != n / 3 * 3;
  co_await gpu.fill(imported, 7.0f);
  wrong += ours[0] != 7 || ours[n - 1] != 7;
  munmap(ours, n * sizeof(float));

  // DLPack: export, and import on a device with a worker thread.
  const dlpack::tensor lent = co_await dlpack::to_dlpack(gpu, x, {.shape = {64, 64}});
  auto borrowed = dlpack::from_dlpack<float>(near, lent.managed());
  if (!borrowed) co_return borrowed.error();
  wrong +=
      borrowed->layout.shape != list<std::int64_t>{64, 64} || borrowed->layout.strides != list<std::int64_t>{64, 1};
  co_await near.fill(borrowed->data, 9.0f);
  co_await take_back(gpu, x);
  wrong += co_await gpu.download(x) != std::vector<float>(n, 9.0f);
  dlpack::release(lent.managed());

  // Memory of this program, by address.
  auto numbers = std::make_shared<std::vector<float>>(n, 2.0f);
  {
    auto adopted = adopt_memory(near, numbers->data(), n, numbers);
    co_await near.ask(blas::scal<float>{.x = adopted, .n = n, .alpha = 8});
  }
  wrong += *numbers != std::vector<float>(n, 16.0f);
  co_return wrong;
}

int main() {
  runtime rt;
  const auto wrong = sync_wait(
      all(rt.open_device(), rt.open_device(), rt.open_device({.name = "near", .isolation = isolation::thread})));
  if (!wrong) return std::fprintf(stderr, "descriptors: %s\n", wrong.error().to_string().c_str()), 1;
  std::printf("%d wrong\n", *wrong);
  return *wrong == 0 ? 0 : 1;
}
