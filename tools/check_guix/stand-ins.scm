;; For ./dev check-guix: names of packages that channels beside Guix have, so that what uses them can be
;; evaluated where those channels cannot be had. Versions are the oldest that nearfield takes.
(define-module (stand-ins)
  #:use-module (guix build-system trivial)
  #:use-module (guix gexp)
  #:use-module ((guix licenses) #:prefix license:)
  #:use-module (guix packages))

(define (stand-in name version channel)
  (package
    (name name)
    (version version)
    (source #f)
    (build-system trivial-build-system)
    (arguments (list #:builder #~(error "a stand-in cannot be built")))
    (home-page #f)
    (synopsis (string-append "Stand-in for a package of " channel))
    (description #f)
    (license license:lgpl2.1+)
    (properties `((channel . ,channel)))))

(define-public starpu (stand-in "starpu" "1.3.10" "guix-hpc"))
(define-public starpu-cuda (stand-in "starpu-cuda" "1.3.10" "guix-hpc-non-free"))
(define-public cuda-toolkit (stand-in "cuda-toolkit" "12.4" "guix-science-nonfree"))
