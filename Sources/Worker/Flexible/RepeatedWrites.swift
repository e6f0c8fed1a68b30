import Changesets
import RealmState
import Storage
import SyncModel
import Views

/// The writes of an upload that the realm has already (docs/flexible.md, "What comes again after a reset").
///
/// A client that recovers after a reset writes again what was integrated and not acknowledged. Objects of its own that have left its view
/// meanwhile are not in its fresh copy, so it makes them anew, under keys that the realm has.
struct RepeatedWrites {
    private var lasts: [ObjectAddress: ClientVersion] = [:]

    /// The last client version whose writes to the object the realm has; nil if the client does not write to the object again.
    func last(of address: ObjectAddress) -> ClientVersion? { lasts[address] }

    fileprivate mutating func note(_ address: ObjectAddress, through version: ClientVersion) {
        lasts[address] = max(lasts[address] ?? 0, version)
    }
}

/// Looks for repeated writes to objects that the client has not had, as far as its views tell. What it does not find is a write to another object.
struct RepeatedWriteSearch: SlicePart {
    let work: SliceWork
    let context: RealmContext
    /// The client file that uploads.
    let file: ClientFileRecord
    let views: UploadViews
    let pasts: [ObjectAddress: ObjectPast]
    let putRight: PutRight

    /// What was integrated under the client files that the client had before its resets.
    private struct Before {
        var through: ClientVersion = 0
        /// What was refused, and perhaps not put right yet when the reset came.
        var refused: Set<ObjectAddress> = []
    }

    /// More resets in a row are not looked back on.
    private static let mostResets = 8
    /// The cost of reading a byte of what was refused, in steps of merging.
    private static let stepsPerByte: UInt64 = 5

    /// - Parameter parts: the upload's changesets, in order.
    func find(in parts: [(entry: UploadedChangeset, trial: WriteTrial)]) async throws -> RepeatedWrites {
        var repeated = RepeatedWrites()
        /// Objects that the client makes though there are such, and the changesets that do.
        var taken: [ObjectAddress: Int] = [:]
        var goneOn: [ObjectAddress] = []
        var known: Set<ObjectAddress> = []
        for (index, part) in parts.enumerated() {
            for address in part.trial.judged where known.insert(address).inserted {
                guard let past = pasts[address], part.trial.isOfStranger(address, past) else { continue }
                switch part.trial.standing(of: address, putRight) {
                case .refused: continue
                case .renewed: goneOn.append(address)
                case nil: if part.trial.write(to: address)?.creates == true { taken[address] = index }
                }
            }
        }
        guard !taken.isEmpty || !goneOn.isEmpty else { return repeated }
        let before = try await before()
        for address in goneOn {
            // An upload before this one has brought it again, and the client cannot know yet how it is.
            repeated.note(address, through: before.refused.contains(address) ? 0 : before.through)
        }
        for (address, index) in taken where !before.refused.contains(address) {
            let entry = parts[index].entry
            // A file that a user has begun anew after a manual reset counts its versions anew; what is in it was written later.
            if entry.clientVersion <= before.through, entry.timestamp < resetAt {
                repeated.note(address, through: before.through)
            }
        }
        do {
            for (address, version) in try equals(of: taken, in: parts) { repeated.note(address, through: version) }
        } catch let error as ChangesetError {
            throw BadChangesetError(reason: "\(error)")
        }
        return repeated
    }

    /// When the client asked for its present client file.
    private var resetAt: SyncTimestamp { SyncTimestamp(unixMilliseconds: Int64(clamping: file.createdAt)) }

    private func before() async throws -> Before {
        var before = Before()
        var file = file
        for _ in 0..<Self.mostResets {
            guard let ident = file.resetOf, let old = try await work.clientFile(ident, in: context) else { break }
            before.through = max(before.through, old.upload.clientVersion)
            work.cost += UInt64(old.views.count) * Self.stepsPerByte
            for compensation in try work.clientViews(of: old, in: context).compensations {
                for refused in compensation.refused {
                    before.refused.insert(ObjectAddress(refused.className, refused.key))
                }
            }
            file = old
        }
        return before
    }

    // MARK: What equals what is there

    /// The last changeset after which each of the objects, made by nobody but the client, would be as it is. Only objects of which the user
    /// may read everything are compared: whether a write is refused would tell what the others are.
    private func equals(
        of taken: [ObjectAddress: Int], in parts: [(entry: UploadedChangeset, trial: WriteTrial)]
    ) throws -> [ObjectAddress: ClientVersion] {
        let taken = taken.filter { address, _ in
            guard let role = views.role(ofClass: address.className), let object = context.state.object(address) else {
                return false
            }
            return role.hiddenColumns.isEmpty && role.isVisible(object, address.key)
        }
        guard let first = taken.values.min() else { return [:] }
        var comparisons: [ObjectAddress: Comparison] = [:]
        var erasure = ChangesetSelection()
        for address in taken.keys {
            guard let table = context.state.schema.table(address.className) else { continue }
            comparisons[address] = Comparison(with: context.state.object(address), in: table)
            erasure.erase(address)
        }
        var found: [ObjectAddress: ClientVersion] = [:]
        try work.change(context).attempt { state in
            try state.apply(erasure.changeset)
            for part in parts[first...] {
                var selection = ChangesetSelection()
                try selection.append(part.trial.changeset) { address, _ in
                    address.map { comparisons[$0] != nil } ?? true
                }
                work.cost += Uploads.cost(toApply: selection.changeset)
                // Such a client has made a mistake, of which its changeset's own turn will tell.
                guard (try? state.apply(selection.changeset)) != nil else { return }
                for (address, write) in selection.changeset.writes() ?? [] {
                    comparisons[address]?.take(write, object: state.object(address))
                    if comparisons[address]?.isEqual == true { found[address] = part.entry.clientVersion }
                }
            }
        }
        return found
    }

    /// An object that comes about step by step, beside the one that it is to become.
    private struct Comparison {
        private let wanted: StoredObject?
        private let table: TableSchema
        /// Nil before there is anything to compare, and while the object is erased.
        private var differing: Set<ColumnID>?

        init(with wanted: StoredObject?, in table: TableSchema) {
            self.wanted = wanted
            self.table = table
        }

        var isEqual: Bool { differing?.isEmpty ?? false }

        /// Only what a write touches is compared again.
        mutating func take(_ write: ObjectWrite, object: StoredObject?) {
            guard let object, let wanted else {
                differing = nil
                return
            }
            let isNew = differing == nil || write.creates || write.erases
            var differing = isNew ? [] : differing ?? []
            for column in table.columns where isNew || write.fields.contains(column.name) {
                if object[column] == wanted[column] { differing.remove(column.id) } else { differing.insert(column.id) }
            }
            self.differing = differing
        }
    }
}
