#include "npy_head.hpp"

#include "text.hpp"

#include <algorithm>

namespace nearfield::detail::io
{
  namespace
  {
    constexpr std::string_view magic = "\x93NUMPY";
    constexpr std::size_t longest_head = 1 << 24;

    // The dictionary of a head: a literal of Python, with its keys in any order.
    class dictionary
    {
    public:
      dictionary(std::string_view text, std::size_t offset, std::string const& name)
          : text_(text), offset_(offset), name_(name)
      {}

      void read(array_head& head)
      {
        expect('{');
        bool has_type = false;
        while (!take('}'))
        {
          auto const at = place();
          auto const key = quoted();
          expect(':');
          if (key == "descr" && !has_type)
          {
            read_types(head);
            has_type = true;
          }
          else if (key == "fortran_order" && !head.is_column_major)
            head.is_column_major = read_truth();
          else if (key == "shape" && !head.shape)
            head.shape = read_shape();
          else
            fail_at_byte(name_, at, "key " + in_quotes(key),
                         "descr, fortran_order and shape, each once");
          if (take(',')) continue;
          expect('}');
          break;
        }
        if (next() != '\0')
          fail_at_byte(name_, place(), in_quotes(text_.substr(at_, 10)),
                       "the end of the head after the dictionary");
        if (!has_type || !head.is_column_major || !head.shape)
          fail_at_byte(name_, place(), "the end of the dictionary",
                       "descr, fortran_order and shape");
      }

    private:
      [[nodiscard]] std::size_t place() const { return offset_ + at_; }

      // past blanks
      char next()
      {
        while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '\n')) ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
      }
      bool take(char wanted)
      {
        if (next() != wanted) return false;
        ++at_;
        return true;
      }
      void expect(char wanted)
      {
        if (!take(wanted))
          fail_at_byte(name_, place(), in_quotes(text_.substr(at_, 10)),
                       in_quotes(std::string_view(&wanted, 1)) + " in the dictionary of the array");
      }

      std::string_view quoted()
      {
        char const quote = next() == '"' ? '"' : '\'';
        expect(quote);
        auto const length = std::min(text_.find(quote, at_), text_.size()) - at_;
        auto const text = text_.substr(at_, length);
        at_ += length;
        expect(quote);
        return text;
      }

      // '<f8', '>i4', '|u1' ...; what is no number only in a record, where it is left out.
      array_type read_type(bool in_record)
      {
        auto const at = place();
        auto const text = quoted();
        array_type type;
        std::int64_t size = 0;
        bool const has_order = !text.empty() && std::string_view("<>|=").find(text[0]) != text.npos;
        auto const rest = text.substr(has_order ? 1 : 0);
        type.is_swapped = text.starts_with('>');
        type.kind = rest.empty() ? '?' : rest[0];
        bool const has_size =
            rest.size() > 1 &&
            parse_number(rest.substr(1, rest.find('[') - 1), size) == number_status::good &&
            size > 0 && size <= (1 << 20);
        type.size = has_size ? static_cast<std::size_t>(size) : 0;
        bool const is_real =
            type.kind == 'f' && (type.size == 2 || type.size == 4 || type.size == 8);
        bool const is_integer =
            (type.kind == 'i' || type.kind == 'u') &&
            (type.size == 1 || type.size == 2 || type.size == 4 || type.size == 8);
        if (is_real || is_integer) return type;
        if (type.kind == 'U') type.size *= 4; // characters
        bool const has_width =
            has_size && std::string_view("VSUabcfmM").find(type.kind) != std::string_view::npos;
        type.kind = 'V';
        if (in_record && has_width) return type;
        fail_at_byte(name_, at, "type " + in_quotes(text),
                     "f2 f4 f8, i1 to i8 or u1 to u8: save a.astype('<f8')");
      }

      void read_types(array_head& head)
      {
        if (next() != '[')
        {
          head.type = read_type(false);
          return;
        }
        expect('[');
        while (!take(']'))
        {
          expect('(');
          bool const has_title = take('('); // ('title', 'name')
          if (has_title)
          {
            quoted();
            expect(',');
          }
          array_field field{.name = std::string(quoted()), .offset = head.record_size};
          if (has_title) expect(')');
          expect(',');
          if (next() == '[')
            fail_at_byte(name_, place(), "records inside records", "fields of numbers");
          field.type = read_type(true);
          if (take(','))
            if (next() != ')') field.count = product(next() == '(' ? numbers() : number_alone());
          expect(')');
          auto const size = field.type.size * field.count;
          if (field.count > (1 << 20) || size > (1 << 20) || head.record_size > (1 << 20) ||
              head.fields.size() >= max_values_per_point)
            fail_at_byte(name_, place(), "a record of too many values",
                         "at most " + std::to_string(max_values_per_point));
          head.record_size += size;
          head.fields.push_back(std::move(field));
          if (take(',')) continue;
          expect(']');
          break;
        }
        if (head.record_size == 0)
          fail_at_byte(name_, place(), "records without values", "fields of numbers");
      }

