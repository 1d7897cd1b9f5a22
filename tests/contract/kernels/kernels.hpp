// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iterator>
#include <mutex>
#include <troupe/jit/jit.hpp>
#include <troupe/module/module.hpp>

#include <tests/contract/harness.hpp>

/// Helpers for tests of jit and module.
namespace troupe::whole {

/// Returns the image built from tests/contract/images/kernels.cpp.
inline std::vector<std::byte> test_image() {
  std::ifstream file(path_of("TROUPE_TEST_IMAGE", TROUPE_TEST_IMAGE), std::ios::binary);
  const std::vector<char> all{std::istreambuf_iterator<char>(file), {}};
  const auto* first = reinterpret_cast<const std::byte*>(all.data());
  return {first, first + all.size()};
}

/// The struct that the kernel ns::apply takes.
struct affine {
  float scale, offset;
  double extra;
};

template <class T>
buffer<T> uploaded(const device& gpu, const std::vector<T>& data) {
  auto b = gpu.alloc<T>(data.size());
  gpu.upload(b, data);
  return b;
}

/// Keeps a program loaded, for requests that refer to its parts without a handle.
template <class Program>
Program kept(Program p) {
  static std::mutex lock;
  static std::vector<Program> all;
  const std::scoped_lock guard(lock);
  return all.emplace_back(std::move(p));
}

/// Returns the text of an error.
inline std::string text_of(const error& e) { return e.text(); }
template <class T>
std::string text_of(pending<T> p) {
  return error_of(std::move(p)).text();
}

}  // namespace troupe::whole
