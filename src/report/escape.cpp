#include "report/escape.h"

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
  return replaced(hostile, [](char c) -> std::string_view {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '|':
        return "&#124;";
      case '*':
        return "&#42;";
      case '_':
        return "&#95;";
      case '`':
        return "&#96;";
      case '~':
        return "&#126;";
      case '[':
        return "&#91;";
      case ']':
        return "&#93;";
      case '#':
        return "&#35;";
      case '$':
        return "&#36;";
      case '@':
        return "&#64;";
      case '\\':
        return "&#92;";
      case ':':
        return "&#58;";
      default:
        return {};
    }
  });
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
