;; nearfield as packages: on CPU cores, with StarPU, with StarPU and CUDA, and for Python. From the root of a checkout:
;;   guix build -f guix.scm
;;   guix time-machine -C guix/channels.scm -- \
;;     build -e '(begin (load "guix.scm") nearfield-starpu)'
;;
;; The first needs Guix alone. The names that only other channels have are looked up when a variant is
;; built, so that this file loads without them.
(define-module (nearfield)
  #:use-module (gnu packages)
  #:use-module (gnu packages check)
  #:use-module (gnu packages cmake)
  #:use-module (gnu packages commencement)
  #:use-module (gnu packages compression)
  #:use-module (gnu packages cpp)
  #:use-module (gnu packages gtk)
  #:use-module (gnu packages ninja)
  #:use-module (gnu packages pkg-config)
  #:use-module (gnu packages python-science)
  #:use-module (gnu packages python-xyz)
  #:use-module (guix build-system cmake)
  #:use-module (guix build-system pyproject)
  #:use-module ((guix build-system python) #:select (pypi-uri))
  #:use-module (guix download)
  #:use-module (guix gexp)
  #:use-module (guix git-download)
  #:use-module ((guix licenses) #:prefix license:)
  #:use-module (guix packages)
  #:use-module (guix utils))

(define checkout (dirname (current-source-directory)))

;; The optional parts are named, not found: what is built does not depend on what lies around.
(define (configure-flags starpu cuda)
  #~(list "-DBUILD_SHARED_LIBS=ON"
          "-DNEARFIELD_ENABLE_ZLIB=ON"
          #$(string-append "-DNEARFIELD_ENABLE_STARPU=" starpu)
          #$(string-append "-DNEARFIELD_ENABLE_CUDA=" cuda)))

(define-public nearfield
  (package
    (name "nearfield")
    (version "0.1.0")
    (source (local-file checkout "nearfield-checkout"
                        #:recursive? #t
                        #:select? (or (git-predicate checkout) (const #t))))
    (build-system cmake-build-system)
    (arguments
     ;; Its tests run when it is built.
     (list #:build-type "Release"
           #:configure-flags (configure-flags "OFF" "OFF")))
    (native-inputs (list googletest pkg-config))
    (inputs (list cairo cli11 nlohmann-json zlib))
    (propagated-inputs (list xsimd))    ;its headers are included by ours
    (synopsis "Near-field interactions of a fast multipole method")
    (description
     "nearfield computes direct interactions (P2P) between points and the points
around them, in 2D and 3D, with scalar, SIMD and CUDA kernels.  It builds the
trees and lists that say who meets whom, searches all pairs within a radius,
and runs as tasks of the StarPU run-time system.")
    (home-page #f)
    (license license:bsd-3)
    ;; The built-in kernels choose their instruction set when they run: --tune is for the
    ;; rest, trees and readers.
    (properties '((tunable? . #t)))))

(define-public nearfield-starpu
  (package
    (inherit nearfield)
    (name "nearfield-starpu")
    (arguments
     (substitute-keyword-arguments (package-arguments nearfield)
       ((#:configure-flags _) (configure-flags "ON" "OFF"))))
    (propagated-inputs
     (modify-inputs (package-propagated-inputs nearfield)
       (append (specification->package "starpu"))))
    (synopsis "Near field of a fast multipole method, as StarPU tasks")))

(define-public nearfield-starpu-cuda
  (package
    ;; CUDA 12.4 and later take g++ 13.  For nvcc and g++ to include the same
    ;; headers, everything is built by that one.
    (inherit (package-with-c-toolchain nearfield `(("toolchain" ,gcc-toolchain-13))))
    (name "nearfield-starpu-cuda")
    (arguments
     (substitute-keyword-arguments (package-arguments nearfield)
       ((#:configure-flags _)
        #~(cons "-DCMAKE_CUDA_HOST_COMPILER=g++" #$(configure-flags "ON" "ON")))
       ((#:validate-runpath? _ #f) #f)  ;libcuda.so.1 is in no package
       ((#:phases phases #~%standard-phases)
        #~(modify-phases #$phases
            ;; libcuda.so.1 comes with a machine's driver.  Where there is none the
            ;; toolkit's stub lets programs link and start: it finds no GPU, and the
            ;; tests of GPUs say that they are skipped.
            (add-before 'configure 'stub-of-the-driver
              (lambda* (#:key inputs #:allow-other-keys)
                (let ((folder (string-append (dirname (getcwd)) "/driver")))
                  (mkdir-p folder)
                  (symlink (search-input-file inputs "lib/stubs/libcuda.so")
                           (string-append folder "/libcuda.so.1"))
                  (setenv "LD_LIBRARY_PATH" folder))))))))
    (propagated-inputs
     (modify-inputs (package-propagated-inputs nearfield)
       (append (specification->package "starpu-cuda")
               (specification->package "cuda-toolkit@12"))))
    (supported-systems '("x86_64-linux"))
    (synopsis "Near field of a fast multipole method, as StarPU tasks on GPUs")))

;; What the Python module is built by, newer than Guix has it; without their own tests.
(define (newer of name* version* hash)
  (package/inherit of
    (version version*)
    (source
     (origin
       (method url-fetch)
       (uri (pypi-uri name* version*))
       (sha256 (base32 hash))))
    (arguments (list #:tests? #f))))

(define python-nanobind-3
  (newer python-nanobind "nanobind" "3.1.0"
         "18vyxbfvdfv3vgx4whn3jnrxlq83v51394gprj0qgmrl2kff6qb6"))

(define python-scikit-build-core-1
  (newer python-scikit-build-core "scikit_build_core" "1.1.2"
         "0x3rxbxrx545a7psqk8hkwxl7j9j64w4416ibkkipay5368p14vq"))

(define-public python-nearfield
  (package
    (inherit nearfield)
    (name "python-nearfield")
    (build-system pyproject-build-system)
    (arguments
     (list #:test-flags #~(list "tests")
           #:phases
           #~(modify-phases %standard-phases
               (add-after 'unpack 'enter-python
                 (lambda _ (chdir "python"))))))
    (native-inputs (list cmake-minimal ninja python-nanobind-3 python-pytest
                         python-scikit-build-core-1))
    (inputs (list xsimd))
    (propagated-inputs (list python-numpy))
    (synopsis "Neighbour lists and direct sums of near points, for Python")
    (description
     "nearfield finds all pairs of points within a cutoff, in periodic boxes too,
and sums interactions over them, from and to arrays of NumPy, on every core and
with the widest vector instructions of the machine.")
    (properties '())))
