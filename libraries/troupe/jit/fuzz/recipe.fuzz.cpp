// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Reads a recipe from arbitrary bytes, with the reader that module, fft and cutlass use for their recipes, too.
#include <cstdlib>
#include <string>
#include <troupe/jit/recipe_codec.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = troupe::jit::decode({reinterpret_cast<const char*>(data), size});
  if (!read) return 0;
  // An accepted recipe must be readable again after encoding.
  const std::string again = troupe::jit::encode(read->full);
  if (!troupe::jit::decode(again)) std::abort();
  return 0;
}
