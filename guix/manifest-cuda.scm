;; What it takes to work on nearfield with StarPU and CUDA 12; the driver is the machine's (docs/guix.md):
;;   guix time-machine -C guix/channels.scm -- \
;;     shell --pure -m guix/manifest-cuda.scm -- env NEARFIELD_SETUP=no ./dev test
(let ((file (current-filename)))        ;#f where this folder is in the load path already: -L guix
  (when file (add-to-load-path (dirname file))))
(use-modules (nearfield))

(concatenate-manifests
 (list (package->development-manifest nearfield-starpu-cuda)
       (specifications->manifest '("benchmark" "git-minimal" "ninja"))))
