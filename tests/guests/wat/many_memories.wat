;; Has more memories than it could ever need, each of them small.
;; beside
(core module $n0 (memory 1)) (core instance (instantiate $n0))
(core module $n1 (memory 1)) (core instance (instantiate $n1))
(core module $n2 (memory 1)) (core instance (instantiate $n2))
(core module $n3 (memory 1)) (core instance (instantiate $n3))
(core module $n4 (memory 1)) (core instance (instantiate $n4))
(core module $n5 (memory 1)) (core instance (instantiate $n5))
(core module $n6 (memory 1)) (core instance (instantiate $n6))
(core module $n7 (memory 1)) (core instance (instantiate $n7))
(core module $n8 (memory 1)) (core instance (instantiate $n8))
