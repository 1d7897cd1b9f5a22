// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/cat.hpp>
#include <troupe/dnn/operations/random/random.hpp>
#include <troupe/dnn/requests/ready_dropout.hpp>
#include <troupe/dnn/requests/request_builder.hpp>

namespace troupe::dnn {
namespace {

template <class R>
random_seed seed_of(detail::request_builder& f, const R& r) {
  if (!r.words) return {r.seed, r.offset};
  if (r.seed != 0) f.refuse("seed", cat("is ", r.seed), "0, as words are given");
  return random_seed(f.read("words", *r.words), r.offset);
}

}  // namespace

computation dropout_forward::sent() const {
  detail::request_builder f({{"seed", "words"}});
  const random_seed s = seed_of(f, *this);
  f.write("y", dropout(f.read("x", x), probability, s), y);
  return f.done(options);
}

computation dropout_backward::sent() const {
  detail::request_builder f({{"seed", "words"}});
  const random_seed s = seed_of(f, *this);
  f.write("dx", dropout_gradient(f.read("dy", dy), probability, s), dx);
  return f.done(options);
}

}  // namespace troupe::dnn
