import Changesets
import RealmState
import SyncModel
import Views

/// What one changeset of a client may do, object by object: judged first by what the client could know, then by its user's roles.
struct WriteTrial {
    /// What becomes of an object's instructions: they count as the merge has left them, or as they are.
    private enum Course { case merge, asIs, ingest, drop }

    /// What is made of what a changeset does to an object, before anything of it is merged.
    enum Judgement {
        /// A write to an asymmetric class, which may only make new objects (`mayBe`).
        case ingest(mayBe: Bool)
        /// The client has not seen yet that what it did to the object before does not count, or had lost the object before it was reset.
        case isGone
        /// The realm has the write already (`RepeatedWrites`).
        case repeated
        /// The client goes on with an object of which the realm has what it wrote before.
        case recovered
        /// The role does not let the user set what it sets.
        case denied
        case verdict(WriteVerdict)
    }

    let changeset: Changeset
    let clientVersion: ClientVersion
    /// The version that what the changeset does is based on.
    let base: ServerVersion
    /// The objects that the changeset names, in its order.
    let addresses: [ObjectAddress]
    private let views: UploadViews
    private let writes: [ObjectAddress: ObjectWrite]
    /// What the client had seen when it wrote.
    private let seen: ServerVersion
    /// Whether the client may have written before a reset, and goes on with that.
    private let mayBeRecovered: Bool
    /// Whether it does so in its first uploads after the reset.
    private let beginsWithRecovered: Bool
    private var courses: [ObjectAddress: Course] = [:]
    private var isResynced: Set<ObjectAddress> = []
    private(set) var refused: [RefusedWrite] = []
    /// New objects of keys that objects in the client's view have: these stay, and the client is sent them without a word.
    private(set) var givenWay: [RefusedWrite] = []
    /// The refused writes to asymmetric classes. The author has no copies of their objects: there is nothing to put right.
    private(set) var refusedIngests: [RefusedWrite] = []
    /// The objects of asymmetric classes that the role would allow, were there not another object of the key. Nobody is told: that would tell what
    /// others have sent.
    private(set) var lateIngests: [ObjectAddress] = []
    /// The objects that the client goes on with: what it does to them may not fit what others have made of them.
    private(set) var recovered: [ObjectAddress] = []
    private let asymmetric: Set<ByteString>
    /// What the user may write, and stock clients cannot apply.
    private(set) var misfits: [Misfit] = []
    /// The roles in the schema that the changeset makes.
    private var newRoles: View?
    /// Nil: the app has no rules, and so no queryable properties.
    private let places: PlaceCheck?
    /// The objects as they were when they were last there, as far as views and roles look at them.
    private var pasts: [ObjectAddress: StoredObject] = [:]

    /// - Parameters:
    ///   - asymmetric: the realm's classes that are.
    ///   - mayBeRecovered: whether the client may have written before a reset.
    ///   - beginsWithRecovered: and whether it comes with what it had then.
    /// - Throws: `BadChangesetError`.
    init(
        _ changeset: Changeset, of clientVersion: ClientVersion, base: ServerVersion, seen: ServerVersion,
        mayBeRecovered: Bool, beginsWithRecovered: Bool, views: UploadViews, asymmetric: Set<ByteString>,
        schema: Schema, places: PlaceCheck? = nil
    ) throws {
        guard let writes = changeset.writes() else {
            throw BadChangesetError(reason: "an instruction names a string that the changeset does not have")
        }
        self.changeset = changeset
        self.clientVersion = clientVersion
        self.base = base
        self.seen = seen
        self.mayBeRecovered = mayBeRecovered
        self.beginsWithRecovered = beginsWithRecovered
        self.views = views
        self.places = places
        addresses = writes.map(\.address)
        self.writes = Dictionary(uniqueKeysWithValues: writes.map { ($0.address, $0.write) })
        self.asymmetric = changeset.declaresSchema ? changeset.asymmetricClasses(in: schema) : asymmetric
    }

    /// The objects whose past decides on the write: an asymmetric class takes new objects, and has no past for clients.
    var judged: some Sequence<ObjectAddress> { addresses.lazy.filter { !asymmetric.contains($0.className) } }

    /// What the changeset does to an object.
    func write(to address: ObjectAddress) -> ObjectWrite? { writes[address] }

    /// Whether the client has not had the object, as far as its views tell.
    func isOfStranger(_ address: ObjectAddress, _ past: ObjectPast) -> Bool {
        guard let write = writes[address] else { return false }
        return switch past.verdict(on: write, basedOn: base) {
        case .giveWay, .refuse: true
        case .merge, .insert: false
        }
    }

    func standing(of address: ObjectAddress, _ putRight: PutRight) -> PutRight.Standing? {
        putRight.standing(of: address, for: seen)
    }

