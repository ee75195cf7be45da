;; Fails its call with a text that is no UTF-8.
(func $execute
    (i32.store8 (i32.const 64) (i32.const 1))
    (i32.store (i32.const 68) (i32.const 0))
    (i32.store (i32.const 72) (i32.const 3)))
