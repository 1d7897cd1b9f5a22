// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/matmul/matmul.hpp>
#include <troupe/matmul/testing/product_suite.hpp>

namespace troupe::matmul::testing {

/// A product to test, and whether its epilogue must be fused.
struct problem : test_product {
  matmul::fusion fusion = matmul::fusion::allowed;
};

/// Compares an engine's multiplications with the reference in double precision.
class matmul_numerics : public product_suite {
 protected:
  problem any_problem(dtype a, dtype b, dtype d) { return {random_product(a, b, d)}; }

  // Runs the product with the epilogue `make(rows, columns)`, and compares all that is written with the reference.
  template <class Make>
  void expect_as_defined(const problem& p, Make&& make, double tolerance, bool pairs = false) {
    expect_right(
        p, make, tolerance, pairs,
        [&](test_factor& a, bool batch_of_a, test_factor& b, bool batch_of_b, const out_any& d, const expression& e) {
          return multiplication{.a = a.elements(batch_of_a),
                                .b = b.elements(batch_of_b),
                                .d = d,
                                .epilogue = e,
                                .a_scales = a.scales(batch_of_a),
                                .b_scales = b.scales(batch_of_b),
                                .options = {.fusion = p.fusion}};
        });
  }
};

}  // namespace troupe::matmul::testing
