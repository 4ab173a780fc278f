#include "near_field_table.hpp"

namespace baseline
{
  near_field_table const& near_field_avx512()
  {
    static constexpr near_field_table table = make_near_field_table<xsimd::avx512bw>();
    return table;
  }
}
