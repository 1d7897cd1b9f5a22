// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// A file of CUDA has its host's code beside its kernels: launchers, a main function, classes that own memory. What is
// needed is decided by names alone, so that it errs on the side of keeping: a declaration stays as soon as anything
// that stays has one of its names in it, in whatever meaning.
#include <algorithm>
#include <iterator>
#include <troupe/kernel/host/translate/internal/needed.hpp>
#include <unordered_map>

namespace troupe::kernel {

namespace {

// Functions that the language or the standard library calls without their names in the source.
constexpr std::string_view called_unnamed[] = {"begin",     "end",  "rbegin", "rend",  "cbegin",
                                               "cend",      "size", "data",   "empty", "iter_move",
                                               "iter_swap", "swap", "get",    "hash",  "tie"};

class search {
 public:
  search(const token_list& source, const unit& u, const translate_options& options)
      : s_(source), u_(u), reached_(u.outer.size(), false) {
    for (std::size_t n = 0; n < u.outer.size(); ++n)
      for (const std::string_view name : u.outer[n].names) by_name_[name].push_back(n);
    const bool all_kernels = options.kernels.empty();
    std::size_t outside = 0;
    for (std::size_t n = 0; n < u.outer.size(); ++n) {
      const outer_declaration& d = u.outer[n];
      mention(outside, d.begin);
      outside = d.end;
      if (d.is_kernel ? all_kernels : d.is_device) reach(n);
    }
    mention(outside, s_.size());
    for (const std::string_view name : called_unnamed) mention(name);
    for (const std::vector<std::string>* names : {&options.kernels, &options.globals})
      for (const std::string& n : *names) mention_in(n);
    while (!waiting_.empty()) {
      const outer_declaration& d = u.outer[waiting_.back()];
      waiting_.pop_back();
      mention(d.begin, d.end);
    }
  }

  std::optional<std::string> without_the_rest() const {
    std::optional<std::string> out;
    for (std::size_t n = 0; n < reached_.size(); ++n) {
      if (reached_[n]) continue;
      if (!out) out.emplace(s_.source);
      for (std::size_t i = u_.outer[n].begin; i < u_.outer[n].end && i < s_.size(); ++i)
        for (std::size_t at = s_.offset(i), k = 0; k < s_[i].text.size(); ++k)
          if (char& c = (*out)[at + k]; c != '\n') c = ' ';
    }
    return out;
  }

 private:
  void reach(std::size_t n) {
    if (reached_[n]) return;
    reached_[n] = true;
    waiting_.push_back(n);
  }
  void mention(std::string_view name) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return;
    for (const std::size_t n : found->second) reach(n);
    by_name_.erase(found);
  }
  void mention(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (s_[i].is_identifier()) mention(s_[i].text);
  }
  void mention_in(const std::string& text) {
    for (const token& t : tokenize(text).tokens)
      if (t.is_identifier()) mention(t.text);
  }

  const token_list& s_;
  const unit& u_;
  std::vector<bool> reached_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> by_name_;
  std::vector<std::size_t> waiting_;  // reached, and not looked at
};

}  // namespace

std::optional<std::string> without_host_code(const token_list& source, const unit& u,
                                             const translate_options& options) {
  return search(source, u, options).without_the_rest();
}

}  // namespace troupe::kernel
