#include "cells.hpp"
#include "sums.hpp"

#include <nearfield/core/where.hpp>

namespace nb = nanobind;

NB_MODULE(_core, m)
{
  m.doc() = "What nearfield's Python functions call.";
  m.def("version", [] { return nf_version(); });
  m.def("instruction_set",
        []
        {
          auto const name = nearfield::name_of(nearfield::selected_isa());
          return nb::str(name.data(), name.size());
        });
  nearfield::python::bind_cells(m);
  nearfield::python::bind_sums(m);
}
