// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/random/attributes.hpp>
#include <troupe/dnn/operations/random/random.hpp>
#include <troupe/dnn/requests/request_builder.hpp>

namespace troupe::dnn {
namespace {

using detail::node_maker;

void check_words(node_maker& m, const value& words) {
  if (!m.fine()) return;
  if (words.from().what != op::none || !words.from().memory)
    return m.refuse("seed", "is computed", "words in memory, or a seed by value");
  if (words.type() != dtype::u32 && words.type() != dtype::i32)
    return m.refuse("seed", cat("holds ", to_string(words.type())), "u32 or i32");
  if (words.rank() != 1 || (words.extents()[0] != 2 && words.extents()[0] != 4))
    m.refuse_extents("seed", words, "a vector of 2 words, or of 4 with an offset");
}

value make(std::string_view name, random_kind kind, std::span<const std::int64_t> extents, double probability,
           const random_seed& s) {
  std::vector<value> inputs;
  if (s.words()) inputs.push_back(*s.words());
  node_maker m(op::random, name, inputs);
  if (s.words()) check_words(m, *s.words());
  if (extents.empty() || extents.size() > tensor_shape::max_rank)
    m.refuse("result", cat("has ", detail::axes_text(extents.size())), "1 to 8");
  if (!(probability >= 0 && probability <= 1)) m.refuse("probability", "is " + std::to_string(probability), "0 to 1");
  m.with(random_attributes{kind, s.seed(), s.offset(), probability});
  m.add_output(dtype::f32, extents);
  return m.done();
}

value drop(std::string_view name, std::string_view input, const value& x, double probability, const random_seed& s) {
  node_maker m(op::random, name, {x});
  if (!m.has_rank(input, x, 1, tensor_shape::max_rank)) return m.done();
  if (!(probability >= 0 && probability <= 1)) {
    m.refuse("probability", "is " + std::to_string(probability), "0 to 1");
    return m.done();
  }
  const value mask = make(name, random_kind::bernoulli, x.extents(), 1 - probability, s);
  return select(mask, probability < 1 ? x * (1 / (1 - probability)) : x, 0);
}

template <class R>
random_seed seed_of(detail::request_builder& builder, const R& r) {
  if (!r.words) return {r.seed, r.offset};
  if (r.seed != 0) builder.refuse("seed", cat("is ", r.seed), "0, as words are given");
  return random_seed(builder.read("words", *r.words), r.offset);
}

}  // namespace

value random_uniform(std::span<const std::int64_t> extents, const random_seed& s) {
  return make("random_uniform", random_kind::uniform, extents, 0, s);
}
value random_normal(std::span<const std::int64_t> extents, const random_seed& s) {
  return make("random_normal", random_kind::normal, extents, 0, s);
}
value random_bernoulli(std::span<const std::int64_t> extents, double probability, const random_seed& s) {
  return make("random_bernoulli", random_kind::bernoulli, extents, probability, s);
}

value dropout(const value& x, double probability, const random_seed& s) {
  return drop("dropout", "x", x, probability, s);
}
value dropout_gradient(const value& dy, double probability, const random_seed& s) {
  return drop("dropout_gradient", "dy", dy, probability, s);
}

computation dropout_forward::to_request() const {
  detail::request_builder builder({{"seed", "words"}});
  const random_seed s = seed_of(builder, *this);
  builder.write("y", dropout(builder.read("x", x), probability, s), y);
  return builder.done(options);
}

computation dropout_backward::to_request() const {
  detail::request_builder builder({{"seed", "words"}});
  const random_seed s = seed_of(builder, *this);
  builder.write("dx", dropout_gradient(builder.read("dy", dy), probability, s), dx);
  return builder.done(options);
}

}  // namespace troupe::dnn