      bool read_truth()
      {
        next();
        for (std::string_view const word : {"True", "False"})
          if (text_.substr(at_).starts_with(word))
          {
            at_ += word.size();
            return word == "True";
          }
        fail_at_byte(name_, place(), in_quotes(text_.substr(at_, 10)), "True or False");
      }

      std::uint64_t number()
      {
        next();
        auto const digits =
            std::min(text_.find_first_not_of("0123456789", at_), text_.size()) - at_;
        std::int64_t n = 0;
        if (parse_number(text_.substr(at_, digits), n) != number_status::good)
          fail_at_byte(name_, place(), in_quotes(text_.substr(at_, digits + 1)),
                       "a number of rows or columns");
        at_ += digits;
        take('L'); // of Python 2
        return static_cast<std::uint64_t>(n);
      }
      std::vector<std::uint64_t> number_alone() { return {number()}; }

      std::vector<std::uint64_t> numbers()
      {
        std::vector<std::uint64_t> values;
        expect('(');
        while (!take(')'))
        {
          values.push_back(number());
          if (take(',')) continue;
          expect(')');
          break;
        }
        return values;
      }

      static std::size_t product(std::vector<std::uint64_t> const& of)
      {
        std::uint64_t n = 1;
        for (auto const each : of) n = each > (1 << 20) || n > (1 << 20) ? (1 << 21) : n * each;
        return static_cast<std::size_t>(n);
      }

      std::vector<std::uint64_t> read_shape()
      {
        next();
        shape_at_ = place();
        return numbers();
      }

    public:
      /// Throws unless the array is a row for each point.
      void check_shape(array_head const& head) const
      {
        auto const n = head.shape->size();
        if (head.is_of_records() ? n != 1 : n != 2)
          fail_at_byte(name_, shape_at_, count_of(n, "dimension"),
                       head.is_of_records()
                           ? "one, of records: save a.ravel()"
                           : "two: a row for each point, with its coordinates and inputs; "
                             "a.reshape(-1, columns) makes them");
      }

    private:
      std::string_view text_;
      std::size_t offset_, at_ = 0, shape_at_ = 0;
      std::string const& name_;
    };

    std::size_t byte_of(std::string_view content, std::size_t at)
    {
      return at < content.size() ? std::size_t(static_cast<unsigned char>(content[at])) : 0;
    }
  }

  std::uint64_t length_of_head(std::string_view content, std::uint64_t size,
                               std::string const& name)
  {
    if (!content.starts_with(magic))
      fail_at_byte(name, 0, in_quotes(content.substr(0, magic.size())), "an array of NumPy");
    std::size_t const version = byte_of(content, 6);
    if (version < 1 || version > 3)
      fail_at_byte(name, 6, "version " + std::to_string(version), "1 to 3");
    std::size_t const length_size = version == 1 ? 2 : 4, start = 8 + length_size;
    std::uint64_t length = 0;
    for (std::size_t b = 0; b < length_size; ++b)
      length |= std::uint64_t(byte_of(content, 8 + b)) << 8 * b;
    if (length > longest_head || start + length > size)
      fail_at_byte(name, 8, "a head of " + count_of(length, "byte"),
                   length > longest_head ? "at most " + std::to_string(longest_head)
                                         : "one that ends in the file");
    return start + length;
  }

  array_head read_array_head(std::string_view content, std::uint64_t file_size,
                             std::string const& name)
  {
    array_head head;
    head.begin = length_of_head(content, file_size, name);
    std::size_t const start = byte_of(content, 6) == 1 ? 10 : 12;
    dictionary text(content.substr(start, static_cast<std::size_t>(head.begin) - start), start,
                    name);
    text.read(head);
    text.check_shape(head);
    if (!head.is_of_records())
    {
      if (head.columns() == 0 || head.columns() > max_values_per_point)
        fail_at_byte(name, start, count_of(head.columns(), "column"),
                     "1 to " + std::to_string(max_values_per_point) +
                         (head.columns() > 0 && head.rows() <= 16
                              ? ", and a row for each point: save a.T"
                              : ""));
      head.record_size = static_cast<std::size_t>(head.columns()) * head.type->size;
    }
    std::uint64_t const room = file_size - head.begin, of_row = head.record_size;
    if (head.rows() > room / of_row || head.rows() * of_row != room)
      fail_at_byte(name, head.begin, count_of(room, "byte") + " of values",
                   std::to_string(head.rows()) + " rows of " + count_of(of_row, "byte"));
    return head;
  }
}
