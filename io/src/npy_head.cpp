#include "npy_head.hpp"

#include "text.hpp"

#include <algorithm>
#include <utility>

namespace nearfield::detail::io
{
  namespace
  {
    constexpr std::string_view magic = "\x93NUMPY";
    constexpr std::size_t longest_head = 1 << 24;
    constexpr std::size_t most = 1 << 20; ///< bytes or values of a record

    // The dictionary of a head: a literal of Python, with its keys in any order.
    class dictionary
    {
    public:
      dictionary(std::string_view text, std::size_t offset, std::string const& name)
          : text_(text), offset_(offset), name_(name)
      {}

      void read(array_head& head)
      {
        bool has_type = false;
        std::size_t shape_at = 0;
        auto const read_item = [&]
        {
          auto const at = at_;
          auto const key = quoted();
          expect(':');
          if (key == "descr" && !std::exchange(has_type, true))
            read_types(head);
          else if (key == "fortran_order" && !head.is_column_major)
            head.is_column_major = read_truth();
          else if (key == "shape" && !head.shape)
          {
            next();
            shape_at = at_;
            head.shape = numbers();
          }
          else
            fail(at, "key " + in_quotes(key), "descr, fortran_order and shape, each once");
        };
        read_items('{', '}', read_item);
        if (next() != '\0') fail(at_, excerpt(), "the end of the head after the dictionary");
        if (!has_type || !head.is_column_major || !head.shape)
          fail(at_, "the end of the dictionary", "descr, fortran_order and shape");
        auto const n = head.shape->size();
        if (head.is_of_records() ? n != 1 : n != 2)
          fail(shape_at, count_of(n, "dimension"),
               head.is_of_records() ? "one, of records: save a.ravel()"
                                    : "two: a row for each point, with its coordinates and inputs; "
                                      "a.reshape(-1, columns) makes them");
      }

    private:
      [[noreturn]] void fail(std::size_t at, std::string const& found,
                             std::string const& expected) const
      {
        fail_at_byte(name_, offset_ + at, found, expected);
      }
      [[nodiscard]] std::string excerpt() const { return in_quotes(text_.substr(at_, 10)); }

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
          fail(at_, excerpt(),
               in_quotes(std::string_view(&wanted, 1)) + " in the dictionary of the array");
      }
      // Between commas, of which one may follow the last.
      template <class Read>
      void read_items(char open, char close, Read const& read_item)
      {
        expect(open);
        while (!take(close))
        {
          read_item();
          if (take(',')) continue;
          expect(close);
          return;
        }
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
        auto const at = at_;
        auto const text = quoted();
        array_type type;
        bool const has_order = !text.empty() && std::string_view("<>|=").find(text[0]) != text.npos;
        auto const rest = text.substr(has_order ? 1 : 0);
        type.is_swapped = text.starts_with('>');
        type.kind = rest.empty() ? '?' : rest[0];
        auto const size =
            rest.size() > 1 ? integer_in(rest.substr(1, rest.find('[') - 1)).value_or(0) : 0;
        bool const has_size = size > 0 && size <= std::int64_t(most);
        type.size = has_size ? static_cast<std::size_t>(size) : 0;
        bool const is_known =
            std::string_view("fiu").find(type.kind) != text.npos &&
            (type.size == 1 || type.size == 2 || type.size == 4 || type.size == 8);
        if (is_known && (type.kind != 'f' || type.size > 1)) return type;
        if (type.kind == 'U') type.size *= 4; // characters
        bool const has_width =
            has_size && std::string_view("VSUabcfmM").find(type.kind) != std::string_view::npos;
        type.kind = 'V';
        if (in_record && has_width) return type;
        fail(at, "type " + in_quotes(text), "f2 f4 f8, i1 to i8 or u1 to u8: save a.astype('<f8')");
      }

      void read_types(array_head& head)
      {
        if (next() != '[')
        {
          head.type = read_type(false);
          return;
        }
        read_items('[', ']', [&] { read_field(head); });
        if (head.record_size == 0) fail(at_, "records without values", "fields of numbers");
      }

      void read_field(array_head& head)
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
        if (next() == '[') fail(at_, "records inside records", "fields of numbers");
        field.type = read_type(true);
        if (take(',') && next() != ')')
          for (auto const each : next() == '(' ? numbers() : std::vector{number()})
            field.count = std::min<std::uint64_t>(each, 2 * most) * std::min(field.count, 2 * most);
        expect(')');
        auto const size = field.type.size * field.count;
        if (field.count > most || size > most || head.record_size > most ||
            head.fields.size() >= max_values_per_point)
          fail(at_, "a record of too many values",
               "at most " + std::to_string(max_values_per_point));
        head.record_size += size;
        head.fields.push_back(std::move(field));
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
        fail(at_, excerpt(), "True or False");
      }

      std::uint64_t number()
      {
        next();
        auto const digits =
            std::min(text_.find_first_not_of("0123456789", at_), text_.size()) - at_;
        auto const n = integer_in(text_.substr(at_, digits));
        if (!n) fail(at_, in_quotes(text_.substr(at_, digits + 1)), "a number of rows or columns");
        at_ += digits;
        take('L'); // of Python 2
        return static_cast<std::uint64_t>(*n);
      }

      std::vector<std::uint64_t> numbers()
      {
        std::vector<std::uint64_t> values;
        read_items('(', ')', [&] { values.push_back(number()); });
        return values;
      }

      std::string_view text_;
      std::size_t offset_, at_ = 0;
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
