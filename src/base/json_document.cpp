#include "base/json_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "base/json_names.hpp"

namespace attnprof {
namespace {

using Event = Json::parse_event_t;

constexpr int deepest = 20;

// Goes through a text and counts the lines that it has come to. The parser reads one character beyond a
// number: where that ends the line, the number still stands in it.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, size_t& line) : at_(at), line_(&line) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *line_ += at_line_end_;
    at_line_end_ = *at_++ == '\n';
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  size_t* line_;
  bool at_line_end_ = false;
};

// Follows the parser's events: notes the line of each value, and refuses a key that is given twice, of which
// the parser would keep the last.
class Follower {
 public:
  Follower(JsonDocument& document, const size_t& line) : document_(document), line_(line) {}

  bool on_event(int depth, Event event, const Json& parsed) {
    if (depth > deepest) refuse(fmt::format("more than {} brackets are open at once", deepest));
    if (event == Event::key) return on_key(parsed.get<std::string>());
    if (event == Event::object_end || event == Event::array_end) {
      open_.pop_back();
      return true;
    }
    const std::string path = next_path();
    document_.lines.emplace(path, line_);
    if (event != Event::value) open_.push_back({path, event == Event::array_start, 0, "", {}});
    return true;
  }

 private:
  struct Open {
    std::string path;
    bool is_array;
    size_t elements;
    std::string key;  // of the value that comes next
    std::set<std::string> keys;
  };

  bool on_key(const std::string& key) {
    Open& object = open_.back();
    object.key = key;
    document_.lines.emplace(path_of_key(object.path, key), line_);
    if (!object.keys.insert(key).second)
      refuse(fmt::format("key {} is given twice in one object; leave one of them out",
                         Json(key).dump(-1, ' ', true, Json::error_handler_t::replace)));
    return true;
  }
  std::string next_path() {
    if (open_.empty()) return "";
    Open& parent = open_.back();
    if (!parent.is_array) return path_of_key(parent.path, parent.key);
    return path_of_element(parent.path, parent.elements++);
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw UsageError(fmt::format("{}, line {}: {}", document_.file, line_, what));
  }

  JsonDocument& document_;
  const size_t& line_;
  std::vector<Open> open_;
};

std::string line_and_column(const std::string& text, size_t byte) {
  const size_t end = std::min(byte == 0 ? 0 : byte - 1, text.size());
  const auto begin = text.begin(), at = begin + static_cast<std::ptrdiff_t>(end);
  const auto line = std::count(begin, at, '\n') + 1;
  const size_t last = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  return fmt::format("line {}, column {}", line, last == std::string::npos ? end + 1 : end - last);
}

}  // namespace

std::string path_of_key(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string path_of_element(const std::string& path, size_t index) {
  return fmt::format("{}[{}]", path, index);
}

JsonDocument parse_json(const std::string& file, const std::string& text) {
  if (std::ranges::all_of(text, [](unsigned char c) { return std::isspace(c); }))
    throw UsageError(fmt::format("{}: is empty; give a JSON file", file));
  JsonDocument document{file, {}, {}};
  size_t line = 1;
  Follower follower(document, line);
  const auto follow = [&](int depth, Event event, const Json& parsed) {
    return follower.on_event(depth, event, parsed);
  };
  try {
    document.root = Json::parse(CountingIterator(text.data(), line),
                                CountingIterator(text.data() + text.size(), line), follow, true,
                                /*ignore_comments=*/true);
  } catch (const Json::parse_error& error) {
    throw UsageError(fmt::format("{}, {}: what stands there is no JSON; mend it there or just before", file,
                                 line_and_column(text, error.byte)));
  } catch (const Json::out_of_range&) {
    throw UsageError(fmt::format("{}, line {}: a number in it is too large", file, line));
  }
  return document;
}

}  // namespace attnprof
