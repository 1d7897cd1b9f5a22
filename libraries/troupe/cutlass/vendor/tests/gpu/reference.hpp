// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <troupe/cutlass/vendor/interface.hpp>

/// Device memory, random values in it, and products and convolutions in double precision, for tests on a GPU. Each
/// function ends the program with a message if CUDA fails.
namespace troupe::cutlass::vendor::reference {

class memory {
 public:
  explicit memory(std::size_t bytes);
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;
  ~memory();
  void* at() const noexcept { return at_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void* at_ = nullptr;
  std::size_t bytes_;
};

/// Writes values in -1 to 1 that the type has; tf32 is stored as f32.
void fill(const memory& m, const std::string& type, unsigned seed);
/// Writes 0xff to all bytes: not a number in all types.
void poison(const memory& m);
void copy_in(const memory& to, const void* from, std::size_t bytes);
int capability();
std::string device_name();
int multiprocessors();
void synchronize();

/// The largest difference from double precision, in units of the tolerance: more than 1 is wrong. `touched`: elements
/// between the lines of d that are no longer poisoned.
struct difference {
  double worst = 0;
  unsigned long long touched = 0;
};

/// Compares d with the product `l` of `c` in double precision; gelu: with the activation of `sm90_bf16_bias_gelu`.
difference compare(const kernel_variant& c, const launch& l);
difference compare_convolution(const kernel_variant& c, const launch& l);

/// An image of a kernel compiled at run time.
class image {
 public:
  explicit image(const std::string& file);
  image(const image&) = delete;
  image& operator=(const image&) = delete;
  ~image();
  unsigned parameter_bytes() const;
  void run(const grid& g, const void* parameters, std::size_t bytes) const;

 private:
  void *module_ = nullptr, *kernel_ = nullptr;
};

}  // namespace troupe::cutlass::vendor::reference
