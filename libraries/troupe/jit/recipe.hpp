// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <troupe/base/containers/list.hpp>
#include <troupe/base/containers/text.hpp>
#include <troupe/base/enumeration.hpp>
#include <troupe/base/result.hpp>
#include <troupe/base/time_span.hpp>
#include <utility>

namespace troupe::jit {

/// The caches in which an image is searched for, and in which it is stored.
enum class cache_use : std::uint8_t {
  disk,    ///< in memory, and on disk, shared with other programs: see docs/jit.md
  memory,  ///< in the memory of this device's worker only
  none,    ///< nowhere: the compiler always runs, and its result is not stored
};
TROUPE_ENUM(cache_use, disk, memory, none)

/// Pairs of a name and a text: `{{"N", "4"}, {"M", "8"}}`. Names must be distinct; the order has no effect.
using named_texts = list<std::pair<std::string, std::string>>;

/// A further part of a program, in CUDA C++ or precompiled. Exactly one of `source` and `image` must be set.
struct unit {
  text name;                   ///< the unit's name in messages
  text source = {};            ///< compiled with the recipe's settings
  list<std::byte> image = {};  ///< LTO IR, PTX, relocatable machine code (cubin, fatbin), or an archive of these
};

/// The recipe of a program: its CUDA C++ source and the options of its compile. A worker needs nothing else to build
/// the program, so any worker can build it again.
struct recipe {
  text source;               ///< CUDA C++
  text name = "program.cu";  ///< the source's name in messages
  /// Kernels, as spelled in C++: "scale", "ns::reduce<float, 256>"; empty: all kernels that are not templates.
  list<std::string> kernels = {};
  /// __device__ and __constant__ variables that the application reads or writes.
  list<std::string> globals = {};
  named_texts headers = {};              ///< file names and texts; #include searches these first
  list<std::string> include_paths = {};  ///< folders; a relative path starts at the application's current folder
  named_texts definitions = {};          ///< macro names and values
  int standard = 20;                     ///< C++ standard: 17, 20 or 23
  /// Allows less exact results: uses fast intrinsics and flush_to_zero, and may mishandle NaN and infinity.
  bool fast_math = false;
  bool flush_to_zero = false;     ///< treat subnormal numbers as 0
  bool fuse_multiply_add = true;  ///< compute a * b + c with one rounding
  int optimisation = 3;           ///< 0 to 3
  /// Records which line code comes from, for debuggers and profilers.
  bool debug_information = false;
  /// Maximum number of registers per thread; 0: the compiler decides. GPU only.
  int max_registers = 0;
  text architecture = {};  ///< empty: the device's own architecture; otherwise such as "sm_90a". GPU only
  list<unit> units = {};   ///< linked with the source. GPU only
  /// Builds a unit for other recipes to link, by `program::image`; it cannot be launched.
  bool relocatable = false;
  bool link_time_optimisation = false;  ///< optimize the source and all units as one
  /// Speeds up compiling the next program that begins with the same headers. GPU only.
  bool precompiled_headers = false;
  list<std::string> options = {};  ///< further options, as the engine's compiler spells them
  /// Path of the compiler; empty: TROUPE_CXX, or else the first of c++, g++ and clang++ in PATH. Host engine only.
  text compiler = {};
  time_span timeout = time_span::of_seconds(60);  ///< limit for compiling and linking
  cache_use cache = cache_use::disk;
  std::uint64_t log_bytes = 64 << 10;  ///< limit of the compiler's messages that are kept
};

/// Checks a recipe. Fails with a `caller_bug` that names the first wrong field.
result<void> check(const recipe& r);

}  // namespace troupe::jit
