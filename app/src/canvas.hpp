#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace nearfield::app
{
  /// Red, green, blue in 0 ... 1.
  using colour = std::array<float, 3>;

  /// A picture of 8-bit RGB pixels, row by row from the top.
  struct image
  {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgb = {};
  };

  /// Something to draw on. Coordinates are in pixels of the final image, x to the right, y downwards;
  /// each pixel is the mean of several samples, so edges are smooth.
  class canvas
  {
  public:
    canvas(int width, int height, colour const& background);

    [[nodiscard]] int width() const { return width_; }
    [[nodiscard]] int height() const { return height_; }

    /// A ball lit from the upper left.
    void ball(double x, double y, double radius, colour const& c);
    void rectangle(double left, double top, double right, double bottom, colour const& c);
    /// The four sides of a rectangle, of that thickness, mixed in with weight `opacity`.
    void frame(double left, double top, double right, double bottom, double thickness,
               colour const& c, double opacity);
    /// Text whose letters are `size` pixels high; (x, y) is the left end of the base line.
    void text(double x, double y, double size, std::string_view text, colour const& c);
    [[nodiscard]] static double text_width(double size, std::string_view text);

    [[nodiscard]] image finish() const;

  private:
    static constexpr int samples = 3; // along each axis of a pixel

    void mix(double left, double top, double right, double bottom, colour const& c, double opacity);
    [[nodiscard]] float* at(int x, int y) { return &rgb_[3 * (std::size_t(y) * fine_width_ + x)]; }

    int width_, height_;
    int fine_width_, fine_height_;
    std::vector<float> rgb_;
  };
}
