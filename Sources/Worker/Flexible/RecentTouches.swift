import Changesets
import SyncModel
import Views

/// The objects that the latest versions of a flexible realm touch, each with the last version that does. Pages of bootstraps leave out what
/// was touched since the bootstrap began: what one page has read of the history, the next ones and other clients' need not read again.
///
/// Only versions that no message can undo any more are here. Bounded: beyond, everything is forgotten and read again by those that need it.
struct RecentTouches {
    static let maxBytes = 8 << 20
    private var generation: UInt64 = 0
    private var start: ServerVersion = 0
    /// The version through which the history was gone through.
    private(set) var end: ServerVersion = 0
    private var last: [ObjectSlot: ServerVersion] = [:]
    /// What is held, about.
    private(set) var bytes = 0

    /// Makes ready for what a history's versions after one touch.
    ///
    /// - Parameter base: the version through which the history was dropped.
    /// - Returns: the version after which versions are missing here.
    mutating func reach(back version: ServerVersion, generation: UInt64, base: ServerVersion) -> ServerVersion {
        if generation != self.generation || version < start || end < version && (last.isEmpty || end < base) {
            self = RecentTouches()
            (self.generation, start, end) = (generation, version, version)
        }
        return end
    }

    /// Adds versions that follow those that are here.
    mutating func add(_ slots: some Sequence<ObjectSlot>, of version: ServerVersion) {
        for slot in slots where last.updateValue(version, forKey: slot) == nil { bytes += Self.bytes(of: slot) }
        end = version
    }

    func isTouched(_ slot: ObjectSlot, after version: ServerVersion) -> Bool {
        last[slot].map { $0 > version } ?? false
    }

    var isTooLarge: Bool { bytes > Self.maxBytes }

    private static func bytes(of slot: ObjectSlot) -> Int {
        guard case .string(let text) = slot.key else { return 80 }
        return 128 + text.count
    }
}
