// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/error.hpp>
#include <vector>

/// The output of `troupe-worker --describe FILE` and `--describe-driver`, which `troupe doctor` reads. Each line is a
/// key and, after one blank, its value. Readers skip lines with unknown keys. A description may be written in parts:
/// their texts, one after the other, are the text of the whole.
namespace troupe::protocol {

/// What an engine reports about itself:
///   library blas
///   backend host
///   version OpenBLAS 0.3.21
///   request blas.gemm<f32>     one line for each, in the order of the engine
///   note threads: 2            one line for each line of troupe_engine::notes
///   end                        always last; if it is missing, the engine ended the process, at the latest while
///   closing
///
/// An engine that cannot serve reports, instead of all lines but the last, one of
///   unloadable <why>               no engine can be loaded from this file
///   no_device <why>                the first device of its backend cannot be used by any engine
///   refused <reaction> <why>       the engine itself reports that it cannot serve here
struct engine_description {
  enum class obstacle : std::uint8_t { none, unloadable, no_device, refused };
  std::string library, backend, version;
  std::vector<std::string> requests, notes;
  obstacle what = obstacle::none;
  std::string why;                                   ///< reason of the obstacle
  enum reaction reaction = troupe::reaction::fatal;  ///< reaction of the engine that refused
  bool complete = false;
};

/// What is known of the NVIDIA driver:
///   library /usr/lib/x86_64-linux-gnu/libcuda.so.580.82.07   what the loader found as libcuda.so.1
///   version 13000                                            of CUDA, as CUDA counts, that it supports
///   refused 100 CUDA_ERROR_NO_DEVICE (...)                   what cuInit returned, unless it succeeded
///   device 9.0 150754820096 0 NVIDIA H200                    one line for each: capability, bytes, compute mode, name
///   unheard cannot load NVML: ...                            why faults are detected only when the driver reports them
///   unnamed cannot read the kernel's log ...                 why reports of faults do not name the process
///   end                                                      always last
///
/// or, if the library is missing or is not a driver:
///   unloadable <why>
struct driver_description {
  struct gpu {
    std::string name, capability;
    std::uint64_t bytes = 0;
    int mode = 0;  ///< a CUcomputemode
  };
  std::string library;     ///< the file found as libcuda.so.1
  std::string unloadable;  ///< why no usable library was found
  int version = 0;         ///< CUDA version that it supports, as CUDA counts; 0: unknown
  int code = 0;            ///< the result of cuInit; 0: success
  std::string refused;     ///< the result of cuInit in words
  std::vector<gpu> gpus;
  std::string unheard;  ///< why workers do not detect faults of the first GPU themselves; empty if they do, or if there
                        ///< is no GPU
  std::string unnamed;  ///< why reports of faults do not name the process; empty if they do, or if there is no GPU
  bool complete = false;
};

/// Returns the text of a description. Omits fields that are empty or have their default value.
std::string text_of(const engine_description& engine);
std::string text_of(const driver_description& driver);
/// Parses a description. Missing or damaged fields stay empty or 0. If a key for one value is repeated, the last line
/// counts.
engine_description parse_engine_description(const std::string& text);
driver_description parse_driver_description(const std::string& text);

}  // namespace troupe::protocol
