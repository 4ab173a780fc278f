#include "picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace nearfield::app
{
  namespace
  {
    constexpr int picture_width = 1400, picture_height = 1200;
    constexpr double margin = 40, header = 110, side = 230;
    constexpr colour white{1, 1, 1}, ink{0.15f, 0.16f, 0.20f}, faint{0.42f, 0.44f, 0.50f};

    // Red for negative and blue for positive potentials, as chemists draw them.
    colour diverging(double t)
    {
      static constexpr colour stops[] = {{0.45f, 0.02f, 0.10f}, {0.80f, 0.20f, 0.18f},
                                         {0.95f, 0.60f, 0.47f}, {0.94f, 0.93f, 0.91f},
                                         {0.55f, 0.74f, 0.90f}, {0.16f, 0.44f, 0.75f},
                                         {0.03f, 0.17f, 0.43f}};
      constexpr int n = static_cast<int>(std::size(stops)) - 1;
      double const place = std::clamp(t, 0.0, 1.0) * n;
      int const i = std::min(n - 1, static_cast<int>(place));
      auto const f = static_cast<float>(place - i);
      colour c;
      for (int k = 0; k < 3; ++k) c[k] = stops[i][k] + f * (stops[i + 1][k] - stops[i][k]);
      return c;
    }

    // The largest of 1, 2, 5 times a power of ten that is not above x.
    double round_down(double x)
    {
      double const power = std::pow(10, std::floor(std::log10(x)));
      for (double const step : {5.0, 2.0})
        if (step * power <= x * (1 + 1e-9)) return step * power;
      return power;
    }

    // The next number above x that reads well.
    double round_up(double x)
    {
      double const power = std::pow(10, std::floor(std::log10(x)));
      for (double const step : {1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0})
        if (step * power >= x) return step * power;
      return 10 * power;
    }

    // Zero is always the pale middle of the colours.
    struct value_scale
    {
      double low = -1, high = 1;

      [[nodiscard]] colour of(double v) const
      {
        double const largest = std::max(-low, high);
        return diverging((v + largest) / (2 * largest));
      }
    };

    // 2 % at each end are outliers that would take the colour from all others.
    value_scale scale_of(std::vector<double> values)
    {
      std::erase_if(values, [](double v) { return !std::isfinite(v); });
      if (values.empty()) return {};
      std::sort(values.begin(), values.end());
      auto const n = values.size();
      double const low = values[n / 50], high = values[n - 1 - n / 50];
      double const largest = std::max(-low, high);
      if (!(largest > 0)) return {};
      double const end = round_up(largest);
      return {low < 0 ? -end : 0, high > 0 ? end : 0};
    }

    std::string number(double v)
    {
      char text[32];
      std::snprintf(text, sizeof text, "%.3g", std::abs(v) < 1e-12 ? 0 : v);
      return text;
    }

    struct projection
    {
      double x0, y0, scale; // of the lower left corner; pixels per length
      double left, bottom;

      [[nodiscard]] double across(double x) const { return left + (x - x0) * scale; }
      [[nodiscard]] double down(double y) const { return bottom - (y - y0) * scale; }
    };

    projection fit(scene const& what)
    {
      double const inf = std::numeric_limits<double>::infinity();
      double x0 = inf, x1 = -inf, y0 = inf, y1 = -inf;
      for (std::size_t i = 0; i < what.x.size(); ++i)
      {
        x0 = std::min(x0, what.x[i] - what.radius), x1 = std::max(x1, what.x[i] + what.radius);
        y0 = std::min(y0, what.y[i] - what.radius), y1 = std::max(y1, what.y[i] + what.radius);
      }
      if (!(x0 <= x1)) x0 = y0 = -1, x1 = y1 = 1;
      double const width = picture_width - side - 2 * margin;
      double const height = picture_height - header - 2 * margin;
      double const scale = std::min(width / (x1 - x0), height / (y1 - y0));
      return {x0, y0, scale, margin + (width - scale * (x1 - x0)) / 2,
              picture_height - margin - (height - scale * (y1 - y0)) / 2};
    }

    void draw_colour_bar(canvas& on, value_scale const& scale, std::string const& name)
    {
      double const left = picture_width - side + 70, right = left + 34;
      double const top = header + 90, bottom = picture_height - 180;
      int const rows = static_cast<int>(bottom - top);
      for (int row = 0; row < rows; ++row)
        on.rectangle(left, top + row, right, top + row + 1,
                     scale.of(scale.high - (scale.high - scale.low) * (row + 0.5) / rows));
      on.frame(left, top, right, bottom, 1.4, ink, 1);
      for (int tick = 0; tick <= 4; ++tick)
      {
        double const y = bottom - (bottom - top) * tick / 4;
        on.rectangle(right, y - 0.7, right + 8, y + 0.7, ink);
        on.text(right + 14, y + 7, 14, number(scale.low + (scale.high - scale.low) * tick / 4),
                ink);
      }
      on.text(left - 40, top - 28, 14, name, ink);
    }

    void draw_scale_bar(canvas& on, projection const& view, std::string const& unit)
    {
      double const length = round_down(180 / view.scale);
      double const left = picture_width - side + 30, y = picture_height - margin - 20;
      on.rectangle(left, y, left + length * view.scale, y + 4, ink);
      on.text(left, y - 12, 14, number(length) + (unit.empty() ? "" : " " + unit), ink);
    }
  }

  image draw(scene const& what)
  {
    canvas on(picture_width, picture_height, white);
    projection const view = fit(what);
    value_scale const scale = scale_of(what.value);

    // the leaves behind the points show where there are none
    auto const draw_grid = [&](double opacity)
    {
      for (square const& leaf : what.grid)
        on.frame(view.across(leaf.x - leaf.half_width), view.down(leaf.y + leaf.half_width),
                 view.across(leaf.x + leaf.half_width), view.down(leaf.y - leaf.half_width), 1.0,
                 ink, opacity);
    };
    draw_grid(0.18);

    std::vector<std::size_t> order(what.x.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return what.z[a] < what.z[b]; });
    for (std::size_t rank = 0; rank < order.size(); ++rank)
    {
      std::size_t const i = order[rank];
      colour c = scale.of(what.value[i]);
      // far points fade, so that depth can be seen
      auto const fog = static_cast<float>(0.45 * (1 - double(rank + 1) / double(order.size())));
      for (int k = 0; k < 3; ++k) c[k] += fog * (white[k] - c[k]);
      on.ball(view.across(what.x[i]), view.down(what.y[i]), what.radius * view.scale, c);
    }
    draw_grid(0.22);

    // a leaf that reaches out of the view must not cross the margins
    on.rectangle(0, 0, picture_width, header, white);
    on.rectangle(picture_width - side, 0, picture_width, picture_height, white);

    on.text(margin, 52, 24, what.title, ink);
    on.text(margin, 86, 15, what.subtitle, faint);
    draw_colour_bar(on, scale, what.value_name);
    draw_scale_bar(on, view, what.length_unit);
    return on.finish();
  }
}
