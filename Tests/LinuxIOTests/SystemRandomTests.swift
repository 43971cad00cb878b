import Testing

@testable import LinuxIO

struct SystemRandomTests {
  @Test func `random bytes come in the number asked for and differ`() throws {
    #expect(try SystemRandom.bytes(0).isEmpty)
    #expect(try SystemRandom.bytes(1000).count == 1000)
    #expect(try SystemRandom.bytes(32) != SystemRandom.bytes(32))
    #expect(try SystemRandom.number() != SystemRandom.number())
  }
}
