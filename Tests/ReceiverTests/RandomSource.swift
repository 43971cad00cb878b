import TestSupport

/// Not the generator of the same name in the receiver.
typealias RandomSource = TestSupport.SplitMix64
