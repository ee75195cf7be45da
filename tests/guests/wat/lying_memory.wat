;; Answers each request for memory with a place beyond its end.
(func $realloc (param i32 i32 i32 i32) (result i32) (i32.const 0xfffffff0))
