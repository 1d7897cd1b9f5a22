// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/argument_ring.hpp>
#include <troupe/cuda/stream_status.hpp>

namespace troupe::cuda {

result<argument_ring> argument_ring::make(std::string_view domain) {
  argument_ring out(domain);
  void* memory = nullptr;
  TROUPE_TRY(
      done_on(nullptr, domain, "cuMemHostAlloc",
              ::cuMemHostAlloc(&memory, parts * part_bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP)));
  out.memory_.reset(static_cast<std::byte*>(memory));
  for (event& passed : out.passed_) {
    CUevent made = nullptr;
    TROUPE_TRY(done_on(nullptr, domain, "cuEventCreate",
                       ::cuEventCreate(&made, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC)));
    passed.reset(made);
  }
  return out;
}

// All calls that used these parts have been made, so an event recorded now follows them.
result<void> argument_ring::begin(CUstream stream) {
  for (; left_ > 0; --left_) {
    const CUevent passed = passed_[(part_ + parts - left_) % parts].get();
    TROUPE_TRY(done_on(stream, domain_, "cuEventRecord", ::cuEventRecord(passed, stream)));
  }
  return {};
}

result<std::byte*> argument_ring::claim(std::size_t bytes) {
  constexpr std::size_t align = 16;
  bytes = round_up(bytes, align);
  if (bytes > part_bytes || left_ >= parts - 1)
    return error(reaction::fatal, std::string(domain_),
                 "the arguments of one call do not fit the ring of host memory for arguments");
  if (used_ + bytes > part_bytes) {
    ++left_;
    part_ = (part_ + 1) % parts;
    used_ = 0;
    // Returns at once if the event was never recorded.
    TROUPE_TRY(done_on(nullptr, domain_, "cuEventSynchronize", ::cuEventSynchronize(passed_[part_].get())));
  }
  std::byte* const at = memory_.get() + part_ * part_bytes + used_;
  used_ += bytes;
  return at;
}

}  // namespace troupe::cuda
