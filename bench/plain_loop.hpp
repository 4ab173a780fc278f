#pragma once

/// Before a loop whose sources do not overlap targets. clang compares addresses at run time; a pragma would make it
/// complain of exp and log.
#if defined(__clang__)
#define NEARFIELD_PLAIN_LOOP
#else
#define NEARFIELD_PLAIN_LOOP _Pragma("GCC ivdep")
#endif
