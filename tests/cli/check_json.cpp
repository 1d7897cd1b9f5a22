// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Exits with 0 if standard input contains exactly one JSON document (RFC 8259).
#include <cctype>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

namespace {

class reader {
 public:
  explicit reader(std::string_view text) : rest_(text) {}

  bool document() {
    blanks();
    return value(0) && (blanks(), rest_.empty());
  }
  std::size_t left() const { return rest_.size(); }

 private:
  bool eat(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool eat(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void blanks() {
    while (eat(' ') || eat('\n') || eat('\t') || eat('\r')) {
    }
  }
  bool digits() {
    const std::size_t before = rest_.size();
    while (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front()))) rest_.remove_prefix(1);
    return rest_.size() < before;
  }
  bool number() {
    (void)eat('-');
    if (!eat('0') && !digits()) return false;
    if (eat('.') && !digits()) return false;
    if (eat('e') || eat('E')) {
      (void)(eat('+') || eat('-'));
      return digits();
    }
    return true;
  }
  bool string() {
    if (!eat('"')) return false;
    while (!rest_.empty() && !eat('"')) {
      if (static_cast<unsigned char>(rest_.front()) < 0x20) return false;
      if (eat('\\')) {
        if (eat('u')) {
          for (int i = 0; i < 4; ++i) {
            if (rest_.empty() || !std::isxdigit(static_cast<unsigned char>(rest_.front()))) return false;
            rest_.remove_prefix(1);
          }
          continue;
        }
        if (rest_.empty() || std::string_view("\"\\/bfnrt").find(rest_.front()) == std::string_view::npos) return false;
      }
      rest_.remove_prefix(1);
      if (rest_.empty()) return false;
    }
    return true;
  }
  bool list(char end, int depth, bool named) {
    blanks();
    if (eat(end)) return true;
    do {
      blanks();
      if (named && !(string() && (blanks(), eat(':')) && (blanks(), true))) return false;
      if (!value(depth + 1)) return false;
      blanks();
    } while (eat(','));
    return eat(end);
  }
  bool value(int depth) {
    if (depth > 100) return false;
    if (eat('{')) return list('}', depth, true);
    if (eat('[')) return list(']', depth, false);
    if (eat("true") || eat("false") || eat("null")) return true;
    return !rest_.empty() && rest_.front() == '"' ? string() : number();
  }

  std::string_view rest_;
};

}  // namespace

int main() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  reader r(text);
  if (r.document()) return 0;
  std::fprintf(stderr, "not JSON from byte %zu of %zu on\n", text.size() - r.left(), text.size());
  return 1;
}
