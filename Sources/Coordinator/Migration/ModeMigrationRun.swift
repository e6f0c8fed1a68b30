import Changesets
import Logging
import RealmState
import Rules
import Storage
import SyncModel

/// Moves one app from one sync mode to the other, step by step.
///
/// Meanwhile owners refuse whatever is not the move's own, so what is read does not change. What is copied goes to its owners as
/// changesets that an operator might have published, known by ids that a second run makes again.
struct ModeMigrationRun {
    let context: CoordinatorContext
    let app: String

    static let pageBytes = 256 << 10
    /// Messages on their way to owners at once.
    static let window = 16
    /// How long an owner may take for a message.
    static let patience = Duration.seconds(120)

    /// Takes steps until the app has moved, has stayed, or this coordinator is not the active one any more.
    func goOn() async throws {
        while !Task.isCancelled, context.state.isActive, let record = try await context.store.app(app),
            let migration = record.migration, migration.isUnderWay
        {
            do {
                try await step(record, migration)
            } catch let problem as MoveProblem {
                try await abandon(migration, problem)
            }
        }
    }

    private func step(_ app: AppRecord, _ migration: ModeMigration) async throws {
        switch migration.phase {
        case .freezing:
            // Gateways hear of it by the notice, and again here should that be lost.
            await context.notices.send(app.id)
            // A slice without a store has nothing, and an owner that takes it reads the app's settings first.
            var sending = MoveSending(context: context)
            try await sending.freeze(app, in: try await slices(), id: "\(migration.id):frozen")
            try await enter(.clearing)
        case .clearing:
            for slice in try await slices() { try await clear(slice, migration) }
            try await enter(.copying)
        case .copying:
            try await copy(migration)
            try await enter(.settling)
        case .settling: try await settle(app, migration)
        case .done, .abandoned: break
        }
    }

    private func enter(_ phase: ModeMigration.Phase) async throws {
        let now = context.now
        _ = try await context.store.updateApp(app) { $0.migration?.enter(phase, at: now) }
        context.logger.notice(
            "an app moves to the other sync mode", metadata: ["app": "\(app)", "phase": "\(phase.rawValue)"])
    }

    /// The app stays as it was: nothing of its realms was changed.
    private func abandon(_ migration: ModeMigration, _ problem: MoveProblem) async throws {
        let now = context.now
        _ = try await context.store.updateApp(app) { app in
            app.migration?.problem = problem.reason
            app.migration?.enter(.abandoned, at: now)
        }
        context.logger.error(
            "an app cannot move to the other sync mode and stays as it was",
            metadata: ["app": "\(app)", "to": "\(migration.target.rawValue)", "reason": "\(problem.reason)"])
        await context.notices.send(app)
    }

    // MARK: Reading

    private func slices() async throws -> [SliceNumber] {
        let stored = Set(try await context.storesToMove().slices())
        return context.slices.all.filter { stored.contains($0) }
    }

    private func reader(_ slice: SliceNumber) async throws -> any SliceReader {
        try await context.storesToMove().reader(for: slice)
    }

    /// The app's realms of one mode in a slice, after one of them.
    private func realms(
        _ mode: SyncMode, in reader: any SliceReader, after last: Int64 = 0
    ) async throws -> [RealmRecord] {
        var found: [RealmRecord] = []
        try await reader.forEachRealm(app: app) { realm in
            if realm.name.isFlexible == (mode == .flexible), realm.id.value > last, !realm.schema.isEmpty {
                found.append(realm)
            }
        }
        return found
    }

    /// Goes through a realm's objects, some at a time; the last time there are none.
    private func forEachPage(
        of realm: RealmRecord, in reader: any SliceReader,
        _ body: ([(row: ObjectRow, body: [UInt8])]) async throws -> Void
    ) async throws {
        var last: ObjectRow?
        repeat {
            try Task.checkCancellation()
            let page = try await reader.objects(in: realm.id, after: last, maxBytes: Self.pageBytes)
            try await body(page)
            last = page.last?.row
        } while last != nil
    }

    // MARK: Clearing

