// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_fp16.h>

#include <troupe/cuda/embedded.hpp>
#include <troupe/dnn/generated/headers.hpp>
#include <troupe/dnn/operations/random/generator.hpp>
// Included, too, besides being embedded, so that the build recompiles this file when a header changes.
#include <troupe/epilogue/cuda/numbers.cuh>
#include <troupe/epilogue/op_definitions.hpp>
#include <vector>

// What the next header expects of a compiler of kernels.
[[maybe_unused]] static struct {
  unsigned x;
} threadIdx;
[[maybe_unused]] static void __syncthreads() {}
#undef __shared__
#define __shared__ static
#include <troupe/dnn/sets/threads.cuh>

#define HEADER(IDENTIFIER, FOLDER, NAME) \
  TROUPE_EMBEDDED_TEXT(troupe_dnn_header_##IDENTIFIER, TROUPE_SOURCES "/" FOLDER "/" NAME);
#include "header_list.inc"
#undef HEADER

namespace troupe::dnn::generated {
namespace {

// Replaces std::string_view, which headers use only for names that no kernel reads.
constexpr const char* string_view_of_kernels =
    "#pragma once\n"
    "namespace std {\n"
    "struct string_view {\n"
    "  const char* text;\n"
    "  constexpr string_view(const char* t = \"\") noexcept : text(t) {}\n"
    "};\n"
    "}\n";
// Replaces the header that gives enumerators names.
constexpr const char* enumeration_of_kernels = "#pragma once\n#define TROUPE_ENUM(...)\n";

}  // namespace

jit::recipe recipe_of(const std::string& source) {
  std::vector<std::pair<std::string, std::string>> headers{
#define HEADER(IDENTIFIER, FOLDER, NAME) {NAME, troupe_dnn_header_##IDENTIFIER},
#include "header_list.inc"
#undef HEADER
      {"string_view", string_view_of_kernels}, {"troupe/base/enumeration.hpp", enumeration_of_kernels}};
  jit::recipe r{.source = source, .name = "passes.cu"};
  r.headers = jit::named_texts(std::move(headers));
  r.fuse_multiply_add = false;
  return r;
}

}  // namespace troupe::dnn::generated
