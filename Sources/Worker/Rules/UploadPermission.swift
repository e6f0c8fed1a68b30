import Changesets
import RealmState
import Storage
import SyncModel

/// Decides what a client's changesets may do before they are merged. Pure.
struct UploadPermission {
    let rights: PartitionRights
    let app: AppRecord
    /// The realm's.
    let schema: Schema

    /// - Parameter changesets: of an upload, those that are new.
    /// - Throws: `WriteDeniedError`, `SchemaRefusedError`.
    func check(_ changesets: some Collection<Result<Changeset, ChangesetError>>) throws {
        guard rights == .readWrite || schema.hasAll(of: changesets) else { throw WriteDeniedError() }
        for case .success(let changeset) in changesets {
            if let erased = changeset.erasedSchema { throw SchemaRefusedError(app, "\(erased) may not be removed") }
        }
    }
}

/// The session's user may not write what the session has uploaded.
struct WriteDeniedError: UploadError {}

extension Schema {
    /// Whether changesets only declare what is there: every client does so when it opens a realm for the first time, whether it
    /// may write or not.
    fileprivate func hasAll(of changesets: some Collection<Result<Changeset, ChangesetError>>) -> Bool {
        var declared = RealmState(schema: self)
        for changeset in changesets {
            guard let changeset = try? changeset.get(), changeset.instructions.allSatisfy(\.addsSchema),
                (try? declared.apply(changeset)) != nil
            else { return false }
        }
        return declared.schema == self
    }
}

extension Changeset {
    /// The first class or property that it takes away, whether it is there or not: other clients may have made it meanwhile, and
    /// would lose what they have in it.
    fileprivate var erasedSchema: String? {
        for instruction in instructions {
            switch instruction {
            case .eraseTable(let table): return strings[table]?.string ?? "a class"
            case .eraseColumn(let table, let field):
                return "\(strings[table]?.string ?? "a class").\(strings[field]?.string ?? "a property")"
            default: continue
            }
        }
        return nil
    }
}

extension Instruction {
    fileprivate var addsSchema: Bool {
        switch self {
        case .addTable, .addColumn: true
        default: false
        }
    }
}
