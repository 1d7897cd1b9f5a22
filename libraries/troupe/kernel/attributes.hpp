// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/dtype.hpp>
#include <vector>

namespace troupe::kernel {

/// What a kernel does with an argument.
enum class passing : std::uint8_t {
  value,          ///< takes it by value
  const_pointer,  ///< reads the buffer: `in`
  pointer,        ///< may write the buffer: `out`, `inout`
  unknown,        ///< only its size is known: of kernels that are `extern "C"` on a GPU
};

/// One parameter of a kernel.
struct parameter_attributes {
  std::string type;  ///< as C++ spells it; empty when only its size is known
  enum passing passing = passing::value;
  dtype element{};              ///< of the value or the buffer's elements; `dtype{}` for a struct or void
  std::uint64_t bytes = 0;      ///< of the same; 0 for a pointer to void, or to what only the compiler knows
  std::uint64_t alignment = 0;  ///< of the same; 0 when nobody knows
};

/// What is known of a kernel of a loaded program.   cuFuncGetAttribute
struct attributes {
  std::string name;
  std::uint32_t max_threads = 0;          ///< of a block
  std::uint32_t static_shared_bytes = 0;  ///< of shared memory that the source declares
  std::uint32_t local_bytes = 0;          ///< of memory for each thread beside its registers
  std::uint32_t registers = 0;            ///< of each thread; on a GPU
  std::uint32_t constant_bytes = 0;       ///< of constant memory that the source declares; on a GPU
  std::string execution;                  ///< how the engine runs its threads, and why so: for people
  std::vector<parameter_attributes> parameters;
};

/// How much of a kernel runs at the same time, with the block and shared memory that were asked about.
struct occupancy {
  std::uint32_t blocks = 0;               ///< on each multiprocessor; 0: such a block fits none
  std::uint32_t processors = 0;           ///< multiprocessors; threads of the host engine
  std::uint32_t clusters = 0;             ///< on the whole GPU; 0 without clusters
  std::uint32_t most_cluster_blocks = 0;  ///< of the largest cluster that could be launched; 0: none
  std::uint32_t best_threads = 0;  ///< of the block with which most threads run at the same time; 0: it does not matter
  std::uint32_t best_blocks = 0;   ///< of the smallest grid of those that fills the GPU
};

/// The answer of a request for attributes. The rest is in the buffer that goes with it.
struct attributes_head {
  std::uint32_t max_threads, static_shared_bytes, local_bytes, parameters, registers, constant_bytes;
  std::uint64_t listing_bytes;  ///< more than the buffer holds: nothing was written
};

}  // namespace troupe::kernel