    /// What is made of what the changeset does to an object; nil if it does nothing.
    func judgement(
        of address: ObjectAddress, _ past: ObjectPast?, _ putRight: PutRight, _ repeated: RepeatedWrites
    ) -> Judgement? {
        guard let write = writes[address] else { return nil }
        if asymmetric.contains(address.className) { return .ingest(mayBe: write.creates && !write.erases) }
        guard let past else { return nil }
        if standing(of: address, putRight) == .refused { return .isGone }
        let there = repeated.last(of: address)
        if let there, clientVersion <= there { return .repeated }
        // Before anything is made of it: whether it fits the object would tell of what the user may not see.
        guard views.role(ofClass: address.className)?.mayWrite(write.fields) == true else { return .denied }
        if there != nil { return .recovered }
        let verdict = past.verdict(on: write, basedOn: base, mayBeRecovered: mayBeRecovered)
        // No recovery changes what the fresh copy lacks: the client had lost the object before, and does not know what it uploads.
        if verdict == .refuse, beginsWithRecovered, !write.creates { return .isGone }
        return .verdict(verdict)
    }

    /// Whether the changeset makes the object, and leaves it.
    func leavesNew(_ address: ObjectAddress) -> Bool { writes[address]?.leavesNew ?? false }

    /// Decides what is merged, what is new, and what does not count.
    ///
    /// - Parameters:
    ///   - merged: the objects whose instructions were merged.
    ///   - latest: with the history up to this version. What was made or erased later takes no part in the history before it.
    func judged(
        by pasts: [ObjectAddress: ObjectPast], _ putRight: PutRight, _ repeated: RepeatedWrites,
        merged: Set<ObjectAddress>, through latest: ServerVersion, in state: RealmState
    ) throws -> WriteTrial {
        var trial = self
        for address in addresses {
            let past = pasts[address]
            guard let judgement = judgement(of: address, past, putRight, repeated) else { continue }
            let isRenewed = standing(of: address, putRight) == .renewed
            // Nobody can say that what was too large to be kept forbids anything.
            trial.pasts[address] = past?.last(after: base).flatMap { $0.untold.isEmpty ? $0 : nil }
            switch judgement {
            case .ingest(true): trial.courses[address] = .ingest
            case .ingest(false): trial.refuseIngest(address)
            case .isGone:
                // The erasure with which the client's copy is put right takes with it whatever the client did to the object; but a newer one of the
                // client's own takes what comes after that.
                if writes[address]?.erases == true { trial.isResynced.insert(address) }
            case .repeated:
                trial.courses[address] = .drop
                if !isRenewed || writes[address]?.erases == true { trial.isResynced.insert(address) }
            case .recovered:
                trial.courses[address] = .asIs
                trial.isResynced.insert(address)
                trial.recovered.append(address)
            case .denied: trial.refuse(address, .permission)
            case .verdict(.merge(let resyncs)):
                let isOwn = past?.ownSince(base).map { $0 > latest } ?? false
                guard isOwn || merged.contains(address) else { throw Self.unplanned(address) }
                trial.courses[address] = isOwn ? .asIs : .merge
                if resyncs || isRenewed { trial.isResynced.insert(address) }
            case .verdict(.insert(let resyncs)):
                trial.courses[address] = .asIs
                if resyncs || isRenewed { trial.isResynced.insert(address) }
            case .verdict(.giveWay):
                trial.courses[address] = .drop
                trial.givenWay.append(RefusedWrite(className: address.className, key: address.key, reason: .view))
            case .verdict(.refuse):
                let role = views.role(ofClass: address.className)
                let may = state.object(address).map { role?.mayWrite($0, address.key) ?? false } ?? (role != nil)
                trial.refuse(address, may ? .view : .permission)
            }
        }
        return trial
    }

    /// What was to be merged was not: rather than merge it wrongly, the client begins anew.
    private static func unplanned(_ address: ObjectAddress) -> BadChangesetError {
        BadChangesetError(
            reason: "what was done to an object of class \(address.className.string) before has ended otherwise than it"
                + " could be foreseen", tellsOfObjects: true)
    }

    private mutating func refuse(_ address: ObjectAddress, _ reason: RefusedWrite.Reason) {
        courses[address] = .drop
        isResynced.insert(address)
        refused.append(RefusedWrite(className: address.className, key: address.key, reason: reason))
    }

    /// Drops what the client does to an object that it goes on with. Nobody is told: the object stays, and the client's copy is put right.
    mutating func leaveOut(_ address: ObjectAddress) { courses[address] = .drop }

    /// Has the client sent objects anew.
    mutating func resync(_ addresses: Set<ObjectAddress>) { isResynced.formUnion(addresses) }

    private mutating func refuseIngest(_ address: ObjectAddress) {
        courses[address] = .drop
        refusedIngests.append(RefusedWrite(className: address.className, key: address.key, reason: .permission))
    }

