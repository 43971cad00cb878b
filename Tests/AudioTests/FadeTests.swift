import Audio
import Testing

@Suite struct FadeTests {
  @Test func `two fades that cross add up to one`() {
    #expect(fadeIn(at: 0) == 0)
    #expect(fadeIn(at: 0.5) == 0.5)
    #expect(fadeIn(at: 1) == 1)
    #expect(fadeIn(at: -1) == 0)
    #expect(fadeIn(at: 2) == 1)
    for step in 0...100 {
      let progress = Double(step) / 100
      #expect(abs(fadeIn(at: progress) + fadeIn(at: 1 - progress) - 1) < 1e-6)
    }
  }
}
