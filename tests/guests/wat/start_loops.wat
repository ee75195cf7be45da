;; Never gets as far as being asked what it is.
(func $never (loop (br 0)))
(start $never)
