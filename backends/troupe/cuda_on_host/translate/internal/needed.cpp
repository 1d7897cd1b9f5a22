// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// A CUDA file contains host code beside its kernels: launchers, a main function, classes that own memory. Names alone
// decide which declarations are needed. If in doubt, a declaration is kept: it is needed if anything that is kept
// contains one of its names, in whatever meaning.
#include <troupe/cuda_on_host/translate/host_code.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/macros.hpp>
#include <troupe/cuda_on_host/translate/internal/passes.hpp>
#include <unordered_map>

namespace troupe::cuda_on_host {

namespace {

// Functions that the language or the standard library calls without naming them in the source.
constexpr std::string_view called_unnamed[] = {"begin",     "end",  "rbegin", "rend",  "cbegin",
                                               "cend",      "size", "data",   "empty", "iter_move",
                                               "iter_swap", "swap", "get",    "hash",  "tie"};

struct scanned_text {
  const token_list& tokens;
  const unit& declares;
};

class search {
 public:
  // Searches all texts together: a declaration that one of them mentions is needed in all.
  search(std::vector<scanned_text> texts, bool all_kernels) : texts_(std::move(texts)) {
    for (const scanned_text& t : texts_) {
      macros_.add(t.tokens.directives);
      reached_.emplace_back(t.declares.outer.size(), false);
    }
    for (std::size_t t = 0; t < texts_.size(); ++t)
      for (std::size_t n = 0; n < reached_[t].size(); ++n)
        for (const std::string_view name : texts_[t].declares.outer[n].names) by_name_[name].push_back({t, n});
    for (std::size_t t = 0; t < texts_.size(); ++t) mention_always_needed(t, all_kernels);
    for (const std::string_view name : called_unnamed) mention(name);
  }

  void mention_in(std::string_view text) {
    for (const token& t : tokenize(text).tokens)
      if (t.is_identifier()) mention(t.text);
  }

  void finish() {
    while (!waiting_.empty() || !bodies_.empty()) {
      if (!bodies_.empty()) {
        const std::string body = std::move(bodies_.back());
        bodies_.pop_back();
        mention_in(body);
        continue;
      }
      const place at = waiting_.back();
      waiting_.pop_back();
      const outer_declaration& d = texts_[at.text].declares.outer[at.number];
      mention(at.text, d.begin, d.end);
    }
  }

  // Returns the first text without the declarations that are not needed.
  std::optional<std::string> without_unneeded() const {
    const token_list& s = texts_.front().tokens;
    std::optional<std::string> out;
    for (std::size_t n = 0; n < reached_.front().size(); ++n) {
      if (reached_.front()[n]) continue;
      if (!out) out.emplace(s.source);
      const outer_declaration& d = texts_.front().declares.outer[n];
      for (std::size_t i = d.begin; i < d.end && i < s.size(); ++i)
        for (std::size_t at = s.offset(i), k = 0; k < s[i].text.size(); ++k)
          if (char& c = (*out)[at + k]; c != '\n') c = ' ';
    }
    return out;
  }

 private:
  struct place {
    std::size_t text, number;
  };

  // Marks what is always needed: everything that device code and the text between the declarations mention.
  void mention_always_needed(std::size_t text, bool all_kernels) {
    std::size_t outside = 0;
    for (std::size_t n = 0; n < reached_[text].size(); ++n) {
      const outer_declaration& d = texts_[text].declares.outer[n];
      mention(text, outside, d.begin);
      outside = d.end;
      if (d.is_kernel ? all_kernels : d.is_device || is_made_by_macros(texts_[text].tokens, d)) reach({text, n});
    }
    mention(text, outside, texts_[text].tokens.size());
  }

  // Returns true if a macro may generate part of the declaration, which then must be kept: a macro whose body contains
  // __device__ may precede any declaration.
  bool is_made_by_macros(const token_list& s, const outer_declaration& d) const {
    if (macros_.empty()) return false;
    for (const std::string_view name : d.names)
      if (macros_.contains(name)) return true;
    for (std::size_t i = d.begin; i < d.words_end; ++i)
      if (s[i].is_identifier() && macros_.is_for_device(s[i].text)) return true;
    return false;
  }

  void reach(place at) {
    if (reached_[at.text][at.number]) return;
    reached_[at.text][at.number] = true;
    waiting_.push_back(at);
  }
  void mention(std::string_view name) {
    if (!macros_.empty()) macros_.take_bodies(name, bodies_);
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return;
    for (const place at : found->second) reach(at);
    by_name_.erase(found);
  }
  void mention(std::size_t text, std::size_t begin, std::size_t end) {
    const token_list& s = texts_[text].tokens;
    for (std::size_t i = begin; i < end; ++i)
      if (s[i].is_identifier()) mention(s[i].text);
  }

  const std::vector<scanned_text> texts_;
  macro_table macros_;
  std::vector<std::vector<bool>> reached_;  // for each text and each of its declarations: whether it is needed
  std::unordered_map<std::string_view, std::vector<place>> by_name_;
  std::vector<place> waiting_;       // needed declarations that were not examined yet
  std::vector<std::string> bodies_;  // bodies of mentioned macros that were not examined yet
};

}  // namespace

std::optional<std::string> without_host_code(const token_list& source, const unit& u,
                                             const translate_options& options) {
  search needed({{source, u}}, options.kernels.empty());
  for (const std::vector<std::string>* names : {&options.kernels, &options.globals})
    for (const std::string& n : *names) needed.mention_in(n);
  needed.finish();
  return needed.without_unneeded();
}

std::optional<std::string> without_host_code(const written_program& program) {
  std::vector<token_list> tokens;
  std::vector<unit> declared;
  tokens.push_back(tokenize(program.source));
  if (tokens.front().unmatched) return {};
  for (const std::string_view other : program.others) tokens.push_back(tokenize(other));
  // In a text with an unmatched bracket, declarations cannot be found, so all words count as mentioned.
  for (const token_list& t : tokens) declared.push_back(t.unmatched ? unit{} : find_definitions(t));
  std::vector<scanned_text> texts;
  for (std::size_t i = 0; i < tokens.size(); ++i) texts.push_back({tokens[i], declared[i]});
  search needed(std::move(texts), true);
  for (const std::string& n : program.names) needed.mention_in(n);
  needed.finish();
  return needed.without_unneeded();
}

}  // namespace troupe::cuda_on_host
