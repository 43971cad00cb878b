import CALSA
import Clock
import Glibc
import Output

/// Owns one ALSA handle, of a card that plays or records; closing is its end. Used by one thread at a time.
///
/// All calls are non-blocking but `wait`. None that the output loop makes allocates.
struct PCMDevice: ~Copyable {
  let name: String
  let handle: OpaquePointer
  /// Where `readStatus` puts its answer, so that no call allocates.
  private let status: OpaquePointer

  /// - Throws: `ALSAError` where there is no such device, it is in use or may not be opened.
  init(
    opening name: String, stream: snd_pcm_stream_t = SND_PCM_STREAM_PLAYBACK
  ) throws(ALSAError) {
    var handle: OpaquePointer?
    // Without SND_PCM_NONBLOCK the kernel would wait here until a device in use becomes free.
    let code = snd_pcm_open(&handle, name, stream, SND_PCM_NONBLOCK)
    guard code >= 0, let handle else {
      throw ALSAError(device: name, call: "snd_pcm_open", code: code)
    }
    var status: OpaquePointer?
    guard snd_pcm_status_malloc(&status) >= 0, let status else {
      snd_pcm_close(handle)
      throw ALSAError(device: name, call: "snd_pcm_status_malloc", code: -ENOMEM)
    }
    self.name = name
    self.handle = handle
    self.status = status
  }

  deinit {
    snd_pcm_status_free(status)
    snd_pcm_close(handle)
  }

  /// Throws unless `code`, which `call` returned, is a success; else hands it on.
  @discardableResult
  func check(_ code: Int32, _ call: StaticString) throws(ALSAError) -> Int32 {
    guard code >= 0 else { throw ALSAError(device: name, call: "\(call)", code: code) }
    return code
  }

  /// One consistent view of the card, from `snd_pcm_status`.
  struct Status {
    var state: snd_pcm_state_t
    /// Frames that could be written now, or read.
    var free: Int
    /// Frames written that are not audible yet, or taken and not read.
    var delay: Int
    /// The driver's own time of the view, in nanoseconds of the clock that was asked for; 0: none.
    var stamp: Int64
  }

  /// A negative code where the card does not answer.
  func readStatus() -> (status: Status, code: Int32) {
    let code = snd_pcm_status(handle, status)
    var stamp = snd_htimestamp_t()
    snd_pcm_status_get_htstamp(status, &stamp)
    let view = Status(
      state: snd_pcm_status_get_state(status),
      free: Int(bitPattern: snd_pcm_status_get_avail(status)),
      delay: snd_pcm_status_get_delay(status),
      stamp: Int64(stamp.tv_sec) &* 1_000_000_000 &+ Int64(stamp.tv_nsec))
    return (view, code)
  }

  /// The delay of `Status` alone; false where it is not known.
  func readDelay(_ delay: inout Int) -> Bool { snd_pcm_delay(handle, &delay) >= 0 }

  /// Until there is room for `avail_min` frames, something is wrong, or the time is over.
  func wait(milliseconds: Int32) -> Int32 { snd_pcm_wait(handle, milliseconds) }

  /// The number of frames taken, or a negative error code.
  func write(_ bytes: UnsafeRawPointer, frames: Int) -> Int {
    snd_pcm_writei(handle, bytes, snd_pcm_uframes_t(frames))
  }

  /// The number of frames read, or a negative error code.
  func read(_ bytes: UnsafeMutableRawPointer, frames: Int) -> Int {
    snd_pcm_readi(handle, bytes, snd_pcm_uframes_t(frames))
  }

  /// Readies it to be started anew, empty.
  func prepare() -> Int32 {
    // Fails where nothing is left to drop, which is as well.
    snd_pcm_drop(handle)
    return snd_pcm_prepare(handle)
  }

  func start() -> Int32 { snd_pcm_start(handle) }

  /// The code of the attempt to go on after a suspension: -EAGAIN while it lasts.
  func resume() -> Int32 { snd_pcm_resume(handle) }

  /// Takes back up to `frames` of those written last, but never the ones that the card is about to
  /// read within `safety` frames. The number taken back; 0 where nothing can be.
  func rewind(frames: Int, keeping safety: Int) -> Int {
    let wanted = min(frames, snd_pcm_rewindable(handle) - safety)
    guard wanted > 0 else { return 0 }
    return max(0, snd_pcm_rewind(handle, snd_pcm_uframes_t(wanted)))
  }
}
