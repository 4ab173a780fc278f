/* libcublas.so.13 for ./dev gpu-bundle, and for nothing else. StarPU links cuBLAS for helpers that nearfield
   never calls; the real library is 52 MB and needs another of 517 MB. Each function returns
   CUBLAS_STATUS_NOT_SUPPORTED, so a program that does call a helper is told by StarPU. */
enum { not_supported = 15 };

#define UNSUPPORTED(name) \
  int name(void)          \
  {                       \
    return not_supported; \
  }

UNSUPPORTED(cublasInit)
UNSUPPORTED(cublasShutdown)
UNSUPPORTED(cublasSetKernelStream)
UNSUPPORTED(cublasCreate_v2)
UNSUPPORTED(cublasDestroy_v2)
UNSUPPORTED(cublasSetStream_v2)
