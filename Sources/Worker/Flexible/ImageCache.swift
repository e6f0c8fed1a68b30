import Storage
import SyncModel
import Views

/// The before images of long versions, by object: of an upload each changeset looks at the images of a few objects in the same versions.
struct ImageCache {
    /// A version with fewer bytes of images is read each time.
    private static let minBytes = 4 << 10
    private static let expansion = 8

    private var versions: [ServerVersion: [ObjectSlot: BeforeImages.Image]] = [:]
    private var bytes = 0
    private let maxBytes: Int

    init(maxBytes: Int) { self.maxBytes = maxBytes }

    /// Those of some objects before a version.
    ///
    /// - Parameter read: all that the version has.
    mutating func of(
        _ slots: some Collection<ObjectSlot>, before record: HistoryRecord, read: () throws -> [BeforeImages.Image]
    ) throws -> [BeforeImages.Image] {
        guard record.images.count >= Self.minBytes else { return try read() }
        if versions[record.version] == nil {
            let images = try read()
            let size = Self.expansion * record.images.count
            if bytes + size > maxBytes { (versions, bytes) = ([:], 0) }
            guard size <= maxBytes else { return images }
            versions[record.version] = Dictionary(images.map { ($0.slot, $0) }, uniquingKeysWith: { first, _ in first })
            bytes += size
        }
        let known = versions[record.version] ?? [:]
        return slots.compactMap { known[$0] }
    }
}
