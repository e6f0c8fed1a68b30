/// When a history is compacted, and how much of that is done at once.
package struct CompactionLimits: Sendable {
    /// A base is written when the history has grown by as many versions since the last one, ...
    package var minVersions: UInt64 = 1_000
    /// ... and by as many bytes, or by the bytes of that base if those are more: so writing them costs less than the uploads.
    package var minBytes: UInt64 = 256 << 10
    /// The number of a realm's bases at which no further one is written; older bases stay as long as a client file is within
    /// them.
    package var maxBases = 4
    /// Realms looked at with one tick, and the time that may be spent on dropping.
    package var realmsPerRun = 200
    package var timePerRun: Duration = .milliseconds(100)
    /// What one commit drops.
    package var versionsPerStep = 1_000
    package var bytesPerStep: UInt64 = 8 << 20
    /// What one commit gives back to the file system.
    package var reclaimedPerStep = 1 << 20
    /// State that a base's writer reads at once, and the size it aims at for a changeset.
    package var pageBytes = 1 << 20
    package var changesetBytes = 128 << 10
}