    /// Erases what the realms of the new mode hold from an earlier time. Their client files stay, and reset.
    private func clear(_ slice: SliceNumber, _ migration: ModeMigration) async throws {
        let reader = try await reader(slice)
        for realm in try await realms(migration.target, in: reader) {
            let schema = try Schema(decoding: realm.schema)
            while true {
                try Task.checkCancellation()
                let page = try await reader.objects(in: realm.id, after: nil, maxBytes: Self.pageBytes)
                var changeset = Changeset()
                for (row, _) in page {
                    guard let table = schema.table(TableID(rawValue: row.table)) else { continue }
                    let name = changeset.strings.intern(table.name)
                    let key = changeset.strings.intern(row.key)
                    changeset.instructions.append(.eraseObject(table: name, object: key))
                }
                guard !changeset.instructions.isEmpty else { break }
                // Each page has a sending and an id of its own: once the page's objects are gone, its place is another
                // page's.
                var sending = MoveSending(context: context)
                let id = "\(migration.id):clear:\(realm.id):\(UInt64.random(in: 0...(1 << 60)))"
                try await sending.send([changeset.encoded()], to: realm.name, id: id)
                try await sending.drain()
            }
        }
    }

    // MARK: Copying

    private func copy(_ migration: ModeMigration) async throws {
        let type = try await check(migration)
        let source: SyncMode = migration.target == .flexible ? .partition : .flexible
        let place = migration.place
        var sending = MoveSending(context: context)
        var noted = ContinuousClock.now
        // Counted with the place, so that a run that is interrupted counts nothing twice.
        var (realms, objects) = (0, 0)
        for slice in try await slices() where place.map({ slice >= $0.slice }) ?? true {
            let reader = try await reader(slice)
            let last = place?.slice == slice ? place?.realm ?? 0 : 0
            for realm in try await self.realms(source, in: reader, after: last) {
                if source == .partition {
                    objects += try await merge(realm, in: reader, migration, type, &sending)
                } else {
                    objects += try await divide(realm, in: reader, migration, &sending)
                }
                realms += 1
                guard ContinuousClock.now - noted > .seconds(1) else { continue }
                try await sending.drain()
                try await note(realms, objects, at: .init(slice: slice, realm: realm.id.value))
                (realms, objects, noted) = (0, 0, .now)
            }
        }
        try await sending.drain()
        try await note(realms, objects, at: nil)
        try await requireAll(from: source, in: migration.target)
    }

    /// Says whether the realms of the new mode have as many objects as those of the old one. Nobody else writes to either meanwhile.
    private func requireAll(from source: SyncMode, in target: SyncMode) async throws {
        let (had, have) = (try await objects(source), try await objects(target))
        guard had == have else {
            throw MoveProblem("\(have) of \(had.counted("object")) have arrived in its \(target.rawValue) realms")
        }
    }

    /// How many objects of their own the app's realms of one mode have.
    private func objects(_ mode: SyncMode) async throws -> Int {
        var count = 0
        for slice in try await slices() {
            let reader = try await reader(slice)
            for realm in try await realms(mode, in: reader) {
                let schema = try Schema(decoding: realm.schema)
                try await forEachPage(of: realm, in: reader) { page in
                    count += page.count { schema.table(TableID(rawValue: $0.row.table))?.kind == .topLevel }
                }
            }
        }
        return count
    }

    private func note(_ realms: Int, _ objects: Int, at place: ModeMigration.Place?) async throws {
        _ = try await context.store.updateApp(app) { app in
            app.migration?.realms += realms
            app.migration?.objects += objects
            if let place { app.migration?.place = place }
        }
    }

    /// Says whether the classes of all realms go together.
    ///
    /// - Returns: the type of the property that says which partition an object is of.
    func check(_ migration: ModeMigration) async throws -> PayloadType {
        guard migration.target == .flexible else { return .string }
        var moved = MovedSchema(field: migration.field)
        for slice in try await slices() {
            for realm in try await realms(.partition, in: try await reader(slice)) {
                let key = try partition(of: realm)
                try moved.add(try Schema(decoding: realm.schema), of: key)
            }
        }
        return moved.type ?? .string
    }

    private func partition(of realm: RealmRecord) throws(MoveProblem) -> PartitionKey {
        guard let key = PartitionKey(partition: realm.name.partition) else {
            throw MoveProblem("partition \(realm.name.partition.prefix(100)) is no partition value")
        }
        return key
    }

