import CTutti
import Foundation
import Testing
import Tutti

@testable import TuttiC

/// Renderers of the C interface, called from here.
@Suite struct CRendererTests {
  /// A thread makes one call after the other, as a program in C does, because they block: what each has returned.
  private static func results(
    latency: Double, _ calls: @escaping @Sendable (OpaquePointer) -> [Int32]
  ) async throws -> [Int32] {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(
          with: Result {
            var settings = OutputSettings()
            settings.identity = .temporary
            let renderer = Handle.make(
              try RendererObject(.stereo48k, latency: latency, settings))
            defer { tuttiRendererFree(renderer) }
            return calls(renderer)
          })
      }
    }
  }

  private static func enqueue(_ renderer: OpaquePointer, frames: Int = 480) -> Int32 {
    let samples = [Float](repeating: 0, count: 2 * frames)
    return tuttiRendererEnqueue(renderer, samples, frames, 0)
  }

  @Test(.timeLimit(.minutes(2)))
  func `a wait ends when a full renderer of what happens now has room`() async throws {
    let results = try await Self.results(latency: 0.1) { renderer in
      var full = TUTTI_OK.rawValue
      // Full to the last frame. On a busy machine there may be room again for a call behind that.
      for frames in [480, 1] {
        repeat { full = Self.enqueue(renderer, frames: frames) } while full == TUTTI_OK.rawValue
      }
      // There is room for more than the next block.
      return [full, tuttiRendererWait(renderer)] + (0..<5).map { _ in Self.enqueue(renderer) }
    }
    let all = Array(repeating: TUTTI_OK.rawValue, count: 6)
    #expect(results == [TUTTI_AGAIN.rawValue] + all)
  }

  @Test(.timeLimit(.minutes(2)), arguments: [0, 0.1])
  func `nobody waits after the end`(latency: Double) async throws {
    let results = try await Self.results(latency: latency) { renderer in
      let before = [tuttiRendererWait(renderer), Self.enqueue(renderer)]
      return before + [tuttiRendererFinish(renderer), tuttiRendererWait(renderer)]
    }
    let ok = TUTTI_OK.rawValue
    #expect(results == [ok, ok, ok, TUTTI_CLOSED.rawValue])
  }
}
