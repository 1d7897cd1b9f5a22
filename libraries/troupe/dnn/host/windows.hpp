// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/workspace.hpp>

/// Operations that slide a window over images. All tensors are numbers N without gaps.
namespace troupe::dnn::host {

template <class N>
void convolve(const workspace& w, const convolution_form& f, const location& x, const location& filters,
              const location& y);
template <class N>
void convolution_data_gradient(const workspace& w, const convolution_form& f, const location& dy,
                               const location& filters, const location& dx);
template <class N>
void convolution_weight_gradient(const workspace& w, const convolution_form& f, const location& dy, const location& x,
                                 const location& dw);

template <class N>
void pool(const workspace& w, const pooling_form& f, const location& x, const location& y);
/// `x` of a maximum only.
template <class N>
void pool_gradient(const workspace& w, const pooling_form& f, const location& dy, const location* x,
                   const location& dx);

/// An image's spatial indexes, and a window's, as three: those that there are not have extent 1.
struct window_geometry {
  std::int64_t in[most_spatial], out[most_spatial], width[most_spatial];
  std::int64_t before[most_spatial], step[most_spatial], dilation[most_spatial];
  window_geometry(const sliding& s, const tensor_shape& image, const tensor_shape& result,
                  const std::int64_t* widths) noexcept;
  std::int64_t inside() const noexcept { return in[0] * in[1] * in[2]; }
  std::int64_t positions() const noexcept { return out[0] * out[1] * out[2]; }
  std::int64_t places() const noexcept { return width[0] * width[1] * width[2]; }
  /// Place in the image of window element f at position o; outside it may be anything.
  std::int64_t at(std::size_t i, std::int64_t o, std::int64_t f) const noexcept {
    return o * step[i] - before[i] + f * dilation[i];
  }
  /// The positions [first, last) at which element f of the window lies in the image.
  std::pair<std::int64_t, std::int64_t> seen(std::size_t i, std::int64_t f) const noexcept;
};

}  // namespace troupe::dnn::host
