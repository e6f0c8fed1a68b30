extension ReplayContext {
    /// Overwrites every list that could not be followed with what the client had at the end, once.
    mutating func copyLists(from local: RealmState, _ transaction: inout RecordingTransaction) throws {
        for path in trackers.takeLost() {
            guard case .list(let wanted)? = local.value(at: path.address),
                case .list(let present)? = transaction.state.value(at: path.address)
            else { continue }
            do {
                try Self.copy(path, wanted, present, local.schema, &transaction)
            } catch let error as RecordingError {
                throw ReplayFailure(description: error.description)
            }
            trackers.copied(path)
            statistics.listsCopied += 1
        }
    }

    private static func copy(
        _ path: ListPath, _ wanted: [Value], _ present: [Value], _ schema: Schema,
        _ transaction: inout RecordingTransaction
    ) throws {
        let element = try transaction.place(path.address).element
        let translation = ValueTranslation(source: schema, target: transaction.state.schema)
        // Never resurrect: links to objects that the server no longer has are left out.
        let wanted = wanted.map { translation.value($0, element) }
            .compactMap { withoutDeadLinks($0.mended, transaction.state) }
        let shorter = min(wanted.count, present.count)
        let prefix = zip(wanted, present).prefix { $0 == $1 }.count
        let suffix = min(
            zip(wanted.reversed(), present.reversed()).prefix { $0 == $1 }.count, shorter - prefix)
        let overwritten = shorter - prefix - suffix
        for index in prefix..<prefix + overwritten {
            try transaction.set(path.address.appending(.index(index)), to: wanted[index])
        }
        let middle = prefix + overwritten
        for index in middle..<max(middle, wanted.count - suffix) {
            try transaction.insert(wanted[index], at: path.address.appending(.index(index)))
        }
        for _ in middle..<max(middle, present.count - suffix) {
            try transaction.remove(at: path.address.appending(.index(middle)))
        }
    }

    /// Nil for a link to nothing; inside of values such links become null, or go.
    private static func withoutDeadLinks(_ value: Value, _ state: borrowing RealmState) -> Value? {
        switch value {
        case .link(let target): return state.contains(target) ? value : nil
        case .list(let items): return .list(items.compactMap { withoutDeadLinks($0, state) })
        case .set(let items): return .set(items.compactMap { withoutDeadLinks($0, state) })
        case .dictionary(let entries): return .dictionary(entries.mapValues { withoutDeadLinks($0, state) ?? .null })
        case .embedded(let object):
            var values: [ColumnID: Value] = [:]
            for entry in object.entries { values[entry.column] = withoutDeadLinks(entry.value, state) ?? .null }
            return .embedded(StoredObject(values))
        default: return value
        }
    }
}
