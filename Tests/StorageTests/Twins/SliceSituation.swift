import Storage
import SyncModel

/// What a slice holds before a step, so that the step can be one that makes sense.
struct SliceSituation {
    var ownership: SliceOwnership?
    var nextRealm: RealmID
    var realms: [RealmRecord]
    var files: [ClientFileRecord] = []
    var bases: [BaseRecord] = []
    var generations: [AppGenerationRecord]
    var steps: [TerminationSteps]
    /// The erasures in the order of their realms.
    var erasures: [ErasureRecord]
    var outbox: [String]

    init(_ store: any SliceStore) async throws {
        ownership = try await store.ownership()
        nextRealm = try await store.nextRealmID()
        realms = try await store.realms(after: nil, limit: .max)
        generations = try await store.appGenerations()
        steps = try await store.terminationSteps()
        erasures = try await store.erasures(since: 0, limit: .max).sorted { $0.realm < $1.realm }
        outbox = try await store.outbox(after: 0, maxBytes: .max).map(\.record.id)
        for realm in realms {
            files += try await store.clientFiles(in: realm.id, state: nil, after: 0, limit: .max)
            bases += try await store.bases(of: realm.id)
        }
    }

    func generation(of app: String) -> UInt64 { generations.first { $0.app == app }?.generation ?? 1 }
}