    /// Copies a partition's realm into the flexible one.
    ///
    /// - Returns: how many objects it has.
    private func merge(
        _ realm: RealmRecord, in reader: any SliceReader, _ migration: ModeMigration, _ type: PayloadType,
        _ sending: inout MoveSending
    ) async throws -> Int {
        let key = try partition(of: realm)
        let target = RealmName(flexible: app)
        let schema = try MovedSchema.extended(
            try Schema(decoding: realm.schema), by: ByteString(migration.field), type)
        var (objects, number) = (0, 0)
        try await forEachPage(of: realm, in: reader) { page in
            var changesets = number == 0 ? [StateChangesets(schema: schema).schemaChangeset()] : []
            var builder = StateChangesets(schema: schema)
            var addresses: [ObjectAddress] = []
            for (row, body) in page {
                guard let table = schema.table(TableID(rawValue: row.table)), table.kind == .topLevel else { continue }
                var object = try StoredObject(decoding: body)
                if let column = table.columns.first(where: { $0.name.string == migration.field }) {
                    object[column.id] = key.value
                }
                let address = ObjectAddress(table.name, row.key)
                addresses.append(address)
                changesets += builder.append(address, object)
            }
            if let rest = builder.finish() { changesets.append(rest) }
            try await sending.requireFree(addresses, for: key, by: migration.field, in: target)
            number += 1
            try await sending.send(
                changesets.map { $0.encoded() }.filter { !$0.isEmpty }, to: target,
                id: "\(migration.id):\(reader.slice):\(realm.id):\(number)", taking: addresses, for: key)
            objects += addresses.count
        }
        return objects
    }

    /// Copies the flexible realm's objects into the realms of their partitions.
    ///
    /// - Returns: how many objects it has.
    private func divide(
        _ realm: RealmRecord, in reader: any SliceReader, _ migration: ModeMigration, _ sending: inout MoveSending
    ) async throws -> Int {
        let schema = try Schema(decoding: realm.schema)
        let classes = StateChangesets(schema: schema).schemaChangeset()
        var (objects, number) = (0, 0)
        try await forEachPage(of: realm, in: reader) { page in
            var parts: [PartitionKey: (builder: StateChangesets, changesets: [Changeset])] = [:]
            for (row, body) in page {
                guard let table = schema.table(TableID(rawValue: row.table)), table.kind == .topLevel else { continue }
                let object = try StoredObject(decoding: body)
                let column = table.columns.first { $0.name.string == migration.field }
                guard let key = PartitionKey(column.map { object[$0] } ?? .null) else {
                    throw MoveProblem(
                        "an object of class \(table.name.string) has a \(migration.field) that names no partition")
                }
                var part = parts.removeValue(forKey: key) ?? (StateChangesets(schema: schema), [classes])
                part.changesets += part.builder.append(ObjectAddress(table.name, row.key), object)
                parts[key] = part
                objects += 1
            }
            number += 1
            let ordered = parts.sorted { $0.key.partition < $1.key.partition }
            for (index, (key, part)) in ordered.enumerated() {
                var (builder, changesets) = part
                if let rest = builder.finish() { changesets.append(rest) }
                try await sending.send(
                    changesets.map { $0.encoded() }.filter { !$0.isEmpty },
                    to: RealmName(app: app, partition: key.partition),
                    // An owner may have several of the page's partitions, and takes each id once.
                    id: "\(migration.id):\(reader.slice):\(realm.id):\(number):\(index)")
            }
        }
        return objects
    }

    // MARK: The end

    /// Has every client realm of the old mode reset, then lets the app go on in its new mode.
    private func settle(_ app: AppRecord, _ migration: ModeMigration) async throws {
        let request = CampaignRequest(
            id: migration.id, app: app.id, reason: "moved to \(migration.target.rawValue) sync", at: context.now)
        let recorded = try await context.store.terminate(request, enable: true, slices: context.slices.value)
        if recorded.campaign.state == .publishing { _ = try await context.publisher.publish(recorded.campaign) }
        while try await context.campaign(migration.id).campaign.slicesReported < context.slices.value {
            try await Task.sleep(for: .milliseconds(200))
            guard context.state.isActive else { return }
        }
        if migration.target == .flexible { try await setRules(app, migration) }
        let now = context.now
        _ = try await context.store.updateApp(app.id) { app in
            app.syncMode = migration.target
            app.migration?.enter(.done, at: now)
        }
        context.logger.notice(
            "an app has moved to the other sync mode",
            metadata: ["app": "\(app.id)", "mode": "\(migration.target.rawValue)", "campaign": "\(migration.id)"])
        await context.notices.sendRules(of: app.id)
    }

    private func setRules(_ app: AppRecord, _ migration: ModeMigration) async throws {
        guard let now = try await context.store.app(app.id), let rules = try await context.rules.document(of: now),
            let moved = rules.movedToFlexible(field: migration.field, makesRoles: migration.makesRoles)
        else { return }
        let document = try RulesCheck(moved).accepted()
        guard document.bytes != rules.bytes else { return }
        _ = try await context.store.replaceRules(
            app: app.id, expecting: now.rulesVersion,
            with: RulesChange(document: document.bytes, author: migration.id, at: context.now))
    }
}
