#include "picture.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>

#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>

namespace nearfield::app
{
  namespace
  {
    constexpr int picture_width = 1400, picture_height = 1200;
    // of the panel with the points, and of the colour bar beside it
    constexpr double panel_left = 130, panel_right = 1180, panel_top = 120, panel_bottom = 1095;
    constexpr double bar_left = 1215, bar_right = 1247, bar_label = 1360;
    constexpr double title_size = 31, label_size = 25, tick_size = 22, tick = 8;

    using colour = std::array<double, 3>;
    constexpr colour white{1, 1, 1}, ink{0.12, 0.13, 0.16}, faint{0.36, 0.38, 0.43};

    struct release
    {
      void operator()(cairo_t* p) const { cairo_destroy(p); }
      void operator()(cairo_surface_t* p) const { cairo_surface_destroy(p); }
      void operator()(cairo_pattern_t* p) const { cairo_pattern_destroy(p); }
    };
    template <class T>
    using owned = std::unique_ptr<T, release>;

    colour mix(colour const& a, colour const& b, double weight_of_b)
    {
      colour c;
      for (std::size_t k = 0; k < 3; ++k) c[k] = a[k] + weight_of_b * (b[k] - a[k]);
      return c;
    }

    // Red for negative and blue for positive potentials, as chemists draw them.
    colour diverging(double t)
    {
      static constexpr colour stops[] = {{0.45, 0.02, 0.10}, {0.80, 0.20, 0.18}, {0.95, 0.60, 0.47},
                                         {0.94, 0.93, 0.91}, {0.55, 0.74, 0.90}, {0.16, 0.44, 0.75},
                                         {0.03, 0.17, 0.43}};
      constexpr int n = static_cast<int>(std::size(stops)) - 1;
      double const place = std::clamp(t, 0.0, 1.0) * n;
      int const i = std::min(n - 1, static_cast<int>(place));
      return mix(stops[i], stops[i + 1], place - i);
    }

    // The least of these times a power of ten that is not below x.
    double round_up(double x, std::initializer_list<double> steps)
    {
      double const power = std::pow(10, std::floor(std::log10(x)));
      for (double const step : steps)
        if (step * power >= x) return step * power;
      return 10 * power;
    }

    // Zero is always the pale middle of the colours.
    struct value_scale
    {
      double low = -1, high = 1;
      bool below = false, above = false; // values lie beyond the ends

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
      double const end = round_up(largest, {1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8});
      value_scale scale{low < 0 ? -end : 0, high > 0 ? end : 0};
      scale.below = values.front() < scale.low;
      scale.above = values.back() > scale.high;
      return scale;
    }

    struct projection
    {
      double x = 0, y = 0, scale = 1; // of the middle; pixels per length

      [[nodiscard]] double across(double at) const
      {
        return (panel_left + panel_right) / 2 + (at - x) * scale;
      }
      [[nodiscard]] double down(double at) const
      {
        return (panel_top + panel_bottom) / 2 - (at - y) * scale;
      }
    };

    projection fit(scene const& what)
    {
      double const inf = std::numeric_limits<double>::infinity();
      double x0 = inf, x1 = -inf, y0 = inf, y1 = -inf;
      for (std::size_t i = 0; i < what.x.size(); ++i)
      {
        x0 = std::min(x0, what.x[i]), x1 = std::max(x1, what.x[i]);
        y0 = std::min(y0, what.y[i]), y1 = std::max(y1, what.y[i]);
      }
      if (!(x0 <= x1)) x0 = y0 = -1, x1 = y1 = 1;
      double const room = 3 * what.radius; // around the outermost points
      return {(x0 + x1) / 2, (y0 + y1) / 2,
              std::min((panel_right - panel_left) / (x1 - x0 + 2 * room),
                       (panel_bottom - panel_top) / (y1 - y0 + 2 * room))};
    }

    std::string in_ascii(std::string text)
    {
      static constexpr std::pair<char const*, char const*> letters[] = {
          {"\u03c6", "phi"}, {"\u03a3", "sum"}, {"\u00c5", "A"}, {"\u2212", "-"}};
      for (auto const& [letter, plain] : letters)
        for (std::size_t at = 0; (at = text.find(letter)) != std::string::npos;)
          text.replace(at, std::char_traits<char>::length(letter), plain);
      return text;
    }

    class figure
    {
    public:
      figure()
          : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, picture_width, picture_height)),
            cairo_(cairo_create(surface_.get()))
      {
        ink_of(white);
        cairo_paint(on());
        cairo_set_line_width(on(), 1.5);
      }

