// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/dtype.hpp>
#include <troupe/base/enumeration.hpp>
#include <vector>

namespace troupe::kernel {

/// The way in which a kernel's parameter is passed.
enum class passing : std::uint8_t {
  value,          ///< by value
  const_pointer,  ///< pointer to a buffer that the kernel only reads: `in`
  pointer,        ///< pointer to a buffer that the kernel may write: `out`, `inout`
  unknown,        ///< unknown, but for the size: `extern "C"` kernels on a GPU
};
TROUPE_ENUM(passing, value, const_pointer, pointer, unknown)

/// One parameter of a kernel.
struct parameter_attributes {
  std::string type;  ///< as spelled in C++; empty if only the size is known
  enum passing passing = passing::value;
  dtype element{};  ///< type of the value or of the buffer's elements; `dtype{}` for a struct or void
  /// Size of the value or of an element; 0 for a pointer to void, or if only the compiler knows it.
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 0;  ///< of the value or of an element; 0 if unknown
};

/// The properties of a kernel of a loaded program.   cuFuncGetAttribute
struct attributes {
  std::string name;
  std::uint32_t max_threads = 0;          ///< most threads of a block
  std::uint32_t static_shared_bytes = 0;  ///< shared memory that the source declares
  std::uint32_t local_bytes = 0;          ///< memory of each thread besides its registers
  std::uint32_t registers = 0;            ///< registers per thread; 0 on the host engine
  std::uint32_t constant_bytes = 0;       ///< constant memory that the source declares; 0 on the host engine
  std::string execution;                  ///< how the engine runs the kernel's threads, and why; for people
  std::vector<parameter_attributes> parameters;
};

/// The number of blocks of a kernel that run at the same time, for a block size and an amount of shared memory.
struct occupancy {
  std::uint32_t blocks = 0;               ///< blocks on each multiprocessor; 0: a block of this size does not fit
  std::uint32_t processors = 0;           ///< multiprocessors, or threads of the host engine
  std::uint32_t clusters = 0;             ///< clusters on the whole GPU; 0 without clusters
  std::uint32_t most_cluster_blocks = 0;  ///< blocks of the largest cluster that can be launched; 0: none
  /// Threads of the block size with which most threads run at the same time; 0: the block size has no effect.
  std::uint32_t best_threads = 0;
  std::uint32_t best_blocks = 0;  ///< the fewest blocks of `best_threads` threads that fill the GPU
};

/// The fixed part of the reply to a request for attributes. The rest is written to the request's buffer.
struct attributes_head {
  std::uint32_t max_threads, static_shared_bytes, local_bytes, parameters, registers, constant_bytes;
  std::uint64_t listing_bytes;  ///< size of the rest; if the buffer is smaller, nothing was written to it
};

}  // namespace troupe::kernel
