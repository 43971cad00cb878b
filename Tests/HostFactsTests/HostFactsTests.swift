import Diagnosis
import TestSupport
import Testing

@testable import HostFacts

/// Tests of reading the kernel's files, with a folder in place of a machine.
@Suite struct HostFactsTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var files: SystemFiles { SystemFiles(root: folder.path) }

  private func put(_ text: String, at path: String) throws { try folder.write(text.utf8, to: path) }

  @Test func `a firewall that runs is named with the command that lets rooms in, for good`() throws
  {
    #expect(files.firewallAdvice() == nil)
    try put("", at: "run/firewalld")
    #expect(
      files.firewallAdvice()
        == "sudo firewall-cmd --zone=trusted --add-source=the rooms' network; sudo firewall-cmd --runtime-to-permanent"
    )
  }

  @Test func `who plays on a card is found, once, by the process of the thread`() throws {
    try put("closed\n", at: "proc/asound/card0/pcm0c/sub0/status")
    try put(
      "state: RUNNING\nowner_pid   : 1236\ntrigger_time: 1.2\n",
      at: "proc/asound/card0/pcm0p/sub0/status")
    try put("closed\n", at: "proc/asound/card0/pcm1p/sub0/status")
    try put("owner_pid   : 1237\n", at: "proc/asound/card1/pcm0p/sub0/status")
    try put("owner_pid   : 99\n", at: "proc/asound/cards/pcm0p/sub0/status")
    for thread in [1236, 1237] { try put("Name:\tout\nTgid:\t1234\n", at: "proc/\(thread)/status") }
    try put("mpv\n", at: "proc/1234/comm")
    #expect(files.soundOwners() == [.init(id: 1234, name: "mpv")])
  }

  @Test func `a machine without sound cards has no owners`() {
    #expect(files.soundOwners().isEmpty)
  }

  @Test func `limits and capabilities are read`() throws {
    try put(
      """
      Limit                     Soft Limit           Hard Limit           Units
      Max locked memory         4294967296           unlimited            bytes
      Max realtime priority     95                   95
      """, at: "proc/7/limits")
    try put("Name:\tx\nCapEff:\t0000000000804000\n", at: "proc/7/status")
    let facts = try #require(files.rights(ofProcess: 7))
    #expect(
      facts
        == RightsFacts(
          realtimeLimit: 95, lockedLimit: 4 << 30, mayRaisePriority: true, mayLockMemory: true))
    try put(
      "Max locked memory         unlimited            unlimited            bytes\n",
      at: "proc/8/limits")
    let bare = try #require(files.rights(ofProcess: 8))
    #expect(bare.lockedLimit == .max && bare.realtimeLimit == 0 && !bare.mayRaisePriority)
    #expect(files.rights(ofProcess: 9) == nil)
  }

  @Test func `a process is known by its program, and its options are read`() throws {
    try put("tutti-receiver\n", at: "proc/43/comm")
    try put("tutti-receiver\0--name\0Living room\0--device\0\0", at: "proc/43/cmdline")
    #expect(files.runs(43, program: "tutti-receiver"))
    #expect(!files.runs(43, program: "tutti") && !files.runs(44, program: "tutti-receiver"))
    #expect(
      files.arguments(ofProcess: 43) == ["tutti-receiver", "--name", "Living room", "--device", ""])
  }

  @Test func `interfaces that are up are read, and no others`() throws {
    for (name, state) in [("wlan0", "up"), ("wlan1", "down"), ("eth0", "up"), ("lo", "unknown")] {
      try put(state + "\n", at: "sys/class/net/\(name)/operstate")
    }
    for name in ["wlan0", "wlan1"] { try put("", at: "sys/class/net/\(name)/phy80211/name") }
    try put("100\n", at: "sys/class/net/eth0/speed")
    try put("half\n", at: "sys/class/net/eth0/duplex")
    try put("", at: "sys/class/net/eth0/device/uevent")
    try put("-1\n", at: "sys/class/net/lo/speed")
    try put(
      "Inter-| sta-|   Quality\n face | tus | link level noise\n wlan0: 0000   54.  -56.  -256   0\n",
      at: "proc/net/wireless")
    let facts = files.interfaces()
    #expect(facts.wireless.map(\.name) == ["wlan0"])
    #expect(facts.wireless.map(\.signal) == [-56])
    #expect(facts.wired == [.init(name: "eth0", speed: 100, isHalfDuplex: true)])
  }

  @Test func `a folder that can be written is told from one that cannot`() throws {
    let well = StateProbe.look(at: folder.path)
    #expect(well.obstacle == nil && (well.free ?? 0) > 0)
    let gone = StateProbe.look(at: folder.file("none"))
    #expect(gone.obstacle?.contains("No such file") == true)
    #expect(files.names(in: "") == [])
  }
}
