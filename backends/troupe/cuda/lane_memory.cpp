// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/cuda/lane_memory.hpp>
#include <troupe/cuda/stream_status.hpp>

namespace troupe::cuda {

result<lane_memory> lane_memory::make(std::string_view domain, std::size_t workspace_bytes) {
  auto arguments = TROUPE_TRY(argument_ring::make(domain));
  CUdeviceptr made = 0;
  TROUPE_TRY(done_on(nullptr, domain, "cuMemAlloc of a workspace", ::cuMemAlloc(&made, workspace_bytes)));
  return lane_memory(std::move(arguments), device_memory(made), workspace_bytes);
}

result<bool> lane_memory::begin(const call& c) {
  const auto stream = static_cast<CUstream>(c.stream);
  const bool records = c.recording != nullptr;
  const CUdeviceptr in =
      records ? reinterpret_cast<CUdeviceptr>(TROUPE_TRY(c.scratch(workspace_bytes_))) : memory_.get();
  // This call comes first. If it fails, no member has changed yet, so the next `begin` still reports the change.
  if (!records) TROUPE_TRY(arguments_.begin(stream));
  records_ = records ? &c : nullptr;
  const bool others = !has_begun_ || records || stream != stream_ || in != works_in_;
  stream_ = stream;
  works_in_ = in;
  has_begun_ = true;
  return others;
}

result<std::byte*> lane_memory::claim(std::size_t bytes) {
  if (records_ == nullptr) [[likely]]
    return arguments_.claim(bytes);
  return static_cast<std::byte*>(TROUPE_TRY(records_->constants(bytes)));
}

}  // namespace troupe::cuda
