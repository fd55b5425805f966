// A picture as SVG inside a page.
//
// In:      shapes in picture units, classes of the page's style sheet, text that may be hostile (escaped here).
// Out:     one <svg> element without script, style or reference to anything outside.
// Units:   picture units; the page scales them. Coordinates are written with two decimals.
// Threads: one thread at a time.
// Source:  SVG 1.1.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tlstrata::report {

struct Point {
  double x = 0;
  double y = 0;
};

enum class Anchor : unsigned char { start, middle, end };

class Svg {
 public:
  // `title` is what a screen reader says for the picture.
  Svg(double width, double height, std::string_view title);

  // `tip` is shown while the pointer rests on the shape; empty: none.
  void rectangle(Point corner, double width, double height, std::string_view css_class, std::string_view tip = {});
  void line(Point from, Point to, std::string_view css_class);
  void path(std::span<const Point> points, std::string_view css_class, std::string_view tip = {});
  void circle(Point centre, double radius, std::string_view css_class, std::string_view tip = {});
  void text(Point at, std::string_view content, std::string_view css_class, Anchor anchor = Anchor::start);

  // The element; nothing can be added afterwards.
  std::string finish();

 private:
  void end_shape(std::string_view element, std::string_view tip);

  std::string out_;
};

}  // namespace tlstrata::report
