// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// table PLUG-IN [--check PAGE | --sizes]: prints the table of kernels for docs/cutlass-vendor.md, or checks that the
// page has it; or prints each kernel with the bytes of its parameters.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/vendor/variants.hpp>

using namespace troupe;
using namespace troupe::cutlass::vendor;

namespace {

std::string kind_of(const kernel_variant& c) {
  switch (c.kind) {
    case product:
      return "product";
    case scaled_product:
      return cat("block-scaled product, ", c.scale, " for ", c.scale_block);
    case grouped_product:
      return "grouped product";
    case conv_forward:
      return "convolution 2-D, forward";
    case conv_data_gradient:
      return "convolution 2-D, data gradient";
    default:
      return "convolution 2-D, weight gradient";
  }
}

std::string row_of(const kernel_variant& c) {
  return cat("| `", c.name, "` | ", kind_of(c), " | ", c.a, " → ", c.d, " | ", c.a_layout, ", ", c.b_layout, " → ",
             c.d_layout, " | ", c.tile_m, " × ", c.tile_n, " × ", c.tile_k, ", ", c.stages, " stages",
             c.cluster_m * c.cluster_n > 1 ? cat(", cluster ", c.cluster_m, " × ", c.cluster_n) : "", " | ", c.schedule,
             " | ", c.epilogue, " | ", c.machine_code, " | ", c.source != nullptr ? "yes" : "no", " | ",
             runs_on(c, tested_capability) ? "ran on 9.0" : "**compiles only**", " |\n");
}

}  // namespace

int main(int count, char** words) {
  const bool sizes = count == 3 && std::string_view(words[2]) == "--sizes";
  if (count != 2 && count != 4 && !sizes) return std::fprintf(stderr, "table PLUG-IN [--check PAGE | --sizes]\n"), 2;
  const auto loaded = kernel_variants::load(words[1]);
  if (!loaded) return std::fprintf(stderr, "%s\n", loaded.error().text().c_str()), 1;
  if (sizes) {
    for (const kernel_variant* c : loaded->all()) std::printf("%s %u\n", c->name, c->parameter_bytes);
    return 0;
  }
  std::string table =
      "| kernel | kind | elements | layouts | tile | schedule | epilogue | machine code | NVRTC too | on a GPU "
      "|\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (const kernel_variant* c : loaded->all()) table += row_of(*c);
  if (count == 2) return std::fputs(table.c_str(), stdout), 0;
  std::stringstream page;
  page << std::ifstream(words[3]).rdbuf();
  if (page.str().find(table) != std::string::npos) return 0;
  std::fprintf(stderr, "%s has another table than the plug-in; put this in:\n%s", words[3], table.c_str());
  return 1;
}