      [[nodiscard]] cairo_t* on() const { return cairo_.get(); }

      void ink_of(colour const& c, double opacity = 1) const
      {
        cairo_set_source_rgba(on(), c[0], c[1], c[2], opacity);
      }

      void line(double x0, double y0, double x1, double y1) const
      {
        cairo_move_to(on(), x0, y0);
        cairo_line_to(on(), x1, y1);
        cairo_stroke(on());
      }

      // Text on a base line; `part` of its width lies left of x. Smaller where it would be wider than `most`.
      void text(double x, double y, double size, std::string words, double part,
                double most = picture_width) const
      {
        cairo_set_font_size(on(), size);
        // where the machine has no font, cairo draws with one of its own, which has ASCII only
        if (cairo_scaled_font_get_type(cairo_get_scaled_font(on())) == CAIRO_FONT_TYPE_USER)
          words = in_ascii(words);
        cairo_text_extents_t extents;
        cairo_text_extents(on(), words.c_str(), &extents);
        if (extents.x_advance > most)
        {
          cairo_set_font_size(on(), size * most / extents.x_advance);
          extents.x_advance = most;
        }
        cairo_move_to(on(), x - part * extents.x_advance, y);
        cairo_show_text(on(), words.c_str());
      }

      void upwards(double x, double y, double size, std::string const& words) const
      {
        cairo_save(on());
        cairo_translate(on(), x, y);
        cairo_rotate(on(), -std::numbers::pi / 2);
        text(0, 0, size, words, 0.5);
        cairo_restore(on());
      }

      [[nodiscard]] std::string png() const
      {
        std::string bytes;
        auto const append = [](void* to, unsigned char const* from, unsigned int n)
        {
          static_cast<std::string*>(to)->append(reinterpret_cast<char const*>(from), n);
          return CAIRO_STATUS_SUCCESS;
        };
        auto status = cairo_status(on());
        if (status == CAIRO_STATUS_SUCCESS)
          status = cairo_surface_write_to_png_stream(surface_.get(), append, &bytes);
        if (status != CAIRO_STATUS_SUCCESS)
          throw error(std::string("cairo: ") + cairo_status_to_string(status));
        return bytes;
      }

