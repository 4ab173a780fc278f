# What Doxygen reads in place of a public header. What many structs have in common is documented once,
# here, by its name; lines stay where they are, for the warnings.

# The inline namespace that names the instruction set is no part of any name.
s/::inline NEARFIELD_ISA_NAMESPACE//
s/inline namespace NEARFIELD_ISA_NAMESPACE/extern "C++"/

# What every interaction has (the concept nearfield::interaction).
s/^( *static constexpr int )(dim = .*), n_parameters = ([^,;]+);/\1\2; \1n_parameters = \3; \/**< columns of points after the coordinates *\//
s/^( *static constexpr int )dim = ([^,;]+), n_in = ([^,;]+), n_out = ([^,;]+);/\1dim = \2; \/**< of space *\/ \1n_in = \3; \/**< inputs of a source *\/ \1n_out = \4; \/**< outputs of a target *\//
s/^ *static constexpr int flops =/ \/** Operations a directed pair, 1 for a root or a divide. *\/ &/
s/^ *static constexpr auto name =/ \/** As in the program and in benchmarks. *\/ &/
s/^ *static constexpr auto symmetry = .*;$/& \/**< of K under r -> -r *\//
s/static constexpr int inv_r_power\(int/\/** The power of 1\/|r| in an output's terms. *\/ &/
s/NEARFIELD_FN (constexpr )?auto operator\(\)\(vec<V, [a-z0-9]+> const&/\/** The map K at r = x_i - x_j; inv_r is 1\/|r|. *\/ &/

# How an interaction describes itself, which its docstring says too; lines stay.
s/^ *static constexpr (std::string_view|(std::array|auto) point_parameters|bool (calls_functions|is_regular)).*;$//
/^ *static constexpr (std::string_view|std::array point_parameters)/,/;$/s/.*//
/^ *static constexpr auto parameters\(\)/,/^    \}$/s/.*//

# What every map has.
s/NEARFIELD_FN (constexpr )?vec<.*> to\(/\/** What the target gets from the source's inputs q. *\/ &/
s/NEARFIELD_FN (constexpr )?vec<.*> back\(/\/** What the source gets from the target's inputs q. *\/ &/

# What the compiler writes.
s/= default;$/& \/**< as the compiler makes it *\//
s/= delete;$/& \/**< there is none *\//

# Operators of vec and pack.
s/friend NEARFIELD_FN (constexpr )?(vec|pack) operator[-+*\/]\(/\/** Component by component. *\/ &/

# What is not for a reader: lists of explicit instantiations.
/^#define NEARFIELD_(CUDA|DECLARE)_SEARCH/,/[^\\]$/d
/^ *NEARFIELD_(CUDA|DECLARE)_SEARCH\(/d
