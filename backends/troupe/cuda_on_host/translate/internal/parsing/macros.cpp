// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/macros.hpp>

namespace troupe::cuda_on_host {

void macro_table::add(const std::vector<std::string_view>& directives) {
  for (const std::string_view directive : directives) {
    const token_list head = tokenize(directive.substr(1));
    if (!head[0].is("define") || !head[1].is_identifier()) continue;
    const std::string_view name = head[1].text;
    std::string body(directive.substr(head.offset(1) + 1 + name.size()));
    std::replace(body.begin(), body.end(), '\n', ' ');  // a # in the body would begin a directive on a line of its own
    names_.insert(name);
    bool is_marked = for_device_.contains(name);
    for (const token& t : tokenize(body).tokens) {
      if (!t.is_identifier()) continue;
      is_marked |= is_device_word(t.text) || for_device_.contains(t.text);
      used_by_[std::string(t.text)].push_back(name);
    }
    bodies_[name].push_back(std::move(body));
    if (is_marked) mark(name);
  }
}

void macro_table::mark(std::string_view name) {
  std::vector<std::string_view> waiting{name};
  while (!waiting.empty()) {
    const std::string_view next = waiting.back();
    waiting.pop_back();
    if (!for_device_.insert(next).second) continue;
    if (const auto users = used_by_.find(std::string(next)); users != used_by_.end())
      waiting.insert(waiting.end(), users->second.begin(), users->second.end());
  }
}

void macro_table::take_bodies(std::string_view name, std::vector<std::string>& bodies) {
  const auto found = bodies_.find(name);
  if (found == bodies_.end()) return;
  for (std::string& body : found->second) bodies.push_back(std::move(body));
  bodies_.erase(found);
}

}  // namespace troupe::cuda_on_host
