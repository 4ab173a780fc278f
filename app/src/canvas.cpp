#include "canvas.hpp"

#include "font.hpp"

#include <algorithm>
#include <cmath>

namespace nearfield::app
{
  canvas::canvas(int width, int height, colour const& background)
      : width_(width), height_(height), fine_width_(width * samples),
        fine_height_(height * samples), rgb_(3 * std::size_t(fine_width_) * fine_height_)
  {
    for (std::size_t i = 0; i < rgb_.size(); ++i) rgb_[i] = background[i % 3];
  }

  void canvas::ball(double x, double y, double radius, colour const& c)
  {
    double const cx = x * samples, cy = y * samples, r = radius * samples;
    int const top = std::max(0, static_cast<int>(std::floor(cy - r)));
    int const bottom = std::min(fine_height_ - 1, static_cast<int>(std::ceil(cy + r)));
    int const left = std::max(0, static_cast<int>(std::floor(cx - r)));
    int const right = std::min(fine_width_ - 1, static_cast<int>(std::ceil(cx + r)));
    for (int j = top; j <= bottom; ++j)
      for (int i = left; i <= right; ++i)
      {
        double const nx = (i + 0.5 - cx) / r, ny = (j + 0.5 - cy) / r;
        double const inside = 1 - nx * nx - ny * ny;
        if (inside < 0) continue;
        double const nz = std::sqrt(inside);
        double const light = std::max(0.0, -0.45 * nx - 0.6 * ny + 0.66 * nz);
        // a dark rim keeps neighbours of one colour apart
        double const shade = (0.5 + 0.5 * light) * (nz < 0.35 ? 0.55 + 1.28 * nz : 1);
        float* const p = at(i, j);
        for (int k = 0; k < 3; ++k) p[k] = static_cast<float>(c[k] * shade);
      }
  }

  void canvas::mix(double left, double top, double right, double bottom, colour const& c,
                   double opacity)
  {
    auto const cut = [](double x, int limit)
    {
      return std::clamp(static_cast<int>(std::lround(x * samples)), 0, limit);
    };
    auto const weight = static_cast<float>(opacity);
    int const last_row = cut(bottom, fine_height_), last_column = cut(right, fine_width_);
    for (int j = cut(top, fine_height_); j < last_row; ++j)
      for (int i = cut(left, fine_width_); i < last_column; ++i)
      {
        float* const p = at(i, j);
        for (int k = 0; k < 3; ++k) p[k] += weight * (c[k] - p[k]);
      }
  }

  void canvas::rectangle(double left, double top, double right, double bottom, colour const& c)
  {
    mix(left, top, right, bottom, c, 1);
  }

  void canvas::frame(double left, double top, double right, double bottom, double thickness,
                     colour const& c, double opacity)
  {
    double const half = thickness / 2;
    mix(left - half, top - half, right + half, top + half, c, opacity);
    mix(left - half, bottom - half, right + half, bottom + half, c, opacity);
    mix(left - half, top + half, left + half, bottom - half, c, opacity);
    mix(right - half, top + half, right + half, bottom - half, c, opacity);
  }

  void canvas::text(double x, double y, double size, std::string_view text, colour const& c)
  {
    double const dot = size / font::height;
    for (char const letter : text)
    {
      auto const& rows = font::glyph(letter);
      for (int row = 0; row < font::rows; ++row)
        for (int column = 0; column < font::width; ++column)
          if (rows[row] >> (font::width - 1 - column) & 1)
          {
            double const left = x + column * dot, top = y + (row - font::height) * dot;
            rectangle(left, top, left + dot, top + dot, c);
          }
      x += font::advance * dot;
    }
  }

  double canvas::text_width(double size, std::string_view text)
  {
    return static_cast<double>(text.size()) * font::advance * size / font::height;
  }

  image canvas::finish() const
  {
    image result{width_, height_, std::vector<std::uint8_t>(3 * std::size_t(width_) * height_)};
    std::size_t pixel = 0;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x, pixel += 3)
        for (int k = 0; k < 3; ++k)
        {
          float sum = 0;
          for (int j = 0; j < samples; ++j)
            for (int i = 0; i < samples; ++i)
              sum += rgb_[3 * (std::size_t(y * samples + j) * fine_width_ + x * samples + i) + k];
          float const mean = sum / (samples * samples);
          result.rgb[pixel + k] =
              static_cast<std::uint8_t>(std::lround(255 * std::clamp(mean, 0.0f, 1.0f)));
        }
    return result;
  }
}
