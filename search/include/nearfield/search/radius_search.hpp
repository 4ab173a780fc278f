#pragma once

/// \file
/// All outputs of a radius search.
///
///     nearfield::cell_list const cells{nearfield::soa{x, y, z}, cutoff};   // <nearfield/tree/cell_list.hpp>
///     auto const counts = nearfield::radius_search(nearfield::simd, cells, nearfield::count_pairs{});
///     nearfield::csr const list = nearfield::radius_search(nearfield::simd, cells, nearfield::to_csr{});
///
/// A pair is in where r2 < R^2: d = x_i - x_j in the precision of the points, less L round(d / L) on a
/// periodic axis, r2 = (d_x d_x + d_y d_y) + d_z d_z with every operation rounded, R^2 rounded once. Points
/// at one place are a pair; i = j is none. The lists are the same, in the same order, on every back-end and
/// instruction set. Where a search throws, a result that it was given is as it was, or empty.

#include <nearfield/search/coo.hpp>
#include <nearfield/search/count.hpp>
#include <nearfield/search/csr.hpp>
#include <nearfield/search/reduce.hpp>
#include <nearfield/search/table.hpp>
#include <nearfield/search/visit.hpp>
