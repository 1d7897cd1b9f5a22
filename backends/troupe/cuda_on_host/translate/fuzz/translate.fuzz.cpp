// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda_on_host/translate/translate.hpp>

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)troupe::cuda_on_host::translate(text, {.any_brackets = true});
  (void)troupe::cuda_on_host::translate(text, {.kernels = {text.substr(0, 20)},
                                               .globals = {text.substr(size / 2, 20)},
                                               .only_fibers = true,
                                               .any_brackets = true});
  return 0;
}
