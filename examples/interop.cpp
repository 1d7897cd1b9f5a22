// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A buffer that other code works on in between: here code of the same program, through the buffer's descriptor, and a
// tensor.
#include <sys/mman.h>

#include <cstdio>
#include <troupe/device/sharing.hpp>
#include <troupe/interop/dlpack.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

// Another program would do the same with a descriptor received over a socket.
bool double_all(const shared_memory& m) {
  void* const at = mmap(nullptr, m.allocation_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m.descriptor.get(), 0);
  if (at == MAP_FAILED) return false;
  auto* const x = reinterpret_cast<float*>(static_cast<std::byte*>(at) + m.offset_bytes);
  for (std::size_t i = 0; i < m.bytes / sizeof(float); ++i) x[i] *= 2;
  munmap(at, m.allocation_bytes);
  return true;
}

result<std::vector<float>> with_others(const device& gpu) {
  auto x = gpu.alloc<float>(1000);
  gpu.fill(x, 21.0f);
  const result<shared_memory> shared = export_memory(gpu, x);
  if (!shared) return shared.error();

  if (auto ours = lend(gpu, x).get(); !ours) return ours.error();  // what was sent before is done
  if (!double_all(*shared)) return error(reaction::fatal, "example", "mmap failed");
  if (auto back = take_back(gpu, x).get(); !back) return back.error();  // what they left counts as written
  return gpu.download(x).get();
}

result<void> as_a_tensor(const device& gpu) {
  auto x = gpu.alloc<float>(64 * 128, {.zeroed = true});
  const result<dlpack::tensor> lent = dlpack::to_dlpack(gpu, x, {.shape = {64, 128}}).get();
  if (!lent) return lent.error();
  DLManagedTensorVersioned* const theirs = lent->managed();  // the receiver's: whose deleter ends its share
  dlpack::release(theirs);
  return {};
}

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  const auto doubled = with_others(gpu);
  const auto lent = as_a_tensor(gpu);
  if (!doubled || !lent) {
    std::fprintf(stderr, "%s\n", (doubled ? lent.error() : doubled.error()).to_string().c_str());
    return 1;
  }
  std::printf("%g\n", static_cast<double>(doubled->front()));
  return doubled->front() == 42 ? 0 : 1;
}
