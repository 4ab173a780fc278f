;; What nearfield needs on a machine without a GPU:
;;   guix shell -m guix/manifest-cpu.scm -- ./dev test
(specifications->manifest
 '("bash" "coreutils" "git" "gcc-toolchain" "cmake" "ninja" "pkg-config"
   "xsimd" "starpu" "cli11" "libpng" "googletest" "benchmark" "nanoflann"))
