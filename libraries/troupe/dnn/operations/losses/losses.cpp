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

value cross_entropy(const value& x, const value& labels, std::size_t classes, const cross_entropy_options& o) {
  detail::node_maker m(op::softmax, "cross_entropy", {x, labels});
  if (m.has_rank("x", x, 1, tensor_shape::max_rank) && classes >= x.rank())
    m.refuse("axis of the classes", cat("is ", classes), cat("less than ", x.rank()));
  if (!m.fine()) return m.done();
  std::vector<std::int64_t> of_labels(x.extents().begin(), x.extents().end());
  const std::int64_t count = std::exchange(of_labels[classes], 1);
  if (!std::ranges::equal(labels.extents(), of_labels))
    m.refuse_extents("labels", labels,
                     cat(detail::node_maker::text_of(of_labels), ", as x has, but 1 for the classes"));
  if (labels.type() != dtype::i32) m.refuse("labels", cat("hold ", to_string(labels.type())), "i32");
  if (count < 1 || count > most_iota) m.refuse("classes", cat("are ", count), cat("1 to ", most_iota));
  if (!(o.label_smoothing >= 0 && o.label_smoothing <= 1))
    m.refuse("label_smoothing", "is " + std::to_string(o.label_smoothing), "0 to 1");
  if (o.ignored < -most_iota || o.ignored > most_iota)
    m.refuse("ignored", cat("is ", o.ignored), cat(-most_iota, " to ", most_iota));
  if (!m.fine()) return m.done();

  const std::size_t over[] = {classes};
  const auto sum = [&](const value& v) { return reduce(v, reduction_kind::sum, over); };
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const value y = log_softmax(x, classes), is_ignored = equal(labels, number(o.ignored));
  // A class of probability 0 has an infinite logarithm, so a product with 0 would be NaN.
  value loss = -sum(select(equal(labels, iota(x.extents(), classes)), y, 0));
  if (o.label_smoothing != 0)
    loss = loss * (1 - o.label_smoothing) - sum(y) * (o.label_smoothing / static_cast<double>(count));
  const value is_class = logical_and(less_equal(0, labels), less(labels, number(count)));
  return select(is_ignored, 0, select(is_class, loss, std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace troupe::dnn
