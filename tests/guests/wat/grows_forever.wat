;; Takes memory page by page until it gets no more, and then stops itself.
(func $execute
    (loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    unreachable)
