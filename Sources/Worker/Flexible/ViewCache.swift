import RealmState
import SyncModel
import Views

/// Views of a realm that were read and checked, by what they are made of. Bounded by what they hold: where there is no room, those go that were
/// not used for longest, but none that the last messages wanted: who has more views than there is room for has some of them read anew, and not
/// all.
struct ViewCache {
    static let maxBytes = 8 << 20
    /// The cost of reading a byte of queries or roles that nobody has read before, in steps of merging.
    static let stepsPerByte: UInt64 = 64
    /// The cost of finding the ways to objects for a byte of queries or roles.
    static let stepsToFindByte: UInt64 = 100
    /// What so many messages have used stays.
    private static let recentUses: UInt64 = 4
    struct Key: Hashable, Sendable {
        var definition: ViewDefinition
        /// The schema version of the client's copy.
        var version: UInt64?
    }

    private struct Entry {
        var view: View
        var bytes: Int
        var lastUse: UInt64
    }

    private let maxBytes: Int
    private var views: [Key: Entry] = [:]
    /// What is held, about.
    private(set) var bytes = 0
    /// The bytes of the queries and roles that were read because they were not in the cache.
    private(set) var bytesRead = 0
    private var bytesCounted = 0
    private(set) var reads = 0
    private var uses: UInt64 = 0
    /// Equal queries of several views are one.
    private var queries = ViewQueries()
    /// The state of the schema that the views are of.
    private var stamp = 0
    /// The views that were read for the message in hand.
    private var found = FoundViews()

    init(maxBytes: Int = Self.maxBytes) { self.maxBytes = maxBytes }

    /// A message is dealt with.
    ///
    /// - Parameter found: the views that were read for it, which it has whether there is room for them or not.
    mutating func begin(_ found: FoundViews) {
        uses &+= 1
        self.found = found
    }

    /// The message is through.
    mutating func end() { found = FoundViews() }

    /// Tells one state of the schema from the others: it only grows.
    static func stamp(of schema: Schema) -> Int {
        schema.tables.reduce(schema.tables.count) { $0 &+ Int($1.nextColumnID) }
    }

    /// What is to be done before views are asked for.
    ///
    /// - Parameters:
    ///   - version: the schema version of the client's copy.
    ///   - findsObjects: whether they are asked for the ways to their objects.
    func reading(
        of definitions: [ViewDefinition], schema: Schema, version: SchemaVersion?, findsObjects: Bool
    ) -> ViewReading {
        let now = Self.stamp(of: schema)
        var reading = ViewReading(findsObjects: findsObjects, schema: schema, version: version, queries: queries)
        for definition in definitions {
            let key = Key(definition: definition, version: version?.number)
            let held = now == stamp ? views[key]?.view : nil
            let known: Result<View, ViewError>? = held.map { .success($0) } ?? found[key, now]
            switch known {
            case nil: reading.definitions.append(definition)
            case .success(let view)? where findsObjects: reading.views.append(view)
            case .success?, .failure?: break
            }
        }
        return reading
    }

    /// Returns what reading views has taken since the last call, in steps of merging.
    mutating func takeCost() -> UInt64 {
        defer { bytesCounted = bytesRead }
        return UInt64(bytesRead - bytesCounted) * Self.stepsPerByte
    }

    /// - Parameter version: the schema version of the client's copy.
    mutating func view(
        _ definition: ViewDefinition, schema: Schema, version: SchemaVersion?
    ) throws(ViewError) -> View {
        let now = Self.stamp(of: schema)
        if now != stamp {
            (views, bytes, stamp) = ([:], 0, now)
        }
        let key = Key(definition: definition, version: version?.number)
        if let index = views.index(forKey: key) {
            views.values[index].lastUse = uses
            return views.values[index].view
        }
        let view: View
        if let known = found[key, now] {
            view = try known.get()
            queries.adopt(view, of: found.queries)
        } else {
            reads += 1
            bytesRead += definition.queries.utf8.count + definition.roles.utf8.count
            view = try View(definition, schema: schema, version: version, sharing: &queries)
        }
        let cost = Self.cost(of: definition, view, schema)
        guard makeRoom(for: cost) else { return view }
        views[key] = Entry(view: view, bytes: cost, lastUse: uses)
        bytes += cost
        return view
    }

    /// What a view holds, about: its text, what was made of its roles, and what its queries hold; each class that a user has a role in has that
    /// role.
    private static func cost(of definition: ViewDefinition, _ view: View, _ schema: Schema) -> Int {
        4_096 + definition.queries.utf8.count + 8 * definition.roles.utf8.count + 512 * schema.tables.count + view.bytes
    }

    private mutating func makeRoom(for cost: Int) -> Bool {
        guard bytes + cost > maxBytes else { return true }
        let old = views.filter { $0.value.lastUse &+ Self.recentUses < uses }.sorted {
            $0.value.lastUse < $1.value.lastUse
        }
        guard cost <= maxBytes, bytes - old.reduce(0, { $0 + $1.value.bytes }) + cost <= maxBytes else { return false }
        // A quarter more than asked for, so that not each one that comes has all of them sorted.
        for (key, entry) in old where bytes + cost > maxBytes / 4 * 3 {
            views[key] = nil
            bytes -= entry.bytes
        }
        return true
    }
}
