import Changesets
import Merge
import RealmState
import SyncModel
import Views

/// What one changeset of a client may do, object by object: judged first by what the client could know, then by its user's roles.
struct WriteTrial {
    enum Course { case merge, insert, ingest, drop }

    let author: FileIdent
    /// In the order in which the changeset names them.
    let addresses: [ObjectAddress]
    let touches: Touches
    /// The client's present view; nil if it has none.
    let view: View?
    private let writes: [ObjectAddress: ObjectWrite]
    private let history: ViewHistory<View>
    private let putRight: PutRight
    /// What the client had seen when it wrote.
    private let seen: ServerVersion
    private var courses: [ObjectAddress: Course] = [:]
    private var isResynced: Set<ObjectAddress> = []
    private(set) var refused: [RefusedWrite] = []
    /// New objects of keys that objects in the client's view have: these stay, and the client is sent them without a word.
    private(set) var givenWay: [RefusedWrite] = []
    /// Of asymmetric classes. The author has no copies of them: there is nothing to put right.
    private(set) var refusedIngests: [RefusedWrite] = []
    private let asymmetric: Set<ByteString>
    /// The objects that the client has made or erased itself since its base, with the version.
    private(set) var own: [ObjectAddress: ServerVersion] = [:]
    /// What the user may write, and stock clients cannot apply.
    private(set) var misfits: [Misfit] = []
    /// By the roles that the client's session has, which may be newer than its view's.
    private let roles: View?
    private let closedRoles: String
    /// Of the client's copy.
    private let schemaVersion: SchemaVersion?
    /// The same roles in the schema that the changeset makes.
    private var newRoles: View?
    /// Nil: the app has no rules, and so no queryable properties.
    private let places: PlaceCheck?
    /// As objects were when they were last there, as far as views and roles look at them.
    private var pasts: [ObjectAddress: StoredObject] = [:]

    /// - Throws: `BadChangesetError`.
    init(
        _ changeset: Changeset, by author: FileIdent, base: ServerVersion, seen: ServerVersion,
        at context: RealmContext, views: ClientViews, putRight: PutRight, places: PlaceCheck? = nil
    ) throws {
        guard let writes = changeset.writes() else {
            throw BadChangesetError(reason: "an instruction names a string that the changeset does not have")
        }
        self.author = author
        self.putRight = putRight
        self.places = places
        self.seen = seen
        addresses = writes.map(\.address)
        self.writes = Dictionary(uniqueKeysWithValues: writes.map { ($0.address, $0.write) })
        touches = Touches(of: CollectionOfOne(changeset))
        let segments = views.views.segments
        history = ViewHistory(
            segments.indices.map { index in
                let segment = segments[index]
                // What was a view when it was asked for is one still: the schema only grows.
                let view = try? context.view(segment.view, of: views)
                return .init(
                    start: segment.start, view: view ?? .nothing, since: segment.since,
                    isRenewal: index > 0
                        && (segments[index - 1].view == segment.view
                            || segments[index - 1].view.roles != segment.view.roles)
                )
            })
        view = history.latest
        roles = try? context.view(.empty(roles: views.roles), of: views)
        closedRoles = views.roles
        schemaVersion = context.schemaVersion(of: views)
        asymmetric = changeset.asymmetricClasses(in: context.state.schema)
    }

    /// The objects whose past decides on the write: an asymmetric class takes new objects, and has no past for clients.
    var judged: some Sequence<ObjectAddress> { addresses.lazy.filter { !asymmetric.contains($0.className) } }

