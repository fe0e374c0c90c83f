;;; test.el --- What is tested in Emacs  -*- lexical-binding: t -*-

;; Owns what is asked of Emacs in a test, and what Flymake, ElDoc and its own buffers must show then.
;; Knows no fixture by name: what to type and what to expect comes with the plan.

;;; Code:

(require 'cl-lib)
(require 'flymake)
(require 'json)

(defvar test-limit 20 "Seconds for anything that is waited for.")

(defvar test-plan
  (with-temp-buffer
    (insert-file-contents (getenv "SNARL_PLAN"))
    (json-parse-buffer :object-type 'plist :array-type 'list :false-object nil)))

(defvar test-buffer nil "The buffer that is typed into.")

(defun test-write (result)
  "Append RESULT to the results."
  (let ((coding-system-for-write 'utf-8))
    (write-region (concat (json-serialize result) "\n") nil (plist-get test-plan :results) t 'silent)))

(defun test-check (what holds &optional detail)
  "Note that WHAT was checked, and whether it HOLDS; DETAIL is for when it does not."
  (test-write (list :what what :ok (if holds t :false)
                    :detail (if holds "" (format "%S" detail))))
  holds)

(defun test-heading (name)
  "Begin a part with NAME."
  (test-write (list :heading name)))

(defun test-wait (condition)
  "Let Emacs wait for keys, as it does for a person, until CONDITION holds or the limit is reached."
  (let* ((until (+ (float-time) test-limit))
         (holds nil)
         (look (lambda ()
                 (when (or (> (float-time) until)
                           (setq holds (ignore-errors (funcall condition))))
                   (exit-recursive-edit))))
         (timer (run-with-timer 0.02 0.02 look)))
    ;; Only here does Emacs do what it does when nobody types, such as sending changes.
    (unwind-protect (recursive-edit)
      (cancel-timer timer))
    holds))

(defun test-await (what condition &optional seen)
  "Check that WHAT comes true: CONDITION; SEEN tells what was there instead."
  (let ((holds (test-wait condition)))
    ;; What is broken once need not be waited for at length again.
    (unless holds (setq test-limit 2))
    (test-check what holds (and seen (not holds) (funcall seen)))))

;;; The server

(defun test-command (name)
  "What the server answers to command NAME."
  (with-current-buffer test-buffer
    (jsonrpc-request (eglot-current-server) :workspace/executeCommand
                     (list :command name :arguments [])
                     :deferred t)))

(defun test-rules (findings)
  "The rules of FINDINGS."
  (mapcar (lambda (finding) (plist-get finding :rule)) findings))

;;; The buffer

(defun test-point (line column)
  "The place of LINE and COLUMN, counted from 0."
  (save-excursion
    (goto-char (point-min))
    (forward-line line)
    (+ (point) column)))

(defun test-replace (edit)
  "Do EDIT as one change of the buffer."
  (let ((start (apply #'test-point (plist-get edit :start)))
        (end (apply #'test-point (plist-get edit :end)))
        (text (plist-get edit :text)))
    (combine-after-change-calls
      (goto-char start)
      (delete-region start end)
      (insert text))))

(defun test-line (number)
  "Line NUMBER, counted from 1."
  (save-excursion
    (goto-char (test-point (1- number) 0))
    (buffer-substring-no-properties (point) (line-end-position))))

(defun test-go (number word)
  "Put point on the first WORD of line NUMBER."
  (goto-char (test-point (1- number) 0))
  (search-forward word (line-end-position))
  (goto-char (match-beginning 0)))

(defun test-protocol (diagnostic)
  "What the server has sent for a DIAGNOSTIC of Flymake."
  (cdr (assoc 'eglot-lsp-diag (flymake-diagnostic-data diagnostic))))

(defun test-found ()
  "The rule and line of every diagnostic, each once, as the plan writes them."
  (sort (delete-dups
         (mapcar (lambda (diagnostic)
                   (list (plist-get (test-protocol diagnostic) :code)
                         (line-number-at-pos (flymake-diagnostic-beg diagnostic))))
                 (flymake-diagnostics)))
        (lambda (one other)
          (or (string< (car one) (car other))
              (and (equal (car one) (car other)) (< (cadr one) (cadr other)))))))

(defun test-outside ()
  "The first diagnostic that has no place in the buffer, or nil."
  (cl-find-if-not
   (lambda (diagnostic)
     (cl-every (lambda (end)
                 (let* ((position (plist-get (plist-get (test-protocol diagnostic) :range) end))
                        (line (plist-get position :line)))
                   (and (< line (line-number-at-pos (point-max)))
                        (<= (plist-get position :character) (length (test-line (1+ line)))))))
               '(:start :end)))
   (flymake-diagnostics)))

(defun test-named (places)
  "PLACES in words."
  (if places
      (mapconcat (lambda (place) (format "%s in line %d" (car place) (cadr place))) places ", ")
    "nothing"))

;;; What is tested

(defun test-opens ()
  "The server starts with the file."
  (and (test-await "Eglot starts the server with the file" #'eglot-current-server)
       (test-await "it knows its commands" (lambda () (test-command "snarl.findings")))))

(defun test-types (step)
  "Type a STEP, and look at what is shown then."
  (let ((expected (plist-get step :expected))
        (delta (plist-get step :delta)))
    (test-heading (plist-get step :name))
    (undo-boundary)
    (mapc #'test-replace (plist-get step :edits))
    (test-check "the text is as it should be"
                (equal (plist-get step :text) (buffer-string))
                (buffer-string))
    (test-await (concat "found: " (test-named expected))
                (lambda () (equal expected (test-found)))
                #'test-found)
    (test-command "snarl.findings")
    (test-check "and nothing else" (equal expected (test-found)) (test-found))
    (test-check "nothing is shown beside the text" (not (test-outside)) (test-outside))
    (when delta
      (let ((answer (test-command "snarl.delta")))
        (test-check (format "snarl.delta: %d introduced, %d fixed"
                            (length (plist-get delta :introduced)) (length (plist-get delta :fixed)))
                    (and (equal 1 (plist-get answer :schema))
                         (equal (plist-get delta :introduced) (test-rules (plist-get answer :introduced)))
                         (equal (plist-get delta :fixed) (test-rules (plist-get answer :fixed))))
                    answer)))))

(defun test-says-whose ()
  "Every diagnostic says whose it is."
  (test-check "all diagnostics say that they are of snarl"
              (cl-every (lambda (diagnostic) (string-prefix-p "snarl" (flymake-diagnostic-text diagnostic)))
                        (flymake-diagnostics))))

(defun test-eldoc ()
  "What ElDoc shows."
  (and (bound-and-true-p eldoc--doc-buffer)
       (buffer-live-p eldoc--doc-buffer)
       (with-current-buffer eldoc--doc-buffer (buffer-string))))

(defun test-hovers (number word part)
  "Hover on WORD in line NUMBER tells of PART."
  (test-go number word)
  (let ((eldoc-documentation-functions '(eglot-hover-eldoc-function))) ; and not Flymake's
    (eldoc-print-current-symbol-info)
    (test-await (format "hover on %s in line %d tells of %s" word number part)
                (lambda () (let ((shown (test-eldoc))) (and shown (string-match-p part shown))))
                #'test-eldoc)))

(defun test-suppresses (number word rule places)
  "A code action at WORD in line NUMBER suppresses RULE; undone, PLACES are shown again."
  (test-go number word)
  (undo-boundary)
  (let* ((last-nonmenu-event ?a)
         (titles nil)
         (completing-read-function
          (lambda (_prompt items &rest _)
            (setq titles (mapcar #'car items))
            (cl-find-if (lambda (title) (string-match-p "suppress\\|ignore" (downcase title))) titles))))
    (eglot-code-actions (point) (1+ (point)) nil t)
    (test-await "a code action writes the comment that suppresses it"
                (lambda () (string-match-p (format "// snarl: ignore %s -- " rule) (test-line number)))
                (lambda () (list titles (test-line number)))))
  (test-await "and nothing is shown any more" (lambda () (not (test-found))) #'test-found)
  (undo-boundary)
  (let (last-command) (undo))
  (test-await "undone, it is shown again" (lambda () (equal places (test-found))) #'test-found))

(defun test-counts-columns (number word)
  "What stands before WORD in line NUMBER moves its diagnostic."
  (test-go number word)
  (undo-boundary)
  (insert "/* ä𝄞 */ ")
  (let ((place (point)))
    (test-await "characters outside of the first plane move the diagnostic by as much"
                (lambda () (cl-some (lambda (diagnostic) (= place (flymake-diagnostic-beg diagnostic)))
                                    (flymake-diagnostics)))
                (lambda () (cons place (mapcar #'test-protocol (flymake-diagnostics))))))
  (undo-boundary)
  (let (last-command) (undo)))

(defun test-lists (places)
  "The commands show PLACES."
  (call-interactively #'snarl-findings)
  (test-check "snarl-findings lists both places"
              (with-current-buffer "*snarl findings*"
                (cl-every (lambda (place)
                            (string-match-p (format "Amy.java:%d: " (cadr place)) (buffer-string)))
                          places))
              (with-current-buffer "*snarl findings*" (buffer-string)))
  (let ((answer (test-command "snarl.findings")))
    (test-check "snarl.findings has the one finding"
                (and (equal 1 (plist-get answer :schema))
                     (equal (list (caar places)) (test-rules (plist-get answer :findings))))
                answer))
  (set-buffer test-buffer)
  (test-go (cadar places) "x")
  (call-interactively #'snarl-other-side)
  (test-check "snarl-other-side goes to the other side"
              (= (line-number-at-pos) (cadadr places))
              (line-number-at-pos)))

(defun test-closes ()
  "Without the buffer, the file counts as it is on disk."
  (let ((server (eglot-current-server)))
    (set-buffer-modified-p nil)
    (kill-buffer test-buffer)
    (test-await "closed without saving, the file counts as it is on disk"
                (lambda ()
                  (seq-empty-p (plist-get (jsonrpc-request server :workspace/executeCommand
                                                           '(:command "snarl.findings" :arguments []))
                                          :findings))))
    (test-check "the server lives when the last buffer is closed" (jsonrpc-running-p server))))

(defun test-tour (places)
  "Everything else that is offered, where PLACES are found."
  (test-heading "everything else that is offered")
  (let ((one (cadar places)))
    (test-says-whose)
    (test-hovers one "x" "l1")
    (test-hovers (1- one) "synchronized" "l1")
    (test-suppresses one "x" (caar places) places)
    (test-counts-columns one "x")
    (test-lists places)
    (test-closes)))

(defun test-log ()
  "Leave the messages of the protocol for whoever wants to read them."
  (cl-loop for servers being the hash-values of eglot--servers-by-project do
           (dolist (server servers)
             (with-current-buffer (jsonrpc-events-buffer server)
               (let ((coding-system-for-write 'utf-8))
                 (write-region nil nil (plist-get test-plan :log) t 'silent))))))

(defun test-main ()
  "Do what the plan says, and end."
  (setq debug-on-error nil)
  (condition-case problem
      (progn
        (setq test-buffer (get-file-buffer (plist-get test-plan :file)))
        (switch-to-buffer test-buffer)
        (when (test-opens)
          (mapc #'test-types (plist-get test-plan :steps))
          (when (plist-get test-plan :tour)
            (test-tour (plist-get (car (last (plist-get test-plan :steps))) :expected)))))
    (error (test-check "the test runs through" nil problem)))
  (test-log)
  (setq confirm-kill-processes nil)
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer (set-buffer-modified-p nil)))
  (kill-emacs 0))

;; The file is open by then.
(add-hook 'window-setup-hook #'test-main)

;;; test.el ends here
