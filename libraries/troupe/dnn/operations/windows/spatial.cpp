// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/operations/windows/spatial.hpp>
#include <troupe/windows/check.hpp>

namespace troupe::dnn::detail {

bool has_numbers(node_maker& m, std::string_view field, const windows::per_axis& given, std::size_t spatial,
                 std::int64_t least) {
  if (m.fine())
    if (auto refused = windows::check(given, spatial, least))
      m.refuse(field, refused->is, std::move(refused->expected));
  return m.fine();
}

}  // namespace troupe::dnn::detail
