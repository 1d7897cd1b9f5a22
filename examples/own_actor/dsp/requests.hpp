// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/request/checker.hpp>

/// A library actor of one's own: sampled signals.
namespace dsp {

using troupe::extent;

/// output[i] = the mean of the `window` samples around input[i]; of those that there are, at the ends.
template <class T>
struct smooth {
  troupe::in<T> input;
  troupe::out<T> output;
  extent samples;
  extent window = 5;
  using reply = void;
  TROUPE_REQUEST("dsp.smooth", input, output, samples, window)

  void check(troupe::checker& c) const {
    c.positive(samples);
    c.require(window >= 1 && window.value() % 2 == 1, window, "has no middle", "an odd number of samples");
    c.elements(input, samples);
    c.elements(output, samples);
  }
};

/// Returns the highest sample and where it is; the first of equals.
template <class T>
struct peak {
  struct found {
    std::int64_t index;
    T value;
  };
  troupe::in<T> input;
  extent samples;
  using reply = found;
  TROUPE_REQUEST("dsp.peak", input, samples)

  void check(troupe::checker& c) const {
    c.positive(samples);
    c.elements(input, samples);
  }
};

/// Each of the signals times the gain. The gain may be computed on the device: a buffer of one number does as well.
template <class T>
struct amplify {
  troupe::list<troupe::inout<T>> signals;
  troupe::scalar<T> gain = 1;
  using reply = void;
  TROUPE_REQUEST("dsp.amplify", signals, gain)

  void check(troupe::checker& c) const { c.number(gain); }  // the signals are touched as a whole
};

}  // namespace dsp
