;; Ends its call with a result that is neither good nor bad.
(func $execute (i32.store8 (i32.const 64) (i32.const 7)))
