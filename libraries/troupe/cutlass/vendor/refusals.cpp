// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/vendor/refusals.hpp>

namespace troupe::cutlass::vendor {
namespace {

error wrong(const kernel_variant& c, std::string_view field, long long value, std::string_view expected) {
  return error(reaction::caller_bug, "cutlass", cat(c.name, ": ", field, " is ", value, "; expected ", expected));
}
error unaligned(const kernel_variant& c, std::string_view field, long long value, long long multiple,
                std::string_view unit) {
  return error(reaction::unsupported, "cutlass",
               cat(c.name, ": ", field, " is ", value, "; expected a multiple of ", multiple, " ", unit,
                   ": use family::ampere, which takes any alignment"));
}

// Refuses an operand's address, which is not part of the text: while a plan is chosen, an address stands for all those
// with the same remainder.
result<void> check_address(const kernel_variant& c, std::string_view operand, const void* at, long long multiple) {
  const auto beyond = reinterpret_cast<std::uintptr_t>(at) % static_cast<std::uintptr_t>(multiple);
  if (beyond == 0) return {};
  return error(reaction::unsupported, "cutlass",
               cat(c.name, ": ", operand, " begins ", beyond, " bytes after a multiple of ", multiple,
                   " bytes; expected a multiple: use family::ampere, which takes any alignment"));
}

// An operand of a product.
struct operand {
  std::string_view name;
  const void* at;
  const char* type;
  const char* layout;
  long long rows, columns, line, batch;
  int alignment;
};

result<void> check_operand(const kernel_variant& c, const operand& o, int matrices) {
  const bool by_rows = std::string_view(o.layout) == "row";
  const long long extent = by_rows ? o.columns : o.rows, lines = by_rows ? o.rows : o.columns;
  const std::string line = cat(o.name, "_line"), batch = cat(o.name, "_batch");
  if (o.at == nullptr) return wrong(c, o.name, 0, "an address in device memory");
  const long long bytes = static_cast<long long>(o.alignment) * bits_of(o.type) / 8;
  TROUPE_TRY(check_address(c, o.name, o.at, bytes));
  if (o.line < extent) return wrong(c, line, o.line, cat("at least ", extent));
  if (o.line % o.alignment != 0) return unaligned(c, line, o.line, o.alignment, "elements");
  if (extent % o.alignment != 0)
    return unaligned(c, cat("the length of the lines of ", o.name), extent, o.alignment, "elements");
  if (matrices > 1 && o.batch % o.alignment != 0) return unaligned(c, batch, o.batch, o.alignment, "elements");
  if (matrices > 1 && o.name == "d" && o.batch < lines * o.line && o.batch > -lines * o.line)
    return wrong(c, batch, o.batch, cat("at least ", lines * o.line, ", so that results do not overlap"));
  return {};
}

result<void> check_product(const kernel_variant& c, const launch& l) {
  if (l.m < 1) return wrong(c, "m", l.m, "at least 1");
  if (l.n < 1) return wrong(c, "n", l.n, "at least 1");
  if (l.k < 1) return wrong(c, "k", l.k, "at least 1: for an empty sum, scale c instead");
  if (l.batch < 1) return wrong(c, "batch", l.batch, "at least 1");
  if (c.kind == scaled_product && l.batch > 1)
    return error(reaction::unsupported, "cutlass",
                 cat(c.name, ": batch is ", l.batch, "; expected 1: launch each product"));
  operand operands[] = {{"a", l.a, c.a, c.a_layout, l.m, l.k, l.a_line, l.a_batch, c.a_alignment},
                        {"b", l.b, c.b, c.b_layout, l.k, l.n, l.b_line, l.b_batch, c.b_alignment},
                        {"d", l.d, c.d, c.d_layout, l.m, l.n, l.d_line, l.d_batch, c.d_alignment},
                        {"c", l.c, c.c, c.d_layout, l.m, l.n, l.c_line, l.c_batch, c.d_alignment}};
  for (const operand& o : operands)
    if (o.name != "c" || l.beta != 0)
      if (auto r = check_operand(c, o, l.batch); !r) return r;
  if (c.bias != 0 && l.bias == nullptr) return wrong(c, "bias", 0, "an address in device memory");
  if (c.bias == 0 && l.bias != nullptr)
    return error(reaction::unsupported, "cutlass",
                 cat(c.name, ": bias is set; expected null: use a kernel whose epilogue adds a bias"));
  if (c.scale != nullptr && (l.a_scales == nullptr || l.b_scales == nullptr))
    return wrong(c, l.a_scales == nullptr ? "a_scales" : "b_scales", 0, "an address in device memory");
  return {};
}

result<void> check_groups(const kernel_variant& c, const launch& l) {
  if (l.groups < 1) return wrong(c, "groups", l.groups, "at least 1");
  const std::pair<std::string_view, const void*> arrays[] = {{"shapes", l.shapes},
                                                             {"group_a", l.group_a},
                                                             {"group_b", l.group_b},
                                                             {"group_c", l.group_c},
                                                             {"group_d", l.group_d},
                                                             {"group_a_line", l.group_a_line},
                                                             {"group_b_line", l.group_b_line},
                                                             {"group_c_line", l.group_c_line},
                                                             {"group_d_line", l.group_d_line}};
  for (const auto& [name, at] : arrays)
    if (at == nullptr) return wrong(c, name, 0, "an array in device memory, one element for each group");
  return {};
}

result<void> check_convolution(const kernel_variant& c, const launch& l) {
  const std::pair<std::string_view, int> sizes[] = {{"images", l.images},
                                                    {"height", l.height},
                                                    {"width", l.width},
                                                    {"channels", l.channels},
                                                    {"filters", l.filters},
                                                    {"filter_height", l.filter_height},
                                                    {"filter_width", l.filter_width},
                                                    {"stride_height", l.stride_height},
                                                    {"stride_width", l.stride_width},
                                                    {"dilation_height", l.dilation_height},
                                                    {"dilation_width", l.dilation_width}};
  for (const auto& [name, size] : sizes)
    if (size < 1) return wrong(c, name, size, "at least 1");
  if (l.pad_height < 0) return wrong(c, "pad_height", l.pad_height, "at least 0");
  if (l.pad_width < 0) return wrong(c, "pad_width", l.pad_width, "at least 0");
  if ((l.filter_height - 1) * l.dilation_height >= l.height + 2 * l.pad_height)
    return wrong(
        c, "filter_height", l.filter_height,
        cat("at most ", (l.height + 2 * l.pad_height - 1) / l.dilation_height + 1, ", to fit the padded image"));
  if ((l.filter_width - 1) * l.dilation_width >= l.width + 2 * l.pad_width)
    return wrong(c, "filter_width", l.filter_width,
                 cat("at most ", (l.width + 2 * l.pad_width - 1) / l.dilation_width + 1, ", to fit the padded image"));
  if (l.channels % c.a_alignment != 0) return unaligned(c, "channels", l.channels, c.a_alignment, "elements");
  if (l.filters % c.a_alignment != 0) return unaligned(c, "filters", l.filters, c.a_alignment, "elements");
  const std::pair<std::string_view, const void*> operands[] = {{"a", l.a}, {"b", l.b}, {"d", l.d}, {"c", l.c}};
  for (const auto& [name, at] : operands) {
    if (name == "c" && l.beta == 0) continue;
    if (at == nullptr) return wrong(c, name, 0, "an address in device memory");
    TROUPE_TRY(check_address(c, name, at, 16));
  }
  return {};
}

}  // namespace

int bits_of(const char* type) noexcept {
  const std::string_view name = type;
  if (name == "f32" || name == "tf32") return 32;
  if (name == "f16" || name == "bf16") return 16;
  if (name == "e4m3" || name == "ue4m3" || name == "ue8m0") return 8;
  return name == "e2m1" ? 4 : 0;
}

result<void> check(const kernel_variant& c, const launch& l) {
  auto checked = c.kind == grouped_product ? check_groups(c, l)
                 : c.kind >= conv_forward  ? check_convolution(c, l)
                                           : check_product(c, l);
  if (!checked) return checked;
  switch (c.can_compute(&l)) {
    case accepted:
      return {};
    case misaligned:
      return error(
          reaction::unsupported, "cutlass",
          cat(c.name, ": CUTLASS reports a misaligned operand; expected multiples of ", c.a_alignment, " elements"));
    default:
      return error(reaction::unsupported, "cutlass",
                   cat(c.name,
                       ": CUTLASS rejects this launch, because it is too large or has an option that the kernel "
                       "lacks; use another kernel"));
  }
}

}  // namespace troupe::cutlass::vendor
