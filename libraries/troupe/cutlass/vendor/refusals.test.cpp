// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/cutlass/vendor/refusals.hpp>

namespace troupe::cutlass::vendor {
namespace {

const void* address(std::uintptr_t at) { return reinterpret_cast<const void*>(at); }

kernel_variant any_variant(variant_kind kind = product) {
  kernel_variant c{};
  c.name = "any_variant", c.kind = kind;
  c.a = c.b = c.c = c.d = "bf16";
  c.a_layout = "row", c.b_layout = "column", c.d_layout = "row";
  c.a_alignment = c.b_alignment = c.d_alignment = 8;
  c.can_compute = [](const launch*) -> int { return accepted; };
  return c;
}

launch good_product() {
  launch l{};
  l.m = 100, l.n = 64, l.k = 72, l.batch = 1;
  l.a = address(0x1000), l.b = address(0x2000), l.d = const_cast<void*>(address(0x3000));
  l.a_line = 72, l.b_line = 80, l.d_line = 64;
  l.alpha = 1;
  return l;
}

launch good_convolution() {
  launch l{};
  l.images = 2, l.height = 9, l.width = 7, l.channels = 16, l.filters = 32, l.filter_height = l.filter_width = 3;
  l.stride_height = l.stride_width = l.dilation_height = l.dilation_width = 1;
  l.a = address(0x1000), l.b = address(0x2000), l.d = const_cast<void*>(address(0x3000));
  return l;
}

// Returns the reaction and the text of a refusal; "" if the launch is accepted.
std::string refusal_of(const kernel_variant& c, const launch& l) {
  const auto r = check(c, l);
  return r ? "" : std::string(to_string(r.error().reaction())) + ": " + r.error().text();
}

template <class Change>
std::string product_with(Change change, kernel_variant c = any_variant()) {
  launch l = good_product();
  change(l);
  return refusal_of(c, l);
}

TEST(cutlass_vendor_launch_checks, a_valid_product_is_accepted) {
  EXPECT_EQ(refusal_of(any_variant(), good_product()), "");
  EXPECT_EQ(product_with([](launch& l) { l.m = 1; }), "") << "any number of lines is valid";
}

TEST(cutlass_vendor_launch_checks, a_refusal_of_an_empty_product_names_the_field) {
  EXPECT_EQ(product_with([](launch& l) { l.m = 0; }), "caller_bug: any_variant: m is 0; expected at least 1");
  EXPECT_EQ(product_with([](launch& l) { l.n = -8; }), "caller_bug: any_variant: n is -8; expected at least 1");
  EXPECT_NE(product_with([](launch& l) { l.k = 0; }).find("k is 0"), std::string::npos);
  EXPECT_EQ(product_with([](launch& l) { l.batch = 0; }), "caller_bug: any_variant: batch is 0; expected at least 1");
}

TEST(cutlass_vendor_launch_checks, missing_operands_are_refused) {
  for (const auto& [name, change] : {std::pair<const char*, void (*)(launch&)>{"a", [](launch& l) { l.a = nullptr; }},
                                     {"b", [](launch& l) { l.b = nullptr; }},
                                     {"d", [](launch& l) { l.d = nullptr; }}})
    EXPECT_EQ(product_with(change),
              std::string("caller_bug: any_variant: ") + name + " is 0; expected an address in device memory");
}

TEST(cutlass_vendor_launch_checks, c_is_required_only_if_beta_is_not_zero) {
  const auto beta = [](launch& l) { l.beta = 0.5f, l.c_line = 64; };
  EXPECT_EQ(product_with(beta), "caller_bug: any_variant: c is 0; expected an address in device memory");
  EXPECT_EQ(product_with([&](launch& l) { beta(l), l.c = address(0x4000); }), "");
}

TEST(cutlass_vendor_launch_checks, misaligned_operands_are_unsupported) {
  EXPECT_EQ(product_with([](launch& l) {
              l.a = address(0x1008);
            }).find("unsupported: any_variant: a begins 8 bytes after a multiple of 16 bytes"),
            0u);
  EXPECT_EQ(product_with([](launch& l) {
              l.a_line = 76;
            }).find("unsupported: any_variant: a_line is 76; expected a multiple of 8 elements"),
            0u);
  EXPECT_EQ(
      product_with([](launch& l) { l.k = 71; }).find("unsupported: any_variant: the length of the lines of a is 71"),
      0u);
  EXPECT_EQ(
      product_with([](launch& l) { l.n = 60; }).find("unsupported: any_variant: the length of the lines of d is 60"),
      0u)
      << "the lines of b have k elements";
  EXPECT_EQ(product_with([](launch& l) {
              l.batch = 2, l.a_batch = 7204, l.b_batch = 8000, l.d_batch = 6400;
            }).find("unsupported: any_variant: a_batch is 7204"),
            0u);
}

TEST(cutlass_vendor_launch_checks, lines_must_not_overlap) {
  EXPECT_EQ(product_with([](launch& l) { l.b_line = 64; }),
            "caller_bug: any_variant: b_line is 64; expected at least 72");
  EXPECT_EQ(product_with([](launch& l) { l.d_line = 56; }),
            "caller_bug: any_variant: d_line is 56; expected at least 64");
  EXPECT_EQ(product_with([](launch& l) {
              l.batch = 3, l.a_batch = l.b_batch = 8000, l.d_batch = 0;
            }).find("caller_bug: any_variant: d_batch is 0; expected at least 6400"),
            0u);
  EXPECT_EQ(product_with([](launch& l) { l.batch = 3, l.d_batch = 6400; }), "") << "factors may overlap";
}

TEST(cutlass_vendor_launch_checks, a_bias_or_scales_that_the_kernel_lacks_or_needs_are_refused) {
  const auto bias = [](launch& l) { l.bias = address(0x5000); };
  kernel_variant c = any_variant();
  EXPECT_EQ(product_with(bias, c).find("unsupported: any_variant: bias is set"), 0u);
  c.bias = 1;
  EXPECT_EQ(product_with(bias, c), "");
  EXPECT_EQ(product_with([](launch&) {}, c),
            "caller_bug: any_variant: bias is 0; expected an address in device memory");
  kernel_variant s = any_variant(scaled_product);
  s.scale = "ue8m0", s.scale_block = 32;
  EXPECT_EQ(product_with([](launch& l) { l.a_scales = address(0x6000); }, s),
            "caller_bug: any_variant: b_scales is 0; expected an address in device memory");
  EXPECT_EQ(product_with([](launch& l) { l.batch = 2; }, s).find("unsupported: any_variant: batch is 2; expected 1"),
            0u);
}

TEST(cutlass_vendor_launch_checks, launches_that_cutlass_rejects_are_unsupported) {
  kernel_variant c = any_variant();
  c.can_compute = [](const launch*) -> int { return rejected; };
  EXPECT_EQ(refusal_of(c, good_product()).find("unsupported: any_variant: CUTLASS rejects this launch"), 0u);
  c.can_compute = [](const launch*) -> int { return misaligned; };
  EXPECT_EQ(refusal_of(c, good_product()).find("unsupported: any_variant: CUTLASS reports a misaligned operand"), 0u);
}

TEST(cutlass_vendor_launch_checks, a_refusal_of_a_convolution_names_the_field) {
  const kernel_variant c = any_variant(conv_forward);
  const auto with = [&](auto change) {
    launch l = good_convolution();
    change(l);
    return refusal_of(c, l);
  };
  EXPECT_EQ(with([](launch&) {}), "");
  EXPECT_EQ(with([](launch& l) { l.stride_width = 0; }),
            "caller_bug: any_variant: stride_width is 0; expected at least 1");
  EXPECT_EQ(with([](launch& l) { l.pad_height = -1; }),
            "caller_bug: any_variant: pad_height is -1; expected at least 0");
  EXPECT_EQ(with([](launch& l) {
              l.dilation_height = 5;
            }).find("caller_bug: any_variant: filter_height is 3; expected at most 2, to fit the padded image"),
            0u);
  EXPECT_EQ(with([](launch& l) {
              l.channels = 12;
            }).find("unsupported: any_variant: channels is 12; expected a multiple of 8"),
            0u);
  EXPECT_EQ(with([](launch& l) { l.filters = 3; }).find("unsupported: any_variant: filters is 3"), 0u);
  EXPECT_EQ(with([](launch& l) {
              l.b = address(0x2002);
            }).find("unsupported: any_variant: b begins 2 bytes after a multiple of 16 bytes"),
            0u);
}

TEST(cutlass_vendor_launch_checks, a_grouped_product_requires_all_arrays) {
  const kernel_variant c = any_variant(grouped_product);
  launch l{};
  EXPECT_EQ(refusal_of(c, l), "caller_bug: any_variant: groups is 0; expected at least 1");
  l.groups = 4;
  EXPECT_EQ(refusal_of(c, l),
            "caller_bug: any_variant: shapes is 0; expected an array in device memory, one element for each group");
}

}  // namespace
}  // namespace troupe::cutlass::vendor
