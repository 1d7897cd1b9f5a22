// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/base/text/damaged.hpp>
#include <utility>

namespace troupe {

error damaged(std::string domain, std::string_view what) {
  return error(
      reaction::fatal, std::move(domain),
      cat(what,
          " is damaged: this is a defect of Troupe, or a part of it is of another build; install Troupe again, "
          "or report the defect"));
}

}  // namespace troupe