    private:
      owned<cairo_surface_t> surface_;
      owned<cairo_t> cairo_;
    };

    std::string tick_label(double v)
    {
      auto const text = nearfield::detail::number_text(std::abs(v), std::chars_format::general, 3);
      return v < 0 ? "\u2212" + text : text;
    }

    void draw_ball(figure const& f, double x, double y, double radius, colour const& c)
    {
      // lit from the upper left; a dark rim keeps neighbours of one colour apart
      owned<cairo_pattern_t> const light(cairo_pattern_create_radial(
          x - 0.35 * radius, y - 0.4 * radius, 0.1 * radius, x, y, radius));
      auto const stop = [&](double at, colour const& shade)
      {
        cairo_pattern_add_color_stop_rgb(light.get(), at, shade[0], shade[1], shade[2]);
      };
      stop(0, mix(c, white, 0.25));
      stop(0.45, c);
      stop(0.85, mix(c, {}, 0.3));
      stop(1, mix(c, {}, 0.55));
      cairo_set_source(f.on(), light.get());
      cairo_arc(f.on(), x, y, radius, 0, 2 * std::numbers::pi);
      cairo_fill(f.on());
    }

    void draw_grid(figure const& f, scene const& what, projection const& view, double opacity)
    {
      f.ink_of(ink, opacity);
      cairo_set_line_width(f.on(), 1);
      for (square const& leaf : what.grid)
        cairo_rectangle(f.on(), view.across(leaf.x - leaf.half_width),
                        view.down(leaf.y + leaf.half_width), 2 * leaf.half_width * view.scale,
                        2 * leaf.half_width * view.scale);
      cairo_stroke(f.on());
      cairo_set_line_width(f.on(), 1.5);
    }

    void draw_points(figure const& f, scene const& what, projection const& view,
                     value_scale const& scale)
    {
      std::vector<std::size_t> order(what.x.size());
      std::iota(order.begin(), order.end(), std::size_t(0));
      std::sort(order.begin(), order.end(),
                [&](std::size_t a, std::size_t b) { return what.z[a] < what.z[b]; });
      for (std::size_t rank = 0; rank < order.size(); ++rank)
      {
        std::size_t const i = order[rank];
        // far points fade, so that depth can be seen
        double const fog = 0.45 * (1 - double(rank + 1) / double(order.size()));
        draw_ball(f, view.across(what.x[i]), view.down(what.y[i]), what.radius * view.scale,
                  mix(scale.of(what.value[i]), white, fog));
      }
    }

    // The multiples of a round step that lie between the ends.
    std::vector<double> ticks(double low, double high)
    {
      double const step = round_up((high - low) / 8, {1, 2, 5});
      std::vector<double> values;
      for (double k = std::ceil(low / step); k * step <= high; ++k) values.push_back(k * step);
      return values;
    }

    void draw_axes(figure const& f, projection const& view, std::string const& unit)
    {
      f.ink_of(ink);
      cairo_rectangle(f.on(), panel_left, panel_top, panel_right - panel_left,
                      panel_bottom - panel_top);
      cairo_stroke(f.on());
      double const half_width = (panel_right - panel_left) / 2 / view.scale,
                   half_height = (panel_bottom - panel_top) / 2 / view.scale;
      for (double const x : ticks(view.x - half_width, view.x + half_width))
      {
        f.line(view.across(x), panel_bottom, view.across(x), panel_bottom + tick);
        f.text(view.across(x), panel_bottom + tick + tick_size + 2, tick_size, tick_label(x), 0.5);
      }
      for (double const y : ticks(view.y - half_height, view.y + half_height))
      {
        f.line(panel_left - tick, view.down(y), panel_left, view.down(y));
        f.text(panel_left - tick - 6, view.down(y) + 0.36 * tick_size, tick_size, tick_label(y), 1);
      }
      f.text((panel_left + panel_right) / 2, panel_bottom + 74, label_size, "x (" + unit + ")",
             0.5);
      f.upwards(panel_left - 88, (panel_top + panel_bottom) / 2, label_size, "y (" + unit + ")");
    }

    void draw_colour_bar(figure const& f, value_scale const& scale, std::string const& name)
    {
      double const tip = 26, first = panel_bottom - tip, last = panel_top + tip,
                   middle = (bar_left + bar_right) / 2;
      owned<cairo_pattern_t> const colours(cairo_pattern_create_linear(0, first, 0, last));
      constexpr int n = 64;
      for (int i = 0; i <= n; ++i)
      {
        auto const c = scale.of(scale.low + (scale.high - scale.low) * i / n);
        cairo_pattern_add_color_stop_rgb(colours.get(), double(i) / n, c[0], c[1], c[2]);
      }
      // an end with values beyond it is a tip
      cairo_move_to(f.on(), bar_left, first);
      if (scale.below) cairo_line_to(f.on(), middle, panel_bottom);
      cairo_line_to(f.on(), bar_right, first);
      cairo_line_to(f.on(), bar_right, last);
      if (scale.above) cairo_line_to(f.on(), middle, panel_top);
      cairo_line_to(f.on(), bar_left, last);
      cairo_close_path(f.on());
      cairo_set_source(f.on(), colours.get());
      cairo_fill_preserve(f.on());
      f.ink_of(ink);
      cairo_stroke(f.on());
      for (int i = 0; i <= 4; ++i)
      {
        double const y = first + (last - first) * i / 4;
        f.line(bar_right, y, bar_right + tick, y);
        f.text(bar_right + tick + 6, y + 0.36 * tick_size, tick_size,
               tick_label(scale.low + (scale.high - scale.low) * i / 4), 0);
      }
      f.upwards(bar_label, (panel_top + panel_bottom) / 2, label_size, name);
    }
  }

  std::string draw(scene const& what)
  {
    figure const f;
    projection const view = fit(what);
    value_scale const scale = scale_of(what.value);

    cairo_save(f.on());
    cairo_rectangle(f.on(), panel_left, panel_top, panel_right - panel_left,
                    panel_bottom - panel_top);
    cairo_clip(f.on());
    // the leaves behind the points show where there are none
    draw_grid(f, what, view, 0.2);
    draw_points(f, what, view, scale);
    draw_grid(f, what, view, 0.22);
    cairo_restore(f.on());

    cairo_select_font_face(f.on(), "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    draw_axes(f, view, what.length_unit);
    draw_colour_bar(f, scale, what.value_name);
    double const most = picture_width - panel_left - 28;
    f.ink_of(faint);
    f.text(panel_left, 98, tick_size, what.subtitle, 0, most);
    f.ink_of(ink);
    f.text(panel_left, 58, title_size, what.title, 0, most);
    return f.png();
  }
}
