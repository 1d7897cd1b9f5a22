// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/networks/weight_vectors.hpp>

namespace troupe::bench {
namespace {

using extents = weight_vectors::extents;

extents row_major(const extents& of) {
  extents out(of.size(), 1);
  for (std::size_t i = of.size(); i-- > 1;) out[i - 1] = out[i] * of[i];
  return out;
}

}  // namespace

weight_vectors::weight_vectors(const device& gpu, std::int64_t count, int moment_count)
    : master(vector_of<float>(gpu, count, 0)),
      gradients(vector_of<float>(gpu, count, 0)),
      narrow(vector_of<bfloat16>(gpu, count, 0)),
      gpu_(gpu) {
  for (int i = 0; i < moment_count; ++i) moments.push_back(vector_of<float>(gpu, count, 0));
}

dnn::value weight_vectors::add(const std::vector<float>& initial, const extents& of, bool is_narrow) {
  return add(initial, of, row_major(of), is_narrow);
}
dnn::value weight_vectors::add_filters(const std::vector<float>& initial, const extents& of) {
  const std::int64_t in = of[1], places = of[2] * of[3];
  const std::vector<float> last = with_channels_last<float>(initial, of[0], in, places);
  return add(last, of, {in * places, 1, of[3] * in, in}, true);
}
dnn::value weight_vectors::add(const std::vector<float>& initial, const extents& of, const extents& strides,
                               bool is_narrow) {
  const std::size_t first = static_cast<std::size_t>(used_), count = initial.size();
  const auto part = [&](const auto& all) { return tensor(all.memory().slice(first, count), of, strides); };
  gpu_.upload(part(master).memory(), initial);
  views_.push_back(part(gradients));
  variables_.push_back(is_narrow ? dnn::read(part(narrow)) : dnn::read(part(master)));
  used_ += static_cast<std::int64_t>(count);
  return variables_.back();
}

std::vector<dnn::written> weight_vectors::gradients_of(const dnn::value& loss) const {
  const std::vector<dnn::value> values = dnn::gradients(loss, variables_);
  std::vector<dnn::written> out;
  for (std::size_t i = 0; i < values.size(); ++i) out.push_back(write(values[i], views_[i]));
  return out;
}

}  // namespace troupe::bench
