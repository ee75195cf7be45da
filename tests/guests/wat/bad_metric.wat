;; Names a figure with bytes that are no UTF-8.
(func $execute (call $count (i32.const 0) (i32.const 3) (i64.const 1)))