    /// What counts, as far as what the client could know decides.
    ///
    /// - Parameter merged: what the merge has left; nil if nothing was to be merged.
    func selection(merged: Changeset?) throws -> Changeset {
        var selection = ChangesetSelection()
        do {
            if let merged {
                try selection.append(merged) { address, _ in address.map { courses[$0] == .merge } ?? true }
            }
            if courses.values.contains(where: { $0 == .asIs || $0 == .ingest }) {
                try selection.append(changeset) { address, _ in
                    address.map { courses[$0] == .asIs || courses[$0] == .ingest } ?? false
                }
            }
        } catch {
            throw BadChangesetError(reason: "\(error)")
        }
        return selection.changeset
    }

    /// Refuses what the user's roles do not allow of what is left of the changeset, judged step by step, and what stock clients could not
    /// apply.
    ///
    /// - Parameter state: has the objects that the changeset names; the changeset is applied to it.
    /// - Returns: the objects whose instructions do not count.
    /// - Throws: `RealmStateError` if the changeset does not apply.
    mutating func admit(_ changeset: Changeset, to state: inout RealmState) throws -> Set<ObjectAddress> {
        var existing: [ObjectAddress: StoredObject] = [:]
        for address in asymmetric.isEmpty ? [] : changeset.touchedAddresses {
            if asymmetric.contains(address.className) { existing[address] = state.object(address) }
        }
        var tried = changeset
        if !existing.isEmpty {
            // An asymmetric object is compared with the one that is there as if that were not: the whole of it must have come again.
            var selection = ChangesetSelection()
            for address in existing.keys { selection.erase(address) }
            try selection.append(changeset)
            tried = selection.changeset
        }
        guard let steps = ObjectSteps(tried) else { return [] }
        let present = Set(steps.writes.map(\.address).filter { state.contains($0) })
        var reasons: [ObjectAddress: RefusedWrite.Reason] = [:]
        var ingested: [ObjectAddress: StoredObject] = [:]
        try steps.apply(to: &state) { address, step in
            if asymmetric.contains(address.className) {
                if case .make(let object, _) = step { ingested[address] = object }
                return
            }
            guard reasons[address] != .permission else { return }
            if !views.allows(step, address, last: pasts[address]) {
                reasons[address] = .permission
            } else if case .make(let object, stays: true) = step, !present.contains(address),
                !views.isInView(object, address)
            {
                reasons[address] = .view
            }
        }
        misfits = changeset.misfits(in: state.schema)
        let unfit = Set(misfits.compactMap(\.address))
        var denied: Set<ObjectAddress> = []
        for (address, write) in steps.writes {
            let fields = write.fields.union(writes[address]?.fields ?? [])
            if unfit.contains(address) {
                reasons[address] = .permission
            } else if reasons[address] == nil, isSpoiled(address, setting: fields, in: state) {
                reasons[address] = .place
            }
            if asymmetric.contains(address.className) {
                if unfit.contains(address) {
                    refuseIngest(address)
                    denied.insert(address)
                    continue
                }
                let isNew = admitIngest(write, ingested[address], at: address, existing[address], state.schema)
                if !isNew { denied.insert(address) }
            } else if let reason = reasons[address] {
                denied.insert(address)
                refuse(address, reason)
            }
        }
        return denied
    }

    /// Whether an object is left with a place that no geospatial query could read.
    private func isSpoiled(_ address: ObjectAddress, setting fields: Set<ByteString>, in after: RealmState) -> Bool {
        places?.isSpoiled(after.object(address), of: address.className, setting: fields, in: after.schema) ?? false
    }

    /// An object of an asymmetric class is made once, as the role's write side allows. Made again, with what it has, as after a client reset, or with
    /// something else, it is left as it is, without a word to its author.
    ///
    /// - Returns: whether it is to be made.
    private mutating func admitIngest(
        _ write: ObjectWrite, _ made: StoredObject?, at address: ObjectAddress, _ existing: StoredObject?,
        _ schema: Schema
    ) -> Bool {
        guard let made, let role = ingestRole(address.className, schema), role.mayWrite(write.fields),
            role.allows(.make(made, stays: true), address.key)
        else {
            refuseIngest(address)
            return false
        }
        if let existing, existing != made { lateIngests.append(address) }
        return existing == nil
    }

    /// - Parameter schema: with the class, which the changeset itself may have added.
    private mutating func ingestRole(_ className: ByteString, _ schema: Schema) -> TableRole? {
        if let known = views.role(ofClass: className) { return known }
        if newRoles == nil {
            newRoles =
                (try? View(.empty(roles: views.closedRoles), schema: schema, version: views.schemaVersion)) ?? .nothing
        }
        return newRoles?[className]?.role
    }

    /// The objects that the client's copy is put right of, in the changeset's order, but for those that have given way.
    var resynced: [ObjectAddress] { addresses.filter { isResynced.contains($0) } }
}
