import Logging
import Operations
import RealmState
import Storage
import SyncModel
import Views

/// Lets go of properties whose before images no client needs any more, as a job (`SliceJob`): they are those that no set looks at, nor the
/// roles by which it is seen, of all that live client files have had and may still write under.
struct ImageTrimming: SlicePart {
    let work: SliceWork
    /// The number of a class's properties with images below which nobody looks for some to let go of.
    private static let few = 64
    /// What one step reads: client files, and of the sets and roles that these have had, so many bytes.
    private static let files = 4
    private static let bytes = 64 << 10
    private static let pause: UInt64 = 3_600_000

    /// A view has been taken that looks at some properties, which have images.
    func needs(_ view: View, _ addition: ImagedColumns.Addition, in context: RealmContext) {
        if context.flexible.trim != nil { context.flexible.trim?.need(view) }
        guard case .columns = addition, context.flexible.trim == nil, context.imaged.most >= Self.few else { return }
        let now = clock.uptime()
        if let last = context.flexible.trimmedAt, now < last &+ Self.pause { return }
        context.flexible.trimmedAt = now
        var trim = ImageTrim()
        trim.need(view)
        context.flexible.trim = trim
        work.memory.trims.begin(context.name)
    }

    /// Takes one step.
    ///
    /// - Returns: whether there was anything to do.
    func step() async throws -> Bool {
        guard let name = work.memory.trims.first else { return false }
        do {
            try await step(name)
        } catch {
            guard MessageHandler.isDamage(error) else { throw error }
            // All before images are kept until the next time.
            work.memory.trims.end(name)
            work.memory.realms[name]?.flexible.trim = nil
            logger.error(
                "it cannot be told which properties a damaged realm's clients look at",
                metadata: .about(name, ["error": "\(error)"]))
        }
        return true
    }

    private func step(_ name: RealmName) async throws {
        // The store has every client file then.
        try await work.flush()
        guard let context = try await work.storedRealm(name), var trim = context.flexible.trim else {
            return work.memory.trims.end(name)
        }
        let files = try await store.clientFiles(
            in: context.record.id, state: .live, after: trim.reached, limit: Self.files)
        var bytes = 0
        for file in files {
            let views = try work.clientViews(of: file, in: context)
            for segment in views.views.segments where trim.isNew(segment.view, of: views.schemaVersion) {
                if let view = try? View(
                    segment.view, schema: context.state.schema, version: context.schemaVersion(of: views), isRead: true)
                {
                    trim.need(view)
                }
                bytes += segment.view.queries.utf8.count + segment.view.roles.utf8.count
                guard bytes < Self.bytes || !trim.remembersAll else {
                    // The next step begins with this file, whose views that were looked at are not looked at again.
                    context.flexible.trim = trim
                    return
                }
            }
            trim.reached = file.ident
        }
        context.flexible.trim = trim
        guard files.count < Self.files else { return }
        context.flexible.trim = nil
        work.memory.trims.end(name)
        var columns = context.imaged
        let before = columns.count
        guard columns.keep(trim.isNeeded) else { return }
        work.change(context).setImaged(columns)
        try await work.flush()
        logger.info(
            "properties have no before images any more that no client looks at",
            metadata: .about(name, ["count": "\(before - columns.count)"]))
    }
}

/// What is known so far of the properties that a realm's clients look at.
struct ImageTrim {
    private struct Column: Hashable {
        var table: TableID
        var column: ColumnID
    }

    /// The last client file whose views were looked at.
    var reached: FileIdent = 0
    private var needed: Set<Column> = []
    private var seen: Set<Int> = []
    private static let mostSeen = 20_000

    /// Whether every view that was looked at is known as such.
    var remembersAll: Bool { seen.count < Self.mostSeen }

    mutating func need(_ view: View) {
        for subscribed in view.subscribed {
            for column in subscribed.columns {
                needed.insert(Column(table: subscribed.table.id, column: column))
            }
        }
    }

    /// Whether no view of these queries and roles, by this version of the schema, was looked at, as far as is known.
    mutating func isNew(_ definition: ViewDefinition, of schemaVersion: UInt64?) -> Bool {
        guard seen.count < Self.mostSeen else { return true }
        var hasher = Hasher()
        hasher.combine(definition.queries)
        hasher.combine(definition.roles)
        hasher.combine(schemaVersion)
        return seen.insert(hasher.finalize()).inserted
    }

    func isNeeded(_ table: TableID, _ column: ColumnID) -> Bool {
        needed.contains(Column(table: table, column: column))
    }
}
