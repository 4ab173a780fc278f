#!/usr/bin/env bash
# What Doxygen reads in place of a file: public names join the group of their component (docs/groups.dox), and what
# many structs have in common is documented by docs/doxygen_filter.sed. Lines stay where they are, for warnings.
set -euo pipefail
case $1 in
  *.md | *.dox) exec cat "$1" ;;
  */nearfield/cuda/* | */nearfield/*/cuda* | *.cuh) group=cuda ;;
  */nearfield/core/*) group=core ;;
  */nearfield/tree/*) group=tree ;;
  */nearfield/search/*) group=search ;;
  */nearfield/scalfmm* | */nearfield/tbfmm*) group=adapters ;;
  */nearfield/io/*) group=io ;;
  */nearfield/starpu/*) group=starpu ;;
  *) group=kernels ;;
esac
# a group holds what is declared inside its braces only, not what a namespace in them has
exec sed -E -e "s|^\\{\$|{ /** \\\\addtogroup $group */ /** @{ */|" -e 's|^\}$|/** @} */ }|' -f docs/doxygen_filter.sed "$1"
