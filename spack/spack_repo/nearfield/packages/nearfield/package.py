from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Nearfield(CMakePackage, CudaPackage):
    """The near field of a fast multipole method: direct interactions (P2P) between points and the
    points around them, SIMD and CUDA kernels, trees, radius search, StarPU tasks."""

    # The clone that this file lies in; to build what is not committed: spack develop.
    git = Path(__file__).resolve().parents[5].as_uri()

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("starpu", default=True, description="The near field as StarPU tasks")
    variant("program", default=True, description="The program nearfield")
    variant("shared", default=True, description="Shared libraries")
    variant("zlib", default=True, description="Read files that gzip has compressed")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build", when="+starpu")
    depends_on("pkgconfig", type="build", when="+program")
    depends_on("googletest", type="test")
    # its headers are included by ours
    depends_on("xsimd@8.1:", type=("build", "link", "run"))
    depends_on("cli11", type="build", when="+program")
    depends_on("nlohmann-json@3.11:", type="build", when="+program")
    depends_on("cairo+fc+ft+png", when="+program")
    depends_on("zlib-api", when="+zlib")
    depends_on("starpu@1.3.10:", when="+starpu~cuda")
    depends_on("starpu@1.3.10:+cuda", when="+starpu+cuda")
    depends_on("cuda@12:", when="+cuda")

    conflicts("%gcc@:11", msg="nearfield is C++20: gcc 12 or later")
    conflicts("%clang@:13", msg="nearfield is C++20: clang 14 or later")
    conflicts("cuda_arch=none", when="+cuda", msg="say for which GPUs: cuda_arch=90 for H100 and H200")

    def cmake_args(self):
        args = [
            self.define_from_variant("NEARFIELD_ENABLE_STARPU", "starpu"),
            self.define_from_variant("NEARFIELD_ENABLE_CUDA", "cuda"),
            self.define_from_variant("NEARFIELD_BUILD_APP", "program"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("NEARFIELD_ENABLE_ZLIB", "zlib"),
            self.define("NEARFIELD_BUILD_TESTS", self.run_tests),
            self.define("NEARFIELD_BUILD_EXAMPLES", self.run_tests),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args
