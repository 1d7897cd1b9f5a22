// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/hash/fnv.hpp>
#include <troupe/cuda/embedded.hpp>
#include <troupe/cutlass/variants/recipe.hpp>
#include <utility>
#include <vector>

#define HEADER(IDENTIFIER, FOLDER, NAME) \
  TROUPE_EMBEDDED_TEXT(troupe_cutlass_header_##IDENTIFIER, TROUPE_SOURCES "/" FOLDER "/" NAME);
#include "header_list.inc"
#undef HEADER
TROUPE_EMBEDDED_TEXT(troupe_cutlass_standard, TROUPE_SOURCES "/libraries/troupe/cutlass/templates/standard.inc");

namespace troupe::cutlass {

jit::recipe recipe_of(const std::string& source, const std::string& name) {
  std::vector<std::pair<std::string, std::string>> headers{
#define HEADER(IDENTIFIER, FOLDER, NAME) {NAME, troupe_cutlass_header_##IDENTIFIER},
#include "header_list.inc"
#undef HEADER
  };
  headers.emplace_back("troupe/cutlass/templates/standard.inc", troupe_cutlass_standard);
  // One text replaces all of these standard headers.
  for (const char* const header :
       {"cmath", "cstddef", "cstdint", "iterator", "limits", "span", "string_view", "type_traits"})
    headers.emplace_back(header, "#include <troupe/cutlass/templates/standard.inc>\n");
  jit::recipe r{.source = source, .name = name};
  r.headers = jit::named_texts(std::move(headers));
  return r;
}

std::uint64_t version_of_templates() noexcept {
  static const std::uint64_t version = [] {
    std::uint64_t hash = fnv1a(troupe_cutlass_standard);
#define HEADER(IDENTIFIER, FOLDER, NAME) hash = fnv1a(hash, std::string_view(troupe_cutlass_header_##IDENTIFIER));
#include "header_list.inc"
#undef HEADER
    return hash;
  }();
  return version;
}

}  // namespace troupe::cutlass
