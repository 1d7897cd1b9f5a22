// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda_on_host/image.h>
#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <troupe/cuda_on_host/internal/fibers.hpp>
#include <troupe/cuda_on_host/launcher.hpp>
#include <vector>

namespace troupe::cuda_on_host {

// A launch, as the threads that run its blocks see it.
struct grid_run {
  std::uint32_t (*run)(troupe_host_block*);
  dim grid, block;
  std::uint32_t shared_bytes;
  void* const* arguments;
  bool flush_to_zero;

  std::uint64_t blocks() const noexcept { return std::uint64_t{grid.x} * grid.y * grid.z; }
};

// Why a grid ended early. The image owns the texts in `fault`.
struct grid_fault {
  std::uint32_t status = TROUPE_HOST_OK;
  troupe_host_fault fault{};
  troupe_host_dim index{};
};

// What one thread needs to run blocks: shared memory, scratch memory, fibers. Not thread-safe.
class block_runner {
 public:
  block_runner() noexcept;

  // Returns false if shared memory cannot be allocated.
  bool prepare(const grid_run& run) noexcept;
  // Runs blocks first ... first + count - 1 of the prepared grid in order, x fastest. Stops at the first fault, or when
  // `stop` is set. Returns true if all blocks have run.
  bool run(std::uint64_t first, std::uint64_t count, const std::atomic<bool>* stop) noexcept;
  grid_fault fault() const noexcept { return {status_, block_.fault, block_.index}; }

 private:
  struct release {
    void operator()(char* p) const noexcept { std::free(p); }
  };
  using memory = std::unique_ptr<char[], release>;

  static block_runner& of(troupe_host_block* b) noexcept { return *static_cast<block_runner*>(b->launcher); }
  static fibers& fibers_of(troupe_host_block* b, const char* file, std::uint32_t line);
  static void more_scratch(troupe_host_block* b, std::uint64_t bytes);
  static void leave(troupe_host_block* b, std::uint32_t status);
  static const troupe_host_services services;

  void place(std::uint64_t block) noexcept;
  void begin_block() noexcept;
  bool run_blocks(std::uint64_t count, const std::atomic<bool>* stop);

  troupe_host_block block_{};
  std::uint32_t (*run_)(troupe_host_block*) = nullptr;
  std::uint32_t status_ = TROUPE_HOST_OK;
  bool flush_to_zero_ = false;
  memory shared_;
  std::vector<memory> scratch_;    // the last piece is in use; the others are kept until the block ends
  std::size_t scratch_bytes_ = 0;  // size of the last piece
  fibers fibers_;
  std::jmp_buf leave_;
};

}  // namespace troupe::cuda_on_host
