import Changesets
import Messages
import RealmState
import Storage
import SyncModel

/// Brings changesets to the owners of realms, some at a time, and waits until they are in the stores.
struct MoveSending {
    private struct Sent {
        /// The mark that the slice's store keeps once the message is through.
        var mark: String
        var slice: SliceNumber
        var addresses: [ObjectAddress]
        var key: PartitionKey?
        var at = ContinuousClock.now
    }

    let context: CoordinatorContext
    /// The messages in the order in which they were sent.
    private var sent: [Sent] = []

    init(context: CoordinatorContext) { self.context = context }

    /// Sends changesets to a realm, in one message that its owner knows by its id and takes once.
    ///
    /// - Parameters:
    ///   - addresses: the objects that they make.
    ///   - key: the objects' partition, where several partitions come together in the realm.
    mutating func send(
        _ changesets: [[UInt8]], to realm: RealmName, id: String, taking addresses: [ObjectAddress] = [],
        for key: PartitionKey? = nil
    ) async throws {
        guard !changesets.isEmpty else { return }
        let slice = realm.slice(of: context.slices)
        let message = ChangesetMessage(
            realm: realm, upload: nil, entries: changesets.map { UploadedChangeset(timestamp: 0, changeset: $0) })
        try await context.link.publish(message, id: id, to: slice)
        let mark = ChangesetMessage.mark(ofEvent: id, in: realm)
        sent.append(Sent(mark: mark, slice: slice, addresses: addresses, key: key))
        while sent.count >= ModeMigrationRun.window { try await takeFirst() }
    }

    /// Tells the owners of slices that the app moves, and returns once each has it in its store, behind all that it had let in before.
    mutating func freeze(_ app: AppRecord, in slices: [SliceNumber], id: String) async throws {
        try await context.link.publishToAllSlices(RulesMessage(app: app.id, version: app.rulesVersion), id: id)
        for slice in slices { sent.append(Sent(mark: id, slice: slice, addresses: [])) }
        try await drain()
    }

    /// Returns once everything that was sent is in the stores.
    mutating func drain() async throws { while !sent.isEmpty { try await takeFirst() } }

    private mutating func takeFirst() async throws {
        guard let first = sent.first else { return }
        var wait = Duration.milliseconds(5)
        while true {
            // A slice has no store before its first message is through.
            if let reader = try? await context.storesToMove().reader(for: first.slice),
                try await reader.isSeen(messageID: first.mark)
            {
                sent.removeFirst()
                return
            }
            guard ContinuousClock.now - first.at < ModeMigrationRun.patience else {
                throw MoveProblem(
                    "the owner of slice \(first.slice) has not taken what it was sent: see its log and sluice dead-letters list"
                )
            }
            guard context.state.isActive else { throw CancellationError() }
            try await Task.sleep(for: wait)
            wait = min(wait * 2, .milliseconds(200))
        }
    }

    /// Says whether no object of another partition has one of the keys.
    ///
    /// - Parameter realm: the flexible one, in which there is one object of each class and key.
    func requireFree(
        _ addresses: [ObjectAddress], for key: PartitionKey, by field: String, in realm: RealmName
    ) async throws {
        func collision(_ address: ObjectAddress, _ other: PartitionKey) -> MoveProblem {
            MoveProblem(
                "object \(address.key) of class \(address.className.string) is in partitions \(other.partition) and "
                    + "\(key.partition): a flexible realm can have one of them")
        }
        let wanted = Set(addresses)
        for other in sent {
            guard let owner = other.key, owner != key, let taken = other.addresses.first(where: wanted.contains)
            else { continue }
            throw collision(taken, owner)
        }
        guard let reader = try? await context.storesToMove().reader(for: realm.slice(of: context.slices)),
            let record = try await reader.realm(realm), !record.schema.isEmpty
        else { return }
        let schema = try Schema(decoding: record.schema)
        var rows: [ObjectRow: ObjectAddress] = [:]
        for address in addresses {
            guard let table = schema.table(address.className) else { continue }
            rows[ObjectRow(table: table.id.rawValue, key: address.key)] = address
        }
        for (row, body) in try await reader.objects(in: record.id, at: Array(rows.keys)) {
            guard let address = rows[row], let table = schema.table(address.className) else { continue }
            let object = try StoredObject(decoding: body)
            let column = table.columns.first { $0.name.string == field }
            let owner = column.flatMap { PartitionKey(object[$0]) } ?? .null
            if owner != key { throw collision(address, owner) }
        }
    }
}
