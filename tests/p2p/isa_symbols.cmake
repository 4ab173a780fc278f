# Reads the functions that the object files of wide instruction sets define. A linker keeps one of several
# equal functions: without the architecture in its name, or that of its namespace, that may be one which this
# machine cannot run.
#
#   cmake -D NM=nm -D OBJECTS=a.o;b.o -P isa_symbols.cmake
cmake_minimum_required(VERSION 3.25)

set(carries_sse2 "sse2")
set(carries_avx2 "compiled_for_avx2|xsimd::fma3<xsimd::avx2>|detail::avx2_builtins|detail::avx2_kernels<|detail::avx2_search")
set(carries_avx512 "compiled_for_avx512|xsimd::avx512|detail::avx512_builtins|detail::avx512_kernels<|detail::avx512_search")

set(failed FALSE)
set(found "")
foreach(object IN LISTS OBJECTS)
  if(NOT object MATCHES "/(sse2|avx2|avx512)(_[a-z_]+)?\\.cpp\\.o$")
    continue()
  endif()
  set(isa ${CMAKE_MATCH_1})
  execute_process(COMMAND "${NM}" -C --defined-only "${object}"
    OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE ";" "," symbols "${symbols}")
  # T: a function; W: a weak one; i: chosen when the program starts
  string(REGEX MATCHALL "[0-9a-f]+ [TWi] [^\n]+" functions "${symbols}")
  list(LENGTH functions count)
  if(count EQUAL 0)
    message("${object}: no functions found: is ${NM} the right tool?")
    set(failed TRUE)
  endif()
  foreach(function IN LISTS functions)
    if(NOT function MATCHES "${carries_${isa}}")
      message("${object}: '${function}' carries no ${isa}: force it inline")
      set(failed TRUE)
    endif()
  endforeach()
  list(APPEND found "${isa}: ${count} functions")
endforeach()

if(NOT found)
  message("none of sse2, avx2, avx512 among '${OBJECTS}'")
  set(failed TRUE)
endif()
if(failed)
  message(FATAL_ERROR "a function could be linked into a program that cannot run it")
endif()
list(JOIN found ", " found)
message("${found}; each carries its instruction set")
