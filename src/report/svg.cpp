#include "report/svg.h"

#include <fmt/format.h>

#include <iterator>

#include "report/escape.h"

namespace tlstrata::report {
namespace {

// "12.5", "3": two decimals at most, which is far below a pixel.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') {
    text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

}  // namespace

Svg::Svg(double width, double height, std::string_view title) {
  fmt::format_to(std::back_inserter(out_),
                 "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" xmlns=\"http://www.w3.org/2000/svg\">\n",
                 number(width), number(height), for_html(title));
}

void Svg::end_shape(std::string_view element, std::string_view tip) {
  if (tip.empty()) {
    out_ += "/>\n";
  } else {
    fmt::format_to(std::back_inserter(out_), "><title>{}</title></{}>\n", for_html(tip), element);
  }
}

void Svg::rectangle(Point corner, double width, double height, std::string_view css_class, std::string_view tip) {
  fmt::format_to(std::back_inserter(out_), "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"",
                 number(corner.x), number(corner.y), number(width), number(height), css_class);
  end_shape("rect", tip);
}

void Svg::line(Point from, Point to, std::string_view css_class) {
  fmt::format_to(std::back_inserter(out_), "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n",
                 number(from.x), number(from.y), number(to.x), number(to.y), css_class);
}

void Svg::path(std::span<const Point> points, std::string_view css_class, std::string_view tip) {
  out_ += "<path d=\"";
  for (std::size_t i = 0; i < points.size(); ++i) {
    fmt::format_to(std::back_inserter(out_), "{}{},{}", i == 0 ? "M" : " ", number(points[i].x), number(points[i].y));
  }
  fmt::format_to(std::back_inserter(out_), "\" class=\"{}\"", css_class);
  end_shape("path", tip);
}

void Svg::circle(Point centre, double radius, std::string_view css_class, std::string_view tip) {
  fmt::format_to(std::back_inserter(out_), "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"", number(centre.x),
                 number(centre.y), number(radius), css_class);
  end_shape("circle", tip);
}

void Svg::text(Point at, std::string_view content, std::string_view css_class, Anchor anchor) {
  const std::string_view side = anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
  fmt::format_to(std::back_inserter(out_), "<text x=\"{}\" y=\"{}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n",
                 number(at.x), number(at.y), css_class, side, for_html(content));
}

std::string Svg::finish() {
  out_ += "</svg>\n";
  return std::move(out_);
}

}  // namespace tlstrata::report
