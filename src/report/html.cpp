#include "report/html.h"

#include <fmt/format.h>

#include <utility>

#include "report/answer.h"
#include "report/escape.h"
#include "report/html_data.h"
#include "report/html_page.h"
#include "report/ladders.h"

namespace tlstrata::report {
namespace {

// A block of data: nothing in it can end it, since no "<" is left.
std::string data_block(std::string_view id, const Json& document) {
  const std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string block = fmt::format("<script type=\"application/json\" id=\"{}\">", id);
  block.reserve(block.size() + text.size() + 64);
  std::size_t from = 0;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', from)) {
    block.append(text, from, at - from).append("\\u003c");
    from = at + 1;
  }
  return block.append(text, from).append("</script>\n");
}

// What stands there before, and without, the page's script.
std::string plain_answer(const Summary& summary) {
  const Answer answer = answer_of(summary);
  std::string text = fmt::format("<h1>{}</h1>\n<div class=\"answer\">\n", for_html(answer.question));
  for (const std::string& sentence : answer.sentences) {
    text += fmt::format("<p>{}</p>\n", for_html(sentence));
  }
  return text + "</div>\n";
}

}  // namespace

std::string html_report(const Results& results, const Ladders& ladders) {
  const std::pair<std::string_view, std::string> fillings[] = {
      {title_place, for_html("tlstrata: " + results.manifest.name)},
      {answer_place, plain_answer(results.summary)},
      {data_place, data_block("facts", page_facts(results)) + data_block("rows", page_rows(results)) +
                       data_block("ladders", to_json(ladders, results))}};
  std::string page;
  std::string_view rest = page_template();
  for (const auto& [place, filling] : fillings) {
    const std::size_t at = rest.find(place);
    page.append(rest.substr(0, at)).append(filling);
    rest.remove_prefix(at + place.size());
  }
  return page.append(rest);
}

}  // namespace tlstrata::report
