// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace troupe::foreign {
namespace {

constexpr const char* names[] = {"right", "refused", "wrong"};

// "right", "refused: `text`" or "wrong: `text`".
outcome outcome_of(const std::string& cell) {
  const std::string word = cell.substr(0, cell.find(':'));
  const auto* const is = std::find(std::begin(names), std::end(names), word);
  if (is == std::end(names)) throw std::runtime_error("README.md: unknown cell \"" + cell + "\"");
  outcome o{.is = static_cast<verdict>(is - names)};
  if (o.is == verdict::right) return o;
  const std::size_t open = cell.find('`'), close = cell.rfind('`');
  if (close == open) throw std::runtime_error("README.md: \"" + cell + "\" does not tell the text, in `…`");
  o.text = cell.substr(open + 1, close - open - 1);
  return o;
}

// Splits "| a | b |" into its cells.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t at = 1, end; (end = line.find(" |", at)) != std::string::npos; at = end + 2)
    cells.push_back(line.substr(at + 1, end - at - 1));
  return cells;
}

// The totals of all sources.
struct counts {
  int of[3] = {};
  void add(const outcome& o) { ++of[static_cast<int>(o.is)]; }
  int all() const { return of[0] + of[1] + of[2]; }
  std::string text() const {
    return std::to_string(of[0]) + " right, " + std::to_string(of[1]) + " refused with a reason, " +
           std::to_string(of[2]) + " wrong";
  }
};
counts counted(const table& t) {
  counts c;
  for (const auto& [name, o] : t) c.add(o);
  return c;
}

std::map<std::string, counts> seen;  // by family, in this run

outcome outcome_of(source& s, const std::function<void(source&)>& run) {
  try {
    run(s);
    return {};
  } catch (const failure& f) {
    return {.is = f.wrong ? verdict::wrong : verdict::refused, .text = f.text};
  }
}

void judge(source& s, const table& expected, const std::function<void(source&)>& run) {
  const std::string name = s.family() + "/" + s.name();
  const auto found = expected.find(name);
  ASSERT_NE(found, expected.end()) << "README.md does not list " << name;
  const outcome& wanted = found->second;
  const outcome got = outcome_of(s, run);
  seen[s.family()].add(got);
  EXPECT_TRUE(got.is == wanted.is && got.text.find(wanted.text) != std::string::npos)
      << name << " is " << to_string(got) << "\nREADME.md expects " << to_string(wanted);
}

class one final : public testing::Test {
 public:
  explicit one(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

TEST(readme, lists_and_counts_every_source) {
  const table host = expected_on(engine::host), gpu = expected_on(engine::gpu);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder())) {
    if (entry.path().extension() != ".cu") continue;
    ++files;
    const std::filesystem::path name = entry.path().lexically_relative(folder()).replace_extension();
    EXPECT_TRUE(host.contains(name)) << "README.md does not list " << name;
  }
  EXPECT_EQ(files, host.size()) << "README.md lists files that do not exist";
  EXPECT_EQ(files, all_sources().size()) << "some files have no test";
  for (const std::string& sentence : {std::to_string(files) + " kinds of source.",
                                      "On the host: " + counted(host).text(), "On GPUs: " + counted(gpu).text()})
    EXPECT_NE(text_of(folder() / "README.md").find(sentence), std::string::npos)
        << "README.md should say: " << sentence;
}

void print_seen() {
  counts sum;
  std::printf("\n%-24s %8s %8s %8s\n", "family", names[0], names[1], names[2]);
  for (const auto& [family, c] : seen) {
    std::printf("%-24s %8d %8d %8d\n", family.c_str(), c.of[0], c.of[1], c.of[2]);
    for (int i = 0; i < 3; ++i) sum.of[i] += c.of[i];
  }
  std::printf("%-24s %8d %8d %8d\n", "all", sum.of[0], sum.of[1], sum.of[2]);
}

}  // namespace

std::string to_string(const outcome& o) {
  return std::string(names[static_cast<int>(o.is)]) + (o.text.empty() ? "" : ": `" + o.text + "`");
}

std::filesystem::path folder() {
  const char* const set = std::getenv("TROUPE_TEST_FOREIGN");
  return set != nullptr ? set : TROUPE_TEST_FOREIGN;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

table expected_on(engine e) {
  table t;
  std::ifstream in(folder() / "README.md");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("| `")) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != 4) throw std::runtime_error("README.md: not four cells: " + line);
    const std::string name = cells[0].substr(1, cells[0].size() - 2);
    if (!t.emplace(name, outcome_of(cells[e == engine::host ? 2 : 3])).second)
      throw std::runtime_error("README.md has two rows for " + name);
  }
  return t;
}

int judge_all(int argc, char** argv, engine e, const std::function<void(source&)>& run) {
  testing::InitGoogleTest(&argc, argv);
  const table expected = expected_on(e);
  for (const auto& s : all_sources())
    testing::RegisterTest(
        s->family().c_str(), s->name().c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [&expected, &run, s = s.get()]() -> testing::Test* { return new one([&, s] { judge(*s, expected, run); }); });
  const int code = RUN_ALL_TESTS();
  if (!seen.empty()) print_seen();
  return code;
}

}  // namespace troupe::foreign
