import Storage
import SyncModel

// Where a client file's history begins. It is decided once, and durable before anything is answered by it: what the versions
// below mean to a client, and what its uploads are merged with, hangs on it.
extension SliceOwner {
    /// The client file gets the realm, or writes to it, for the first time.
    ///
    /// - Parameter version: what it has already; 0 lets it begin with the newest base, if there is one.
    func begin(
        _ file: ClientFileRecord, at version: ServerVersion, in context: RealmContext
    ) async throws -> ClientFileRecord {
        guard file.historyStart == nil else { return file }
        let start: ServerVersion
        if version > 0 {
            start = version
        } else {
            let generation = context.record.generation
            start = try await store.newestBase(of: context.record.id, generation: generation)?.version ?? 0
        }
        context.update(file.ident) { $0.historyStart = start }
        touch(context)
        var file = file
        file.historyStart = start
        return file
    }

    /// The base that a client file is within at a version; nil if it is in the history.
    func base(
        at version: ServerVersion, of file: ClientFileRecord, in context: RealmContext
    ) async throws -> BaseRecord? {
        guard let start = file.historyStart, version < start else { return nil }
        return try await store.base(of: context.record.id, generation: context.record.generation, version: start)
    }

    /// Whether everything that comes after a version for a client file is still there.
    func isKept(after version: ServerVersion, for file: ClientFileRecord, in context: RealmContext) async throws -> Bool
    {
        if file.historyStart == nil, version == 0 { return true }
        if try await base(at: version, of: file, in: context) != nil { return true }
        return version >= context.record.historyBase
    }
}
