;; The package of this checkout, on CPU cores: guix build -f guix.scm, guix shell, guix install -f guix.scm.
;; With StarPU and CUDA: guix/nearfield.scm.
(add-to-load-path (string-append (dirname (current-filename)) "/guix"))
(use-modules (nearfield))

nearfield
