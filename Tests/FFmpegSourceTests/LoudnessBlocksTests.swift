import Clock
import FFmpegSource
import TestSupport
import Testing

/// The cases of EBU Tech 3341 that concern gates, as blocks: how a sound becomes blocks is the meter's matter.
@Suite struct LoudnessBlocksTests {
  private func blocks(_ parts: [(loudness: Double, count: Int)]) -> LoudnessBlocks {
    var blocks = LoudnessBlocks()
    for part in parts { for _ in 0..<part.count { blocks.add(part.loudness) } }
    return blocks
  }

  @Test(
    arguments: [
      ([(-23, 200)], -23.0), ([(-33, 200)], -33),
      ([(-36, 100), (-23, 600), (-36, 100)], -23),
      ([(-72, 100), (-36, 100), (-23, 600), (-36, 100), (-72, 100)], -23),
      ([(-26, 200), (-20, 201), (-26, 200)], -23),
    ] as [([(Double, Int)], Double)])
  func `quiet parts do not count`(parts: [(Double, Int)], loudness: Double) throws {
    let measured = try #require(blocks(parts.map { ($0.0, $0.1) }).loudness)
    #expect(abs(measured - loudness) <= 0.1, "\(measured)")
  }

  @Test func `silence has no loudness`() {
    #expect(LoudnessBlocks().loudness == nil)
    #expect(blocks([(-70.1, 100), (-.infinity, 100), (.nan, 1)]).loudness == nil)
  }

  @Test func `an album is all its tracks, not their mean`() throws {
    // A quiet interlude is below the gate of the album, and within its own.
    let (loud, quiet) = (blocks([(-14, 1_800)]), blocks([(-40, 1_800)]))
    var album = loud
    album.add(quiet)
    #expect(abs(try #require(album.loudness) + 14) <= 0.1)
    #expect(abs(try #require(quiet.loudness) + 40) <= 0.1)
  }

  @Test func `louder than can be is counted at the top`() throws {
    #expect(try #require(blocks([(1_000, 5)]).loudness) > 9)
  }

  @Test func `its text is read back, and no other is`() throws {
    var random = SplitMix64(seed: 1)
    var drawn = LoudnessBlocks()
    for _ in 0..<10_000 { drawn.add(.random(in: -80...12, using: &random)) }
    #expect(LoudnessBlocks(text: drawn.text) == drawn)
    #expect(LoudnessBlocks(text: "") == LoudnessBlocks())
    for text in ["800:1", "-1:1", "1:0", "1:-1", "1", "1:2:3", "a:b", "1:4294967297", "1:2,3:4"] {
      #expect(LoudnessBlocks(text: text) == nil, "\(text)")
    }
  }
}
