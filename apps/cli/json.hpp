// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::apps {

/// Writes one JSON document. The caller writes its parts in their order.
class json_writer {
 public:
  enum class layout {
    indented,  ///< for people
    one_line,  ///< for streams of documents, one per line
  };
  explicit json_writer(layout how = layout::indented) noexcept : how_(how) {}

  json_writer& begin_object() { return open('{'); }
  json_writer& end_object() { return shut('}'); }
  json_writer& begin_array() { return open('['); }
  json_writer& end_array() { return shut(']'); }
  /// Sets the name of the next value in an object.
  json_writer& key(std::string_view name);

  json_writer& value(std::string_view text);
  json_writer& value(const char* text) { return value(std::string_view(text)); }
  json_writer& value(bool v) { return raw(v ? "true" : "false"); }
  json_writer& value(double v);
  json_writer& value(std::integral auto v) { return raw(std::to_string(v)); }
  json_writer& null() { return raw("null"); }
  json_writer& value(const std::vector<std::string>& all);

  template <class T>
  json_writer& member(std::string_view name, const T& v) {
    return key(name).value(v);
  }

  /// Returns the whole document with a line break at its end.
  std::string text() const { return out_ + "\n"; }

 private:
  json_writer& open(char bracket);
  json_writer& shut(char bracket);
  json_writer& raw(std::string_view token);
  void separate();
  void line();

  layout how_;
  std::string out_;
  std::vector<bool> filled_;  // for each open bracket: whether it contains a value
  bool named_ = false;        // whether a key was written whose value was not
};

}  // namespace troupe::apps
