// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <troupe/cutlass/vendor/interface.hpp>

/// Device memory with random values, and comparisons of products and convolutions with double precision, for tests on a
/// GPU. Each function ends the program with a message if CUDA fails.
namespace troupe::cutlass::vendor::reference {

/// A piece of device memory.
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

/// Writes values between -1 and 1 of the type; tf32 is stored as f32.
void fill(const memory& m, const std::string& type, unsigned seed);
/// Writes 0xff to all bytes, which is NaN in all types.
void poison(const memory& m);
void copy_in(const memory& to, const void* from, std::size_t bytes);
int capability();
std::string device_name();
int multiprocessors();
void synchronize();

/// The difference of a result from double precision.
struct difference {
  double worst = 0;                ///< the largest error / tolerance; more than 1 is wrong
  unsigned long long touched = 0;  ///< elements between the lines of d that were overwritten
};

/// Compares l.d with the product, or with gelu of the product if the kernel's epilogue has gelu.
difference compare(const kernel_variant& c, const launch& l);
difference compare_convolution(const kernel_variant& c, const launch& l);

/// The image of a kernel that was compiled at run time.
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