    /// Decides what is merged, what is new, and what does not count.
    mutating func judge(with timelines: [ObjectAddress: ObjectTimeline]) {
        for address in addresses {
            if asymmetric.contains(address.className) {
                if let write = writes[address], write.creates, !write.erases {
                    courses[address] = .ingest
                } else {
                    refuseIngest(address)
                }
                continue
            }
            guard let timeline = timelines[address], let write = writes[address] else { continue }
            let standing = putRight.standing(of: address, for: seen)
            if standing == .refused {
                // The erasure with which the client's copy is put right takes with it whatever the client did to the object; but a newer one of the
                // client's own takes what comes after that.
                if write.erases { isResynced.insert(address) }
                continue
            }
            // Before anything is made of it: whether it fits the object would tell of what the user may not see.
            guard roles?[address.className]?.role?.mayWrite(write.fields) == true else {
                refuse(address, .permission)
                continue
            }
            if let version = timeline.ownSince { own[address] = version }
            pasts[address] = timeline.touches.last { $0.before != nil }?.before
            let judge = WriteJudge(
                views: history,
                isIn: { object, view in
                    guard let object, let view = view[address.className] else { return false }
                    return view.contains(object, address.key)
                },
                isShownAlike: { old, new in
                    old[address.className]?.role?.hiddenColumns ?? [] == new[address.className]?.role?.hiddenColumns
                        ?? []
                })
            switch judge.verdict(on: timeline, write) {
            case .merge(let resyncs):
                courses[address] = .merge
                if resyncs || standing == .renewed { isResynced.insert(address) }
            case .insert(let resyncs):
                courses[address] = .insert
                if resyncs || standing == .renewed { isResynced.insert(address) }
            case .giveWay:
                courses[address] = .drop
                givenWay.append(RefusedWrite(className: address.className, key: address.key, reason: .view))
            case .refuse:
                let role = roles?[address.className]?.role
                let may = timeline.now.map { role?.mayWrite($0, address.key) ?? false } ?? (role != nil)
                refuse(address, may ? .view : .permission)
            }
        }
    }

    private mutating func refuse(_ address: ObjectAddress, _ reason: RefusedWrite.Reason) {
        courses[address] = .drop
        isResynced.insert(address)
        refused.append(RefusedWrite(className: address.className, key: address.key, reason: reason))
    }

    private mutating func refuseIngest(_ address: ObjectAddress) {
        courses[address] = .drop
        refusedIngests.append(RefusedWrite(className: address.className, key: address.key, reason: .permission))
    }

    /// The instructions of the objects that take one course; those that change the schema go with what is merged.
    func selection(of changeset: Changeset, _ isWanted: (Course) -> Bool) throws -> Changeset {
        var selection = ChangesetSelection()
        do {
            try selection.append(changeset) { address, _ in
                isWanted(address.map { courses[$0] ?? .drop } ?? .merge)
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
            let role = roles?[address.className]?.role
            if role?.allows(step, address.key, last: pasts[address]) != true {
                reasons[address] = .permission
            } else if case .make(let object, stays: true) = step, !present.contains(address),
                view?[address.className]?.contains(object, address.key) != true
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

    /// An object of an asymmetric class is made once, as the role's write side allows. Made again with what it has, as after a client reset,
    /// it is left as it is; that is told only to whom the role lets make such an object.
    ///
    /// - Returns: whether it is to be made.
    private mutating func admitIngest(
        _ write: ObjectWrite, _ made: StoredObject?, at address: ObjectAddress, _ existing: StoredObject?,
        _ schema: Schema
    ) -> Bool {
        guard let made, let role = ingestRole(address.className, schema), role.mayWrite(write.fields),
            role.allows(.make(made, stays: true), address.key), existing == nil || existing == made
        else {
            refuseIngest(address)
            return false
        }
        return existing == nil
    }

    /// - Parameter schema: with the class, which the changeset itself may have added.
    private mutating func ingestRole(_ className: ByteString, _ schema: Schema) -> TableRole? {
        if let known = roles?[className]?.role { return known }
        if newRoles == nil {
            newRoles = (try? View(.empty(roles: closedRoles), schema: schema, version: schemaVersion)) ?? .nothing
        }
        return newRoles?[className]?.role
    }

    /// The objects that the client's copy is put right of, in the changeset's order, but for those that have given way.
    var resynced: [ObjectAddress] { addresses.filter { isResynced.contains($0) } }
}
