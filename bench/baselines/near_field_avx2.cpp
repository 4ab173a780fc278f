#include "near_field_table.hpp"

namespace baseline
{
  near_field_table const& near_field_avx2()
  {
    static constexpr near_field_table table = make_near_field_table<xsimd::fma3<xsimd::avx2>>();
    return table;
  }
}
