// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <troupe/base/enumeration.hpp>
#include <troupe/base/list.hpp>
#include <troupe/base/result.hpp>
#include <troupe/base/text.hpp>
#include <troupe/base/time_span.hpp>
#include <utility>

namespace troupe::jit {

/// The caches in which a result may be found, and in which this one is stored.
enum class cache_use : std::uint8_t {
  disk,    ///< shared with other programs: see docs/jit.md
  memory,  ///< of this device's worker only
  none,    ///< the compiler always runs, and its result is not kept
};
TROUPE_ENUM(cache_use, disk, memory, none)

/// Pairs of a name and a text: `{{"N", "4"}, {"M", "8"}}`. Names must be distinct; the order is irrelevant.
using named_texts = list<std::pair<std::string, std::string>>;

/// A further part of a program, in CUDA C++ or precompiled. Exactly one of `source` and `image` must be set.
struct unit {
  text name;                   ///< used in messages
  text source = {};            ///< compiled with the recipe's settings
  list<std::byte> image = {};  ///< LTO IR, PTX, relocatable machine code (cubin, fatbin), or an archive of these
};

/// The recipe of a program: its CUDA C++ source and the options of its compile. The recipe alone determines the
/// program, so any worker can build it again.
struct recipe {
  text source;               ///< CUDA C++
  text name = "program.cu";  ///< the source's name in messages
  /// Kernels, as spelt in C++: "scale", "ns::reduce<float, 256>"; empty: all kernels that are not templates.
  list<std::string> kernels = {};
  /// __device__ and __constant__ variables that the application reads or writes
  list<std::string> globals = {};
  named_texts headers = {};              ///< names and texts; #include searches these first
  list<std::string> include_paths = {};  ///< folders; a relative path starts at the application's current folder
  named_texts definitions = {};          ///< macro names and values
  int standard = 20;                     ///< of C++: 17, 20 or 23
  /// Less exact: fast intrinsics, flush_to_zero, NaN and infinity may be mishandled.
  bool fast_math = false;
  bool flush_to_zero = false;     ///< flush subnormal numbers to 0
  bool fuse_multiply_add = true;  ///< round a * b + c once
  int optimisation = 3;           ///< 0 to 3
  /// Maps code to lines, for debuggers and profilers.
  bool debug_information = false;
  /// Limit for each thread; 0: the compiler decides. Not on the host engine.
  int max_registers = 0;
  text architecture = {};  ///< "": the device's own; otherwise "sm_90a" … on a GPU
  list<unit> units = {};   ///< linked with the source. GPU only
  /// Builds a unit for other recipes to link, by `program::image`; it cannot be launched.
  bool relocatable = false;
  bool link_time_optimisation = false;  ///< optimise the source and all units as one
  /// Speeds up compiling the next program that begins with the same headers. GPU only.
  bool precompiled_headers = false;
  list<std::string> options = {};  ///< further options, as the engine's compiler spells them
  /// Path; "" is TROUPE_CXX, or the first of c++, g++ and clang++ in PATH. Host engine only.
  text compiler = {};
  time_span timeout = time_span::of_seconds(60);  ///< for the compiler
  cache_use cache = cache_use::disk;
  std::uint64_t log_bytes = 64 << 10;  ///< limit of the stored messages of the compiler
};

/// Checks a recipe. Fails with a `caller_bug` that names the field if a field is wrong.
result<void> check(const recipe& r);

}  // namespace troupe::jit
