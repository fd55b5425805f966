#include "report/escape.h"

#include <fmt/format.h>

#include <cctype>
#include <iterator>

#include "base/text.h"

namespace tlstrata::report {
namespace {

// What stands for a character; empty: the character itself.
template <typename Replacement>
std::string replaced(std::string_view hostile, Replacement replacement) {
  const std::string visible = for_terminal(hostile);
  std::string out;
  out.reserve(visible.size());
  for (const char c : visible) {
    const std::string_view instead = replacement(c);
    if (instead.empty()) {
      out += c;
    } else {
      out += instead;
    }
  }
  return out;
}

}  // namespace

std::string for_html(std::string_view hostile) {
  return replaced(hostile, [](char c) -> std::string_view {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      case '\'':
        return "&#39;";
      default:
        return {};
    }
  });
}

std::string for_markdown(std::string_view hostile) {
  const std::string visible = for_terminal(hostile);
  const auto is_word = [&](std::size_t at) {
    return at < visible.size() && (std::isalnum(static_cast<unsigned char>(visible[at])) != 0);
  };
  std::string out;
  for (std::size_t i = 0; i < visible.size(); ++i) {
    const char c = visible[i];
    const std::string_view rest = std::string_view(visible).substr(i);
    // Inside a word an underscore is no markup; a colon and a dot are only where they make a link of what follows.
    const bool markup = std::string_view("&<>|*`~[]#$@\\").find(c) != std::string_view::npos ||
                        (c == '_' && !(i > 0 && is_word(i - 1) && is_word(i + 1))) || rest.starts_with("://") ||
                        (c == '.' && i >= 3 && std::string_view(visible).substr(i - 3, 3) == "www");
    if (markup) {
      fmt::format_to(std::back_inserter(out), "&#{};", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string for_latex(std::string_view hostile) {
  return replaced(hostile, [](char c) -> std::string_view {
    switch (c) {
      case '\\':
        return "\\textbackslash{}";
      case '{':
        return "\\{";
      case '}':
        return "\\}";
      case '$':
        return "\\$";
      case '&':
        return "\\&";
      case '#':
        return "\\#";
      case '%':
        return "\\%";
      case '_':
        return "\\_";
      case '^':
        return "\\textasciicircum{}";
      case '~':
        return "\\textasciitilde{}";
      case '<':
        return "\\textless{}";
      case '>':
        return "\\textgreater{}";
      case '"':
        return "\\textquotedbl{}";
      case '|':
        return "\\textbar{}";
      default:
        return {};
    }
  });
}

}  // namespace tlstrata::report
