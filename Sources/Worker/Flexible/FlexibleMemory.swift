import Query
import RealmState
import SyncModel
import Views

/// What an owner holds of a flexible realm beside what it holds of any realm. All of it can be worked out anew.
struct FlexibleMemory {
    /// What the latest versions touch.
    var touches = RecentTouches()
    var views = ViewCache()
    /// Tells the realm's schema from others.
    var stamp = SchemaStamp()
    var counts = ObjectCounts()
    /// The pasts that were read for the upload that waits for its merge, if one does.
    var pasts: UploadPasts.Kept?
    /// The properties that clients look at, as far as they are being looked for; and when that was last begun, by the uptime.
    var trim: ImageTrim?
    var trimmedAt: UInt64?
    /// The schema that gateways were told of.
    var announced: UInt64?
    /// Counts what the message in hand asks of views; nil: that is not bounded.
    var meter: EvaluationMeter?
    /// How long the message in hand holds up its slice by what it asks of views; nil: as long as that takes.
    private(set) var patience: EvaluationPatience?
    /// The client files whose views cannot be followed version by version.
    var tooDear = TooDearViews()
    private var decoded: (bytes: [UInt8], columns: ImagedColumns) = ([], ImagedColumns())
    private var decodedIndexes: (bytes: [UInt8], columns: IndexedColumns) = ([], IndexedColumns())

    /// The properties that before images are kept of. None where what is stored cannot be read: then nobody's view can be told.
    mutating func imaged(_ bytes: [UInt8]) -> ImagedColumns {
        if decoded.bytes != bytes { decoded = (bytes, (try? ImagedColumns(decoding: bytes)) ?? ImagedColumns()) }
        return decoded.columns
    }

    /// The properties that have indexes.
    ///
    /// - Parameter salt: under which the bytes were written.
    mutating func indexed(_ bytes: [UInt8], at salt: VersionSalt) -> IndexedColumns {
        if decodedIndexes.bytes != bytes { decodedIndexes = (bytes, IndexedColumns(decoding: bytes, at: salt)) }
        return decodedIndexes.columns
    }

    /// A message is dealt with.
    ///
    /// - Parameter found: the views that were read for it.
    mutating func begin(_ found: FoundViews, _ patience: EvaluationPatience?) {
        views.begin(found)
        self.patience = patience
    }

    /// The message is through.
    mutating func end() {
        views.end()
        patience = nil
    }

    /// Bytes of what is held of views and of what versions touch.
    var bytes: Int { views.bytes + touches.bytes + (pasts?.bytes ?? 0) }

    /// Whether gateways were told of another schema.
    func isNews(_ stamp: UInt64) -> Bool { announced.map { $0 != stamp } ?? false }
}
