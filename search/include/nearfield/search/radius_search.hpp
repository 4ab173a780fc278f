#pragma once

/// \file
/// All outputs of a radius search.
///
///     nearfield::cell_list const cells{nearfield::soa{x, y, z}, cutoff};   // <nearfield/tree/cell_list.hpp>
///     auto const counts = nearfield::radius_search(nearfield::simd, cells, nearfield::count_pairs{});
///     nearfield::csr const list = nearfield::radius_search(nearfield::simd, cells, nearfield::to_csr{});
///
/// A pair is listed if r2 < R^2. Here d = x_i - x_j in the precision of the points, minus L round(d / L) on a
/// periodic axis; r2 = (d_x d_x + d_y d_y) + d_z d_z with every operation rounded; R^2 is rounded once. Two
/// points at the same place are a pair; i = j is not. Lists are the same, in the same order, on every
/// back-end and instruction set. If a search throws, a result passed to it is unchanged or empty.

#include <nearfield/search/coo.hpp>
#include <nearfield/search/count.hpp>
#include <nearfield/search/csr.hpp>
#include <nearfield/search/reduce.hpp>
#include <nearfield/search/table.hpp>
#include <nearfield/search/visit.hpp>
