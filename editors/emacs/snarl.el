;;; snarl.el --- Races and deadlocks in Java while you type  -*- lexical-binding: t -*-

;; Owns how Eglot starts `snarl lsp' for Java, and the commands that show what it finds.
;; Knows nothing of other servers, keys or faces.

;;; Code:

(require 'eglot)

(defvar snarl-settings nil
  "Settings of the server, as a property list; the keys are in docs/lsp.md.
For instance (:confidence \"high\" :rules (:deadlock :json-false)).")

(add-to-list 'eglot-server-programs
             (cons (if (fboundp 'java-ts-mode) '(java-mode java-ts-mode) 'java-mode)
                   (lambda (&rest _)
                     `("snarl" "lsp" ,@(and snarl-settings
                                            `(:initializationOptions ,snarl-settings))))))

(add-hook 'java-mode-hook #'eglot-ensure)
(add-hook 'java-ts-mode-hook #'eglot-ensure)

(defun snarl--execute (command &rest arguments)
  "Return what the server of this buffer answers to COMMAND with ARGUMENTS."
  (jsonrpc-request (or (eglot-current-server) (user-error "No server for this buffer"))
                   :workspace/executeCommand
                   (list :command command :arguments (vconcat arguments))
                   :deferred t)) ; what was typed before goes first

(defun snarl--file (location)
  "The file of LOCATION."
  (funcall (if (fboundp 'eglot-uri-to-path) 'eglot-uri-to-path 'eglot--uri-to-path)
           (plist-get location :uri)))

(defun snarl--start (location)
  "The position at which LOCATION starts."
  (plist-get (plist-get location :range) :start))

(define-derived-mode snarl-findings-mode compilation-mode "Snarl"
  "All findings, with places to go to.")

(defun snarl-findings ()
  "Show every place of every finding, as `compile' shows errors."
  (interactive)
  (let ((findings (plist-get (snarl--execute "snarl.findings") :findings)))
    (with-current-buffer (get-buffer-create "*snarl findings*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (seq-doseq (finding findings)
          (insert (format "%s: %s\n" (plist-get finding :rule) (plist-get finding :message)))
          (seq-doseq (site (plist-get finding :sites))
            (when-let ((location (plist-get site :location)))
              (insert (format "%s:%d: %s in %s\n" (snarl--file location)
                              (1+ (plist-get (snarl--start location) :line))
                              (plist-get site :access) (plist-get site :method))))))
        (when (seq-empty-p findings) (insert "nothing was found\n")))
      (goto-char (point-min))
      (snarl-findings-mode)
      (display-buffer (current-buffer)))))

(defun snarl-delta ()
  "Tell what the last edit that changed any finding has introduced and fixed."
  (interactive)
  (message "%s" (plist-get (snarl--execute "snarl.delta") :text)))

(defun snarl-other-side ()
  "Go from one side of the finding at point to the other."
  (interactive)
  (let* ((here (eglot--TextDocumentPositionParams))
         (position (plist-get here :position))
         (location (snarl--execute "snarl.otherSide"
                                   (plist-get (plist-get here :textDocument) :uri)
                                   (plist-get position :line)
                                   (plist-get position :character))))
    (unless location (user-error "No finding here"))
    (xref-push-marker-stack)
    (find-file (snarl--file location))
    (goto-char (eglot--lsp-position-to-point (snarl--start location)))))

(provide 'snarl)
;;; snarl.el ends here
