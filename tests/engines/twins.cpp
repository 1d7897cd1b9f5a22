// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// One request for each of two user-defined types with the same layout.
#include "requests.hpp"

#include <troupe/worker/engine.hpp>

namespace twins {

struct metres {
  float value;
};
struct seconds {
  float value;
};
template <class T>
struct look {
  troupe::in<T> at;
  TROUPE_REQUEST("twins.look", at)
  void check(troupe::checker& c) const { c.elements(at, 1); }
};

struct engine {
  static troupe::result<std::unique_ptr<engine>> make(const troupe::engine_context&) {
    return std::make_unique<engine>();
  }
  template <class T>
  troupe::result<void> run(const look<T>&, troupe::call&) {
    return {};
  }
};

}  // namespace twins

TROUPE_ENGINE(twins::engine, "twins", "host", twins::look<twins::metres>, twins::look<twins::seconds>)
