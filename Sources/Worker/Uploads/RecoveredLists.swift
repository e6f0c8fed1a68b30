import Changesets
import Logging
import Merge
import Operations
import RealmState
import Storage
import SyncModel
import Views

/// Takes list operations that do not fit out of what a client uploads first after a reset (docs/resets.md, "What stock clients recover").
///
/// Stock clients upload operations that their copies have lost before the reset as they were written. The lists of the fresh copy are of another
/// length: the upload would be refused, and the client would have to be reset once more.
struct RecoveredLists: SlicePart {
    let work: SliceWork
    let context: RealmContext
    let file: ClientFileRecord

    /// Others' versions beyond this number, or beyond the bytes of a page, are not looked at: the merge has a budget of its own.
    private static let mostVersions = 1_000
    /// The cost of reading a byte of others' versions, in steps of merging.
    private static let stepsPerByte: UInt64 = 5

    /// Looks at the changesets of an upload, in their order, on the objects as they are. Objects whose lists others have changed since the fresh copy was
    /// made are left to the merge.
    func leaveOutWhatDoesNotFit(
        of entries: inout ArraySlice<UploadedChangeset>,
        _ changesets: inout ArraySlice<Result<Changeset, ChangesetError>>
    ) async throws {
        var found: [Int: Changeset] = [:]
        var lists: Set<ObjectAddress> = []
        for (index, parsed) in zip(entries.indices, changesets) where file.beginsWithRecovered(entries[index]) {
            guard let changeset = try? parsed.get() else { return }
            found[index] = changeset
            lists.formUnion(changeset.addressesOfListOperations)
        }
        // A client of another schema version does not write to the objects as they are.
        guard !lists.isEmpty else { return }
        if context.name.isFlexible, try work.clientViews(of: file, in: context).schemaVersion != nil { return }
        var touching = ChangesetSelection()
        for address in lists { touching.erase(address) }
        let base = found.keys.map { entries[$0].serverVersion }.min() ?? 0
        let others = try await TouchSearch(work: work, context: context).versions(
            meeting: Touches(of: CollectionOfOne(touching.changeset)), after: base, notBy: file.ident)
        guard others.count <= Self.mostVersions else { return }
        guard let contested = try await contested(others) else { return }
        lists.subtract(contested)
        guard !lists.isEmpty else { return }
        try await work.load(found.values, into: context)
        let unfit = try unfit(among: found, lists)
        for (index, addresses) in unfit {
            guard let changeset = found[index] else { continue }
            var rest = ChangesetSelection()
            do {
                try rest.append(changeset) { address, field in
                    guard let address, let field, addresses.contains(address) else { return true }
                    return context.state.schema.table(address.className)?.column(field)?.collection != .list
                }
            } catch {
                // That a changeset is no good at all its own turn tells.
                return
            }
            entries[index].changeset = rest.bytes
            changesets[changesets.startIndex + (index - entries.startIndex)] = .success(rest.changeset)
            report(addresses, of: entries[index])
        }
    }

    /// The objects in whose lists versions have changed something, or that they have erased; nil if that is too much to be read.
    private func contested(_ versions: [ServerVersion]) async throws -> Set<ObjectAddress>? {
        var contested: Set<ObjectAddress> = []
        var bytes = 0
        var rest = versions[...]
        while let next = rest.first {
            var records = context.recent.record(next).map { [$0] } ?? []
            if records.isEmpty {
                records = try await store.history(
                    of: context.historyKey, at: rest.prefix(256).prefix { $0 <= context.recent.base },
                    maxBytes: limits.maxWindowBytes)
                guard !records.isEmpty else { throw context.lacks(next) }
            }
            for record in records {
                bytes += record.entry.changeset.count
                work.cost += UInt64(record.entry.changeset.count) * Self.stepsPerByte
                guard bytes <= limits.maxPageBytes else { return nil }
                let changeset = try WorkerError.reading("version \(record.version)") {
                    try Changeset(parsing: record.entry.changeset)
                }
                contested.formUnion(changeset.addressesOfListOperations)
                for (address, write) in changeset.writes() ?? [] where write.erases { contested.insert(address) }
            }
            rest = rest.dropFirst(records.count)
        }
        return contested
    }

    /// The objects of each changeset whose lists are not as it wants them.
    private func unfit(
        among changesets: [Int: Changeset], _ lists: Set<ObjectAddress>
    ) throws -> [(Int, Set<ObjectAddress>)] {
        try work.change(context).attempt { state in
            var unfit: [(Int, Set<ObjectAddress>)] = []
            for (index, changeset) in changesets.sorted(by: { $0.key < $1.key }) {
                work.cost += Uploads.cost(toApply: changeset)
                let touched = changeset.touchedAddresses.intersection(lists)
                let listed = changeset.addressesOfListOperations
                guard let parts = try? changeset.parts(of: Array(touched)) else { return unfit }
                _ = try? state.apply(parts.schema)
                var addresses: Set<ObjectAddress> = []
                for (address, part) in parts.objects {
                    state.begin()
                    do {
                        try state.apply(part)
                        state.commit()
                    } catch {
                        state.rollback()
                        if listed.contains(address) { addresses.insert(address) }
                    }
                }
                if !addresses.isEmpty { unfit.append((index, addresses)) }
            }
            return unfit
        }
    }

    private func report(_ addresses: Set<ObjectAddress>, of entry: UploadedChangeset) {
        logger.notice(
            "list operations left out that a client has recovered without having them",
            metadata: .about(
                context.name, clientFile: file.ident,
                [
                    "client_version": "\(entry.clientVersion)", "objects": "\(addresses.count)",
                    "classes": "\(Set(addresses.map(\.className.string)).sorted().prefix(10).joined(separator: ", "))",
                ]))
    }
}

extension Changeset {
    /// The objects in whose lists something is inserted, moved, erased or set.
    fileprivate var addressesOfListOperations: Set<ObjectAddress> {
        var addresses: Set<ObjectAddress> = []
        for instruction in instructions {
            let target = instruction.target
            guard instruction.isInList, let key = target.object, let className = strings[target.table],
                let object = strings.resolve(key)
            else { continue }
            addresses.insert(ObjectAddress(className, object))
        }
        return addresses
    }
}

extension Instruction {
    fileprivate var isInList: Bool {
        switch self {
        case .arrayInsert, .arrayMove, .arrayErase: true
        case .update(let update): update.target.path.contains { if case .index = $0 { true } else { false } }
        default: false
        }
    }
}
