;; Waits on its memory for ever, which no deadline could cut.
(func $execute (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1))))
