// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <troupe/protocol/descriptions/description.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto engine = troupe::protocol::parse_engine_description(text);
  const auto driver = troupe::protocol::parse_driver_description(text);
  const auto again = troupe::protocol::parse_engine_description(text_of(engine));
  if (again.complete != engine.complete || again.what != engine.what || again.reaction != engine.reaction) std::abort();
  if (troupe::protocol::parse_driver_description(text_of(driver)).gpus.size() != driver.gpus.size()) std::abort();
  return 0;
}
