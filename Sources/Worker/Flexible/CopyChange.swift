import Changesets
import RealmState
import SyncModel
import Views

/// What takes objects out of a client's copy, and brings others into it whole.
struct CopyChange {
    private var erased = ChangesetSelection()
    private var whole: StateChangesets
    private var made: [Changeset] = []
    private let schema: Schema
    private let mapping: SchemaMapping?

    /// - Parameter view: the client's.
    init(schema: Schema, in view: View) {
        self.schema = schema
        mapping = view.mapping
        whole = StateChangesets(schema: mapping?.visible ?? schema)
    }

    mutating func erase(_ address: ObjectAddress) { erased.erase(address) }

    /// - Parameter hidden: the properties that the user's role hides, which are left out.
    mutating func add(_ address: ObjectAddress, _ object: StoredObject, without hidden: Set<ColumnID>) {
        let shown = schema.table(address.className).map { mapping?.projected(object, of: $0.id) ?? object }
        made += whole.append(address, shown ?? object, without: hidden)
    }

    /// The entries that the server makes of it, in the order in which they are to be applied: one, unless there is much to bring.
    mutating func entries(
        of version: ServerVersion, _ clientVersion: ClientVersion, at timestamp: SyncTimestamp
    ) throws -> [HistoryEntry] {
        try changesets().map {
            HistoryEntry(
                serverVersion: version, clientVersion: clientVersion, originFile: .server, timestamp: timestamp,
                changeset: $0)
        }
    }

    private mutating func changesets() throws -> [[UInt8]] {
        if let last = whole.finish() { made.append(last) }
        guard made.count == 1 else { return ([erased.bytes] + made.map { $0.encoded() }).filter { !$0.isEmpty } }
        try erased.append(made[0])
        return [erased.bytes]
    }
}
