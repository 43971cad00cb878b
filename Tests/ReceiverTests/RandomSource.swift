import TestSupport

/// Not the generator of the same name that the receiver has for itself.
typealias RandomSource = TestSupport.SplitMix64
