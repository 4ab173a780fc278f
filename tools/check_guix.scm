;; Inside ./dev check-guix, by `guix repl' in the root of the checkout: loads guix/channels.scm, the
;; manifests, the packages and guix.scm as Guix's commands do, and ends at the first that is not what it
;; should be.
(use-modules (gnu packages)
             (guix channels)
             (guix packages)
             (guix profiles)
             (guix transformations)
             (guix ui)
             (ice-9 regex)
             (ice-9 textual-ports)
             (srfi srfi-1))

(define (ok . words)
  (display (string-concatenate (cons "ok: " words)))
  (newline))

(define (refuse . words)
  (format (current-error-port) "FAILED: ~a~%" (string-concatenate words))
  (exit 1))

(define (load-file name . modules)
  (load* name (make-user-module modules)))

;; Channels: each at one commit, and those that this repository names.
(define channels (load-file "guix/channels.scm" '(guix channels)))
(for-each (lambda (channel)
            (let ((commit (channel-commit channel)))
              (unless (and commit (string-match "^[0-9a-f]{40}$" commit))
                (refuse "guix/channels.scm: " (symbol->string (channel-name channel))
                        " is not pinned by 40 digits: " (or commit "no commit")))))
          channels)
(define names (map channel-name channels))
(unless (= (length names) (length (delete-duplicates names)))
  (refuse "guix/channels.scm names a channel twice"))
(ok "guix/channels.scm: " (number->string (length channels)) " channels, each at one commit")

;; Packages: every name of theirs is found.
(define (inputs package)
  (filter package? (map second (bag-direct-inputs (package->bag package)))))

(define package-of-checkout (load-file "guix.scm"))
(define variants
  (map (lambda (name)
         (module-ref (resolve-interface '(nearfield)) name))
       '(nearfield nearfield-starpu nearfield-starpu-cuda python-nearfield)))
(for-each (lambda (variant)
            (ok (package-full-name variant) ": " (number->string (length (inputs variant))) " inputs, "
                (string-join (map package-full-name
                                  (map second (package-direct-inputs variant))))))
          variants)
;; --tune puts its compiler before the others, in a replacement that only builds with grafts take.
(define tune (options->transformation '((tune . "skylake-avx512"))))
(for-each (lambda (variant)
            (let ((tuned (package-replacement (tune variant))))
              (unless (and tuned
                           (assoc "tuning-compiler" (bag-direct-inputs (package->bag tuned))))
                (refuse "guix/nearfield.scm: " (package-name variant) " cannot be tuned"))
              (ok (package-full-name variant) " --tune=skylake-avx512")))
          (filter (lambda (variant)
                    (assq-ref (package-properties variant) 'tunable?))
                  variants))

(define version
  (match:substring
   (string-match "project\\(nearfield VERSION ([0-9.]+)"
                 (call-with-input-file "CMakeLists.txt" get-string-all))
   1))
(unless (every (lambda (variant)
                 (string=? version (package-version variant)))
               variants)
  (refuse "guix/nearfield.scm: the version is not CMakeLists.txt's, " version))

(unless (eq? package-of-checkout (first variants))
  (refuse "guix.scm is not the package nearfield"))
(ok "guix.scm: the package nearfield")

;; Manifests: Guix itself refuses an unknown name.
(for-each (lambda (name)
            (let ((manifest (load-file name '(guix profiles) '(gnu))))
              (ok name ": " (number->string (length (manifest-entries manifest))) " packages")))
          '("guix/manifest-cpu.scm" "guix/manifest-starpu.scm" "guix/manifest-cuda.scm"))

;; What no channel here has.
(for-each (lambda (package)
            (let ((channel (assq-ref (package-properties package) 'channel)))
              (unless (memq (string->symbol channel) names)
                (refuse "guix/channels.scm lacks " channel ", which has " (package-name package)))
              (format #t "NOT CHECKED: ~a, of ~a~%" (package-name package) channel)))
          (filter (lambda (package)
                    (assq-ref (package-properties package) 'channel))
                  (delete-duplicates (append-map inputs variants) eq?)))
