// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/kernel/host/translate/internal/edits.hpp>

#include <algorithm>

namespace troupe::kernel {

void edited_source::replace(std::size_t token, std::string text) {
  if (token >= source_.size()) return;
  if (which_[token] != 0) {
    texts_[which_[token] - 1] = std::move(text);
    return;
  }
  texts_.push_back(std::move(text));
  which_[token] = static_cast<std::uint32_t>(texts_.size());
}

void edited_source::erase(std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < std::min(end, source_.size()); ++i) replace(i, "");
}

std::string edited_source::now(std::size_t token) const {
  return which_[token] ? texts_[which_[token] - 1] : std::string(source_[token].text);
}

void edited_source::append(std::string& out, std::size_t from, std::size_t to, std::size_t begin,
                           std::size_t end) const {
  std::size_t at = from;
  for (std::size_t i = begin; i < end; ++i) {
    if (which_[i] == 0) continue;
    const std::size_t token = source_.offset(i);
    out += source_.source.substr(at, token - at);
    out += texts_[which_[i] - 1];
    at = token + source_[i].text.size();
  }
  out += source_.source.substr(at, to - at);
}

std::string edited_source::slice(std::size_t begin, std::size_t end) const {
  end = std::min(end, source_.size());
  std::string out;
  if (begin < end)
    append(out, source_.offset(begin), source_.offset(end - 1) + source_[end - 1].text.size(), begin, end);
  return out;
}

std::string edited_source::all() const {
  std::string out;
  out.reserve(source_.source.size() + source_.source.size() / 8);
  append(out, 0, source_.source.size(), 0, source_.size());
  return out;
}

std::string edited_source::marker(std::size_t token) const {
  const troupe::kernel::token& t = source_[token];
  return "\n# " + std::to_string(t.line) + " \"" + source_.files[t.file] + "\"\n";
}

}  // namespace troupe::kernel
