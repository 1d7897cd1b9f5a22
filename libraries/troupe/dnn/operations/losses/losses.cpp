// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/indexing/attributes.hpp>
#include <troupe/dnn/operations/indexing/indexing.hpp>
#include <troupe/dnn/operations/losses/losses.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/reductions/reductions.hpp>
#include <utility>
#include <vector>

namespace troupe::dnn {

value cross_entropy(const value& x, const value& labels, std::size_t over, const cross_entropy_options& o) {
  detail::node_maker m(op::softmax, "cross_entropy", {x, labels});
  if (m.has_rank("x", x, 1, tensor_shape::max_rank) && over >= x.rank())
    m.refuse("axis", cat("is ", over), cat("less than ", x.rank()));
  if (!m.fine()) return m.done();
  std::vector<std::int64_t> of_labels(x.extents().begin(), x.extents().end());
  const std::int64_t classes = std::exchange(of_labels[over], 1);
  if (!std::ranges::equal(labels.extents(), of_labels))
    m.refuse_extents("labels", labels,
                     cat(detail::node_maker::text_of(of_labels), ", as x has, but 1 for the classes"));
  if (labels.type() != dtype::i32 && labels.type() != dtype::i64)
    m.refuse("labels", cat("hold ", to_string(labels.type())), "i32 or i64");
  if (classes < 1 || classes > most_iota) m.refuse("classes", cat("are ", classes), cat("1 to ", most_iota));
  if (!(o.label_smoothing >= 0 && o.label_smoothing <= 1))
    m.refuse("label_smoothing", "is " + std::to_string(o.label_smoothing), "0 to 1");
  if (o.ignored <= -most_iota || o.ignored >= most_iota)
    m.refuse("ignored", cat("is ", o.ignored), cat(1 - most_iota, " to ", most_iota - 1));
  if (!m.fine()) return m.done();

  const std::size_t axes[] = {over};
  const auto sum = [&](const value& v) { return reduce(v, reduction_kind::sum, axes); };
  const value is_ignored = equal(labels, static_cast<double>(o.ignored)),
              is_class = logical_and(less_equal(0, labels), less_equal(labels, static_cast<double>(classes - 1)));
  // Without a label, NaN in x must not reach the gradient.
  const value is_used = logical_and(is_class, logical_not(is_ignored));
  const value y = log_softmax(select(is_used, x, 0), over);
  // A class of probability 0 has an infinite logarithm, so that a product with 0 would be NaN.
  const value at_label = -sum(select(equal(labels, iota(x.extents(), over)), y, 0));
  value loss = at_label;
  if (o.label_smoothing != 0) loss = sum(y) * (-o.label_smoothing / static_cast<double>(classes));
  if (o.label_smoothing != 0 && o.label_smoothing != 1) loss = loss + at_label * (1 - o.label_smoothing);
  return select(is_used, loss, select(is_ignored, 0, std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace troupe::dnn
